#!/bin/sh
# examples/demo.sh [n] [ranks]: the nine bubbles of Gupta (2015) on n^3 cells (default 64), one table and one picture of the residual over time
set -e
. "$(dirname "$0")/../bench/common.sh"
n=${1:-64}
ranks=${2:-$(sh "$ROOT/config/processors.sh" | awk '{print $1 < 2 ? 1 : 2}')}
folder=$BUILD/demo
mkdir -p "$folder"

echo
echo "Nine light bubbles in a heavy fluid: $n^3 cells, contrast 1e3, walls all around, random right-hand side and guess, to 1e-6 on |r|/|b|, $ranks process(es)"
[ "$n" -lt 64 ] || echo "Nine solves, half a minute on two idle processors"
printf '%-16s %8s %10s %9s %9s %9s %14s\n' solver vectors iterations "set-up s" "solve s" "total s" "true residual"
: >"$folder/plot.gp"
curve() { # name, options
  printf '%-16s ' "$1"
  solve "$ranks" -problem P5 -size "$n" $2 -ksp_monitor "ascii:$WORK/monitor"
  printf '%8s %10s %9.2f %9.2f %9.2f %14s\n' "$vectors" "$its" "$setup" "$solve" "$(echo "$setup $solve" | awk '{print $1 + $2}')" "$residual"
  count=$((${count:-0} + 1))
  awk -v b="$normb" -v setup="$setup" -v step="$(echo "$solve $its" | awk '{print $1 / ($2 ? $2 : 1)}')" '
    $2 == "KSP" {print setup + $1 * step, $5 / b}' "$WORK/monitor" >"$folder/curve$count.dat"
  echo "plot '$folder/curve$count.dat' using 1:2 with lines linewidth 2 $style title '$1'" >>"$folder/plot.gp"
}
boxes="-deflation_boxes 4,4,4"
dia="-dm_mat_type aijdia"
style='dashtype 2 linecolor rgb "#888888"' # PETSc's own
curve "cg jacobi" "-ksp_type cg -pc_type jacobi"
style='dashtype 3 linecolor rgb "#555555"'
curve "cg icc" "-ksp_type cg -pc_type bjacobi -sub_pc_type icc"
style='dashtype 4 linecolor rgb "#000000"'
curve "cg gamg" "-ksp_type cg -pc_type gamg"
style=
curve "cg tns" "$dia -ksp_type cg -pc_type tns"
curve "cg pamg" "$dia -ksp_type cg -pc_type pamg"
curve "dcg tns SD" "$dia -ksp_type dcg -pc_type tns -deflation_space subdomain $boxes"
curve "dcg tns LS" "$dia -ksp_type dcg -pc_type tns -deflation_space levelset"
curve "dcg tns LSSD" "$dia -ksp_type dcg -pc_type tns -deflation_space levelset_subdomain $boxes"
curve "dcg tns auto" "$dia -ksp_type dcg -pc_type tns"

picture=$folder/convergence.png
awk -v picture="$picture" '
  BEGIN {
    print "set terminal pngcairo size 1000,700"
    print "set colorsequence podo"
    print "set output \"" picture "\""
    print "set logscale xy; set format y \"10^{%L}\"; set grid; set key bottom left"
    print "set xlabel \"seconds, with the set-up\"; set ylabel \"|r| / |b|\"; set title \"Nine bubbles, contrast 1e3\""
  }
  {sub("^plot ", NR == 1 ? "plot " : "", $0); printf "%s%s", NR == 1 ? "" : ", \\\n     ", $0}
  END {print ""}' "$folder/plot.gp" >"$folder/convergence.gp"
rm "$folder/plot.gp"
gnuplot "$folder/convergence.gp"
cat <<END

PETSc's own: cg with jacobi, icc (incomplete Cholesky) and gamg (multigrid). Polder's: the rest, on matrices of type aijdia.
tns   truncated Neumann series, a preconditioner          dcg   deflated conjugate gradients, with vectors
pamg  multigrid by pairwise aggregation                   SD    for each of 4 x 4 x 4 boxes
                                                          LS    for each region
                                                          LSSD  for each piece of a region in a box
                                                          auto  chosen by dcg
The residual over time: $picture
END
