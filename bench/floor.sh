#!/bin/sh
# bench/floor.sh [n ...]: the residual that double precision allows. 2D, 16 heavy bubbles, Neumann, smooth right-hand side; n^2 cells (default 512 and 1024),
# into docs/results/precision.md
set -e
. "$(dirname "$0")/common.sh"
[ $# -gt 0 ] || set -- 512 1024
out=$WORK/table
{
  echo "Command: \`bench/floor.sh $*\`. Machine: $(machine). 2D, 16 bubbles of radius 0.3/4, Neumann, smooth right-hand side, zero guess, the" \
    "column rtol is the tolerance on |r|/|b|, one rank. The true residual is computed from x by the program."
  echo
  echo "| cells | contrast | rtol | solver | reason | iterations | true residual | asked for | set-up s | solve s |"
  echo "|---|---|---|---|---|---:|---:|---:|---:|---:|"
} >"$out"
row() { # cells, contrast, rtol, name, bound, options
  solve 1 -dim 2 -n "$1" -bubbles 16 -contrast "$2" -ksp_rtol "$3" -ksp_max_it 20000 $6
  echo "| $1^2 | $2 | $3 | $4 | $reason | $its | $residual | $5 | $setup | $solve |" >>"$out"
  echo "$1^2, contrast $2, rtol $3, $4: $reason, $its iterations, true residual $residual (bound $5)" >&2
}
for n in "$@"; do
  case $n in 512) bound=3e-6 ;; 1024) bound=1.2e-5 ;; *) bound= ;; esac
  row "$n" 1e6 1e-6 "dcg tns" "$bound" "-ksp_type dcg -pc_type tns"
  row "$n" 1e6 1e-6 "dcg gamg" "$bound" "-ksp_type dcg -pc_type gamg"
  row "$n" 1e6 1e-6 "cg gamg" "" "-ksp_type cg -pc_type gamg"
  row "$n" 1e6 1e-6 "cg jacobi" "" "-ksp_type cg -pc_type jacobi"
  row "$n" 1e3 1e-6 "dcg tns" 1e-6 "-ksp_type dcg -pc_type tns"
  row "$n" 1e3 1e-8 "dcg tns" 1e-8 "-ksp_type dcg -pc_type tns"
  row "$n" 1e3 1e-6 "cg gamg" "" "-ksp_type cg -pc_type gamg"
done
insert floor "$out"
cat "$out"
