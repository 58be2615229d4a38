#!/bin/sh
# bench/nras.sh [n [ranks]]: ILU(k) in the blocks of nras beside PETSc's ilu, 3-D Poisson and convection-diffusion on n^3 cells (150), on a GPU if there is one; written into docs/results/nras.md
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -x "$SOLVE" ] || { echo "$SOLVE is missing: run make benches" >&2; exit 1; }
n=${1:-150} ranks=${2:-1}
start=
[ "$ranks" -eq 1 ] || start="$MPIEXEC -n $ranks"
: >"$WORK/rows"

where="CPU" mat=aij device=
gpu && where="GPU" mat=aijcusparse device="-vec_type cuda -use_gpu_aware_mpi 0"

problem() { # name, options of the problem; solvers on standard input
  name=$1
  shift
  cat >"$WORK/solvers"
  echo "$name: $*" >&2
  if ! $start "$SOLVE" -dll_append "$LIB" $device -dim 3 -n "$n" -walls whole -ksp_max_it 2000 "$@" -solvers "$WORK/solvers" >"$WORK/log" 2>&1; then
    cat "$WORK/log" >&2
    exit 1
  fi
  # without the columns of bytes and of rebuilds
  grep '^|' "$WORK/log" | awk -F '|' -v name="$name" 'BEGIN {OFS = "|"} {print "", " " name " ", $2, $3, $4, $5, $6, $7, $8, ""}' | tee -a "$WORK/rows" >&2
}

petsc() { # Krylov method, levels
  for k in $2; do
    if [ $ranks -eq 1 ]; then echo "$1 + ilu($k), $mat | -ksp_type $1 -pc_type ilu -pc_factor_levels $k -mat_type $mat"
    else echo "$1 + bjacobi, ilu($k), $mat | -ksp_type $1 -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels $k -mat_type $mat"; fi
  done
}

nras() { # Krylov method, levels, blocks, more options
  for k in $2; do
    echo "$1 + nras, ILU($k), $3 blocks$4 | -ksp_type $1 -pc_type nras -pc_nras_levels $k -pc_nras_blocks $3 -mat_type aijdia $4"
  done
}

for krylov in bcgs gmres; do
  for tolerance in 1e-6 1e-8; do
    {
      petsc $krylov "0 1 2 3"
      for blocks in 8 128 1024; do nras $krylov "0 1 2 3" $blocks; done
    } | problem "Poisson, $tolerance" -ksp_rtol $tolerance
  done
done
{
  for partition in metis rows boxes; do nras bcgs 0 1024 " -pc_nras_partition $partition"; done
  nras bcgs 0 1024 " -pc_nras_partition boxes -pc_nras_inner_overlap 1"
  nras bcgs "0 1" 1024 " -pc_nras_partition boxes -pc_nras_precision single"
  echo "cg + nras, ILU(0), 1024 blocks, symmetric | -ksp_type cg -pc_type nras -pc_nras_blocks 1024 -pc_nras_form symmetric -mat_type aijdia"
} | problem "Poisson, cuts and forms, 1e-6"
{
  nras bcgs 0 1024 " -pc_nras_partition boxes"
  nras bcgs 0 1024 " -pc_nras_partition boxes -pc_nras_precision single"
} | problem "Poisson, values set anew, 1e-6" -coo
for peclet in 1 10 100 1000; do
  for krylov in bcgs gmres "idrs -ksp_idrs_s 8"; do
    {
      petsc "$krylov" 0
      for blocks in 8 128 1024; do nras "$krylov" 0 $blocks; done
    } | problem "Peclet $peclet, 1e-6" -peclet $peclet
  done
done

out=$WORK/table
{
  echo "Command: \`bench/nras.sh $n $ranks\`. Machine: $(machine). $where, $ranks rank(s), $n^3 cells, the tolerance of the first column on |r|/|b|, zero guess," \
    "warm-up excluded; times are the best and, in brackets, the median of fresh solvers."
  echo
  echo "| problem | solver | iterations | true residual | set-up ms | solve ms | total ms | us an iteration |"
  echo "|---|---|---:|---:|---:|---:|---:|---:|"
  cat "$WORK/rows"
} >"$out"
insert "nras-$(echo $where | tr 'A-Z' 'a-z')" "$out"
cat "$out"
