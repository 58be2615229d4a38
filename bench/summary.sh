#!/bin/sh
# bench/summary.sh: from the tables in docs/results, the best of Polder beside the best of PETSc and hypre for each problem, as the table and the picture of
# docs/results/README.md
set -e
ROOT=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$ROOT/build} LIB=/dev/null BUBBLES=/dev/null # nothing is run
. "$ROOT/bench/common.sh"
command -v gnuplot >/dev/null || { echo "gnuplot is missing: sh config/requirements.sh demo" >&2; exit 1; }

# best <page> <marker> <where> <unit> <columns of problem, solver, iterations, set-up, solve> [only lines that match]: a line for each problem that both solve
best() {
  sed -n "/<!-- $2:begin -->/,/<!-- $2:end -->/p" "$RESULTS/$1.md" | grep -E "${6:-.}" |
    awk -F ' *[|] *' -v page="$1" -v where="$3" -v unit="$4" -v columns="$5" '
    BEGIN {split(columns, c, ",")}
    function figure(x) {return sprintf(x < 1000 ? "%.3g" : "%.0f", x)}
    function plain(p,  part, bubbles) { # the names of bench/gpu.sh
      if (split(p, part, "_") < 2) return p
      if (part[1] ~ /bubbles/) bubbles = (part[1] ~ /2d/ ? 16 : 8) " bubbles of " (part[3] ? part[3] : "1e3")
      else bubbles = "Poisson" (part[3] ? ", walls a " part[3] " cell away" : "")
      return part[1] ~ /2d/ ? "2D " part[2] "^2, " bubbles : "3D " part[2] "^3, " bubbles
    }
    /^[|]/ && $(c[4] + 1) + 0 > 0 {
      problem = c[1] ~ /^[0-9]+$/ ? $(c[1] + 1) : c[1]
      solver = $(c[2] + 1)
      side = solver ~ /dcg|rrb|pamg|tns/ ? "ours" : "theirs"
      if (!(problem in seen)) {seen[problem] = 1; order[++count] = problem}
      if ($(c[3] + 1) ~ /DIVERGED|BREAKDOWN/ || solver ~ /rule and/) next
      total = $(c[4] + 1) + $(c[5] + 1)
      if (!((side, problem) in best) || total < best[side, problem]) {best[side, problem] = total; name[side, problem] = solver}
    }
    END {
      for (k = 1; k <= count; ++k) {
        p = order[k]
        if (!(("ours", p) in best) || !(("theirs", p) in best)) continue
        ratio = best["theirs", p] / best["ours", p]
        printf "| %s | %s | %s | %s %s | %s | %s %s | %s | [%s](%s.md) |\n", where, plain(p), name["ours", p], figure(best["ours", p]), unit,
          name["theirs", p], figure(best["theirs", p]), unit, sprintf(ratio < 20 ? "%.1f" : "%.0f", ratio), page, page
      }
    }'
}

{
  echo "| on | problem | Polder's best | time | PETSc's best | time | times faster | page |"
  echo "|---|---|---|---:|---|---:|---:|---|"
  best peers peers "one core" s 1,2,4,6,7
  best pamg pamg "one core" s 1,3,4,6,7 '1e-6'
  best navierstokes navierstokes "one core" s 'SIMPLE: 50 systems of 84 x 28 x 28,2,3,4,5' '^[|] natural'
  best pamg grids "one core" ms 1,2,3,5,6
  best gpu gpu H200 ms 1,2,3,5,6 'poisson2d_2047|poisson3d|bubbles3d|bubbles2d'
} >"$WORK/table"
insert summary "$WORK/table"
cat "$WORK/table"
awk -F ' *[|] *' '$8 + 0 > 0 {printf "\"%s, %s\" %g\n", $3, $2, $8}' "$WORK/table" >"$WORK/bars"
gnuplot <<END
set terminal pngcairo size 800,22*$(wc -l <"$WORK/bars")+80 font ",10"
set output "$RESULTS/summary.png"
set title "Times faster than the best of PETSc and hypre (logarithmic)"
set logscale x
set xrange [1:*]
set yrange [*:*] reverse
set grid x
set style fill solid 0.8
plot "$WORK/bars" using (sqrt(\$2)):0:(1):2:(\$0-0.35):(\$0+0.35):ytic(1) with boxxyerror lc rgb "#4477aa" notitle
END
echo "$RESULTS/summary.png" >&2
