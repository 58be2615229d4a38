#!/bin/sh
# examples/demo.sh [n] [ranks]: the nine bubbles of Gupta (2015) on n^3 cells (default 64), one table and one picture of the convergence
set -e
. "$(dirname "$0")/../bench/common.sh"
n=${1:-64}
ranks=${2:-$(nproc | awk '{print $1 < 2 ? 1 : 2}')}
folder=$BUILD/demo
mkdir -p "$folder"

echo "Nine light bubbles in a heavy fluid, contrast 1e3, $n^3 cells, all walls Neumann, $ranks rank(s); tolerance 1e-6 on |r|/|b|"
printf '%-22s %10s %10s %10s %14s %8s\n' solver iterations "set-up s" "solve s" "true residual" vectors
: >"$folder/plot.gp"
curve() { # name, options
  solve "$ranks" -problem P5 -size "$n" $2 -ksp_monitor "ascii:$WORK/monitor"
  printf '%-22s %10s %10s %10s %14s %8s\n' "$1" "$its" "$setup" "$solve" "$residual" "$vectors"
  count=$((${count:-0} + 1))
  awk -v b="$normb" '$2 == "KSP" {print $1, $5 / b}' "$WORK/monitor" >"$folder/curve$count.dat"
  echo "plot '$folder/curve$count.dat' using 1:2 with lines linewidth 2 title '$1'" >>"$folder/plot.gp"
}
boxes="-deflation_boxes 4,4,4"
curve "cg jacobi" "-ksp_type cg -pc_type jacobi"
curve "cg tns" "-ksp_type cg -pc_type tns"
curve "cg icc" "-ksp_type cg -pc_type bjacobi -sub_pc_type icc"
curve "cg gamg" "-ksp_type cg -pc_type gamg"
curve "dcg tns SD" "-ksp_type dcg -pc_type tns -deflation_space subdomain $boxes"
curve "dcg tns LS" "-ksp_type dcg -pc_type tns -deflation_space levelset"
curve "dcg tns LSSD" "-ksp_type dcg -pc_type tns -deflation_space levelset_subdomain $boxes"
curve "dcg tns auto" "-ksp_type dcg -pc_type tns"

picture=$folder/convergence.png
awk -v picture="$picture" '
  BEGIN {
    print "set terminal png size 1000,700"
    print "set colorsequence podo"
    print "set output \"" picture "\""
    print "set logscale y; set format y \"10^{%L}\"; set grid; set key top right"
    print "set xlabel \"iterations\"; set ylabel \"|r| / |b|\"; set title \"Nine bubbles, contrast 1e3\""
  }
  {sub("^plot ", NR == 1 ? "plot " : "", $0); printf "%s%s", NR == 1 ? "" : ", \\\n     ", $0}
  END {print ""}' "$folder/plot.gp" >"$folder/convergence.gp"
rm "$folder/plot.gp"
gnuplot "$folder/convergence.gp"
echo "Convergence curves: $picture"
