#!/bin/sh
# bench/navierstokes.sh [ranks [nx,ny,nz]]: 50 steps of SIMPLE past three cylinders, with pamg and other preconditioners. Each step solves a pressure
# system with a new matrix to two digits. All preconditioners must reach the same flow. Table and picture go into docs/results/navierstokes.md
set -e
. "$(dirname "$0")/common.sh"
ranks=${1:-1}
n=${2:-84,28,28}
out=$WORK/table
start=
[ "$ranks" -eq 1 ] || start="$MPIEXEC -n $ranks"
{
  echo "Command: \`bench/navierstokes.sh $ranks $n\`. Machine: $(machine). $ranks rank(s), cells $n, \`cg\` to 1e-2 on |r|/|b|, zero guess, the" \
    "right-hand side is the mass imbalance of the predictor; set-up and solve are of all 50 systems, the better of two runs."
  echo
  echo "| numbering | preconditioner | iterations, least mean most | set-up s | solve s | total over pamg | imbalance at the end | energy |"
  echo "|---|---|---|---:|---:|---:|---:|---:|"
} >"$out"

first=
energies=
row() { # name, options
  name=$1
  shift
  rm -f "$WORK/times"
  for try in 1 2; do
    $start "$BUILD/examples/navierstokes" -dll_append "$LIB" -simple_n "$n" -simple_table -simple_numbering "$numbering" $energies "$@" >"$WORK/log" 2>&1 || {
      echo "failed: navierstokes $*" >&2
      cat "$WORK/log" >&2
      exit 1
    }
    awk '/^pressure systems/ {print $9 + $12, $5 "_" $6 "_" $7, $9, $12}' "$WORK/log" >>"$WORK/times"
  done
  read -r total its setup solve <<END
$(sort -g "$WORK/times")
END
  imbalance=$(sed -n 's/.*from .* to \(.*\), .* after the correction/\1/p' "$WORK/log")
  energy=$(sed -n 's/^energy \([^,]*\),.*/\1/p' "$WORK/log")
  [ -n "$first" ] || first=$total
  ratio=$(echo "$total $first" | awk '{printf "%.1f", $1 / $2}')
  [ -n "$energies" ] || energies=$(echo "$energy $imbalance" | awk '
    {printf "-simple_check_energy %.8g,%.8g -simple_check_continuity 0,%.3g", $1 * (1 - 1e-4), $1 * (1 + 1e-4), $2 * 1.1}')
  its=$(echo "$its" | tr _ ' ')
  echo "| $numbering | $name | $its | $setup | $solve | $ratio | $imbalance | $energy |" >>"$out"
  echo "$numbering, $name: iterations $its, set-up $setup s, solve $solve s, $ratio of pamg, imbalance $imbalance, energy $energy" >&2
}

for numbering in natural random; do
  first=
  row pamg -mat_type aijdia -pc_type pamg -simple_picture "$RESULTS/navierstokes.png"
  row "pamg, no refresh" -mat_type aijdia -pc_type pamg -pc_pamg_reuse no
  row gamg -pc_type gamg
  row "gamg, no refresh" -pc_type gamg -pc_gamg_reuse_interpolation no
  ! grep -q "^#: HAVE_HYPRE$" "$BUILD/petsc.mk" || row hypre -pc_type hypre -pc_hypre_boomeramg_relax_type_coarse l1scaled-Jacobi \
    -pc_hypre_boomeramg_strong_threshold 0.5
  row icc -pc_type bjacobi -sub_pc_type icc
  row jacobi -mat_type aijdia -pc_type jacobi
done
insert navierstokes "$out"
cat "$out"
