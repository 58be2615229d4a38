#!/bin/sh
# bench/scalepicture.sh: the tables of bench/scale.sh in docs/results/scale.md as pictures, scale-gpu.png and scale-cpu.png: how many times faster a solve is on
# more GPUs or processes than on one; for work that grows with them, the time of an iteration on one over that on more
set -e
. "$(dirname "$0")/common.sh"
command -v gnuplot >/dev/null || { echo "gnuplot is missing: sh config/requirements.sh demo" >&2; exit 1; }
for table in scale-gpu scale-cpu; do
  sed -n "/<!-- $table:begin -->/,/<!-- $table:end -->/p" "$RESULTS/scale.md" >"$WORK/table"
  counts=$(awk -F ' *[|] *' '/^[|] work/ {for (k = 5; k < NF; ++k) printf "%d ", $k}' "$WORK/table")
  [ -n "$counts" ] || continue
  awk -F ' *[|] *' '/^[|] [^w-]/ {
    weak = $2 ~ /a process/
    printf "\"%s, %s%s\"", $3, $2, weak ? " (an iteration)" : ""
    for (k = 4; k < NF; ++k) {
      split($k, part, "; "); split(part[2], time, " [+] ")
      figure = weak ? part[3] : time[2]
      if (k == 4) one = figure
      else printf " %g", one / figure
    }
    print ""}' "$WORK/table" >"$WORK/bars"
  n=$(echo "$counts" | wc -w)
  gnuplot <<END
set terminal pngcairo size 1000,26*$(wc -l <"$WORK/bars")+140 font ",10"
set output "$RESULTS/$table.png"
set title "Times faster than on one"
set yrange [*:*] reverse
set xrange [0:*]
set grid x
set style fill solid 0.8
set key outside bottom center horizontal
plot for [c=1:$n] "$WORK/bars" using (column(c+1)/2):0:(0):(column(c+1)):(\$0-0.4+0.8*(c-1)/$n):(\$0-0.4+0.8*c/$n):ytic(1) with boxxyerror lc c \
  title sprintf("on %s", word("$counts", c))
END
  echo "$RESULTS/$table.png"
done
