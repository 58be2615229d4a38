#!/bin/sh
# bench/scale.sh: the same work, and work that grows, on 1, 2, 4, ... GPUs of a machine, a process each, or on 1 to 8 processes of a machine without a GPU;
# into docs/results/scale.md
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -e "$SOLVE" ] || { echo "$SOLVE is missing: run make benches first" >&2; exit 1; }
export OMP_NUM_THREADS=1
if gpu; then
  count=$(nvidia-smi -L | wc -l) big=256 middle=128 small=64 plane=2047
  options="-vec_type cuda -use_gpu_aware_mpi 0 -coo" marker=scale-gpu unit=GPUs peer=aijcusparse
else
  count=$(sh "$ROOT/config/processors.sh") big=96 middle=64 small=32 plane=511
  options= marker=scale-cpu unit=processes peer=aij
  [ "$count" -le 8 ] || count=8
fi
ranks=1
for more in 2 4 8; do
  [ "$more" -gt "$count" ] || ranks="$ranks $more"
done
out=$WORK/table
{
  echo "Command: \`bench/scale.sh\`. Machine: $(machine). 7 points (5 in 2-D), walls half a cell away (bubbles: Neumann), smooth right-hand side, zero" \
    "guess, 1e-6 on |r|/|b|; a row is split by planes. Iterations; set-up + solve in ms; microseconds an iteration."
  echo
  echo "| work | solver | $(echo "$ranks" | sed 's/ / | /g') $unit |"
  echo "|---|---|$(for r in $ranks; do printf -- '---|'; done)"
} >"$out"

# row <name of the work> <name of the solver> <cells in the last direction a process; 0: no more with more processes> <options>
row() {
  work=$1 name=$2 grow=$3
  shift 3
  cells=
  for r in $ranks; do
    more=
    [ "$grow" -eq 0 ] || more="-nz $((grow * r))"
    start=
    [ "$r" -eq 1 ] || start="$MPIEXEC -n $r"
    $start "$SOLVE" -dll_append "$LIB" $options -options_left no "$@" $more >"$WORK/log" 2>&1 || { cat "$WORK/log" >&2; exit 1; }
    cells="$cells | $(awk -F'|' '/^\| options/ {
      split($5, setup, " "); split($6, solve, " "); split($3, its, " "); residual = $4 + 0
      note = residual > 1.1e-6 ? " (true residual " $4 ")" : ""
      printf "%s%s; %.4g + %.4g; %.4g", its[1], note, setup[1], solve[1], 1000 * solve[1] / its[1]}' "$WORK/log")"
  done
  echo "| $work | $name$cells |" | tee -a "$out" >&2
}
dcg="-mat_type aijdia -ksp_type dcg"
jacobi="$dcg -pc_type jacobi -deflation_space none"
pamg="$dcg -pc_type pamg -deflation_space none"
petsc="-mat_type $peer -ksp_type cg -pc_type jacobi"
row "Poisson $big^3 in all" "dcg, jacobi" 0 -n $big $jacobi
row "Poisson $big^3 in all" "PETSc: cg, jacobi" 0 -n $big $petsc
row "Poisson $big^2 x $big a process" "dcg, jacobi" $big -n $big $jacobi
row "Poisson $big^2 x $big a process" "PETSc: cg, jacobi" $big -n $big $petsc
row "Poisson $middle^3 in all" "dcg, jacobi" 0 -n $middle $jacobi
row "Poisson $small^3 in all" "dcg, jacobi" 0 -n $small $jacobi
row "Poisson 127^2 in all" "dcg, jacobi" 0 -dim 2 -n 127 $jacobi
row "Poisson $big^3 in all" "dcg, pamg" 0 -n $big $pamg
row "Poisson $big^2 x $big a process" "dcg, pamg" $big -n $big $pamg
row "Poisson $big^3 in all" "dcg, pamg, K-cycle" 0 -n $big $pamg -ksp_dcg_flexible -pc_pamg_cycle k
row "8 bubbles of 1e3, $big^3 in all" "dcg, pamg" 0 -n $big -bubbles 2 $pamg
row "8 bubbles of 1e3, $big^3 in all" "dcg, tns, automatic vectors" 0 -n $big -bubbles 2 $dcg -pc_type tns
row "8 bubbles of 1e6, $big^3 in all" "dcg, tns, automatic vectors" 0 -n $big -bubbles 2 -contrast 1e6 $dcg -pc_type tns
row "Poisson $plane^2 in all" "rrbcg" 0 -dim 2 -n $plane -mat_type aijdia -ksp_type rrbcg
insert "$marker" "$out"
cat "$out"
