#!/bin/sh
# bench/iteration.sh [n]: where one iteration of dcg spends its time and what fraction of the memory bandwidth each part reaches; nine bubbles,
# n^3 cells (default 128), one rank, 4^3 boxes and auto; written into docs/results/iteration.md
set -e
. "$(dirname "$0")/common.sh"
n=${1:-128}
out=$WORK/table
[ -x "$BUILD/bench/product" ] || { echo "$BUILD/bench/product is missing: run make bench first" >&2; exit 1; }
triad=$("$BUILD/bench/product" -dll_append "$LIB" -n 160 -repeats 3 | sed -n 's/^triad: \([0-9.]*\) GB.*/\1/p')
{
  echo "Command: \`bench/iteration.sh $n\`. Machine: $(machine), one rank, $n^3 cells, random right-hand side and guess with |r0|/|b| = 100, 1e-6" \
    "on |r|/|b|, \`-mat_type aijdia\` (half stored, rows in classes), triad in the same run $triad GB/s."
  echo
  echo "| space | part | ms an iteration | bytes a row at least | GB/s of these | of triad |"
  echo "|---|---|---:|---:|---:|---:|"
} >"$out"

part() { # space, name, bytes a row, events of -log_view whose times add up, or with - before them are part of another
  space=$1 name=$2 bytes=$3
  shift 3
  for event in "$@"; do
    case $event in -*) sign=-1 ;; *) sign=1 ;; esac
    awk -v e="${event#-}" -v sign="$sign" '$1 == e {print sign * $4}' "$WORK/log"
  done | awk -v its="$its" -v rows="$((n * n * n))" -v bytes="$bytes" \
    -v triad="$triad" -v space="$space" -v name="$name" '{t += $1} END {
      ms = 1e3 * t / its
      printf "| %s | %s | %.1f | %.0f | %.1f | %.2f |\n", space, name, ms, bytes, bytes * rows / (ms * 1e6), bytes * rows / (ms * 1e6) / triad
    }' | tee -a "$out" >&2
}

for space in "LSSD 4^3" auto; do
  case $space in auto) options= ;; *) options="-deflation_space levelset_subdomain -deflation_boxes 4,4,4" ;; esac
  solve 1 -problem P5 -size "$n" -dm_mat_type aijdia -ksp_type dcg -pc_type tns $options -log_view
  part "$space, $vectors vectors" "whole iteration" 161 KSPSolve
  part "$space" "product A p, with (p, A p) and Z^T A p" 17 MatMult -PolderMatConv
  part "$space" "tns, degree 2, with r, (r, z), the norm, p and x" 136 PolderTNSApply
  part "$space" "deflation P w" 8 PolderDeflApply
  part "$space" "x, r and the norm of every eighth step" 6 PolderCGUpdate
  awk -v e1=PolderLabels -v e2=PolderDeflSetUp '$1 == e1 || $1 == e2 {t += $4} $1 == "KSPSolve" {s = $4} END {print t, s}' "$WORK/log" | {
    read -r setup all
    echo "$setup $all $its" | awk -v space="$space" '
      {printf "| %s | set-up of the deflation, in iterations | %.1f | | | |\n", space, $1 / ($2 / $3)}' | tee -a "$out" >&2
  }
done
insert iteration "$out"
cat "$out"
