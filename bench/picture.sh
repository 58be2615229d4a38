#!/bin/sh
# bench/picture.sh: the table of bench/gpu.sh in docs/results/gpu.md as a picture, docs/results/gpu.png: set-up and solve of the bubbles, every solver
set -e
. "$(dirname "$0")/common.sh"
command -v gnuplot >/dev/null || { echo "gnuplot is missing: sh config/requirements.sh demo" >&2; exit 1; }
sed -n '/<!-- gpu:begin -->/,/<!-- gpu:end -->/p' "$RESULTS/gpu.md" | awk -F'|' '$2 ~ /bubbles3d_128|poisson3d/ && $2 !~ /problem/ {
  name = $2 "," $3; gsub(/^ +| +$/, "", name); gsub(/ +,/, ",", name); gsub(/_/, " ", name); gsub(/\(.*\)/, "", $6); gsub(/\(.*\)/, "", $7)
  printf "\"%s\" %g %g\n", name, $6, $7}' >"$WORK/bars"
[ -s "$WORK/bars" ] || { echo "docs/results/gpu.md has no table of bench/gpu.sh yet" >&2; exit 1; }
gnuplot <<END
set terminal pngcairo size 1000,26*$(wc -l <"$WORK/bars")+120 font ",10"
set output "$RESULTS/gpu.png"
set title "Set-up and solve on one GPU, 1e-6, ms (logarithmic)"
set logscale x
set xrange [1:*]
set yrange [*:*] reverse
set grid x
set style fill solid 0.8
set key bottom right
plot "$WORK/bars" using (\$2+\$3)/2:0:(1):(\$2+\$3):(\$0-0.35):(\$0+0.35):ytic(1) with boxxyerror lc rgb "#4477aa" title "solve", \
     "" using (\$2)/2:0:(1):(\$2 > 1 ? \$2 : 1):(\$0-0.35):(\$0+0.35) with boxxyerror lc rgb "#cc6677" title "set-up"
END
echo "$RESULTS/gpu.png"
