#!/bin/sh
# [REPEATS=3] bench/convection.sh [n in 2-D] [n in 3-D]: pamg on convection with diffusion beside ILU(0), nras, BoomerAMG and gamg; written into
# docs/results/pamg.md, on a GPU into the part for GPUs, where this PETSc has no BoomerAMG
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -e "$SOLVE" ] || { echo "$SOLVE is missing: run make benches first" >&2; exit 1; }
plane=${1:-512} cube=${2:-64} repeats=${REPEATS:-3} out=$WORK/table device= vectors= aij=aij
if gpu; then device=-gpu vectors="-vec_type cuda -use_gpu_aware_mpi 0 -coo" aij=aijcusparse; fi
{
  echo "Command: \`bench/convection.sh $plane $cube\`; a row is \`bench/solve -dll_append LIBRARY\` with the options of the problem and of the solver." \
    "Machine: $(machine). 1 rank, random right-hand side, zero guess, 1e-6 on |r|/|b|, preconditioned from the right, at most 200 iterations, default" \
    "options; the best of $repeats."
  echo
  echo "| problem | solver | iterations | true residual | set-up ms | solve ms | total ms |"
  echo "|---|---|---:|---:|---:|---:|---:|"
} >"$out"
{
  echo "bcgs + pamg | -ksp_type bcgs -ksp_pc_side right -pc_type pamg -mat_type aijicrs"
  echo "gmres + pamg | -ksp_type gmres -ksp_pc_side right -pc_type pamg -mat_type aijicrs"
  echo "idrs + pamg | -ksp_type idrs -pc_type pamg -mat_type aijicrs"
  echo "bcgs + ilu | -ksp_type bcgs -ksp_pc_side right -pc_type ilu -mat_type $aij"
  echo "idrs, s = 8 + nras | -ksp_type idrs -ksp_idrs_s 8 -pc_type nras -mat_type aijicrs"
  [ -n "$device" ] || echo "gmres + BoomerAMG | -ksp_type gmres -ksp_pc_side right -pc_type hypre -mat_type aij"
  echo "gmres + gamg | -ksp_type gmres -ksp_pc_side right -pc_type gamg -mat_type $aij"
} >"$WORK/solvers"

problem() { # name, options
  name=$1
  shift
  # shellcheck disable=SC2086
  "$SOLVE" -dll_append "$LIB" "$@" $vectors -rhs random -repeats "$repeats" -ksp_max_it 200 -ksp_divtol 1e10 -solvers "$WORK/solvers" >"$WORK/log" 2>&1 || {
    cat "$WORK/log" >&2
    exit 1
  }
  awk -F ' *[|] *' -v name="$name" 'NF > 5 && /^\|/ {split($5, u, " "); split($6, v, " ")
    printf "| %s | %s | %s | %s | %.1f | %.1f | %.1f |\n", name, $2, $3, $4, u[1], v[1], u[1] + v[1]}' "$WORK/log" | tee -a "$out" >&2
}

for peclet in 10 1000 100000; do problem "$plane^2, circles, Peclet $peclet" -dim 2 -n "$plane" -peclet $peclet -circles -upwind; done
problem "$plane^2, along the diagonal, Peclet 1000" -dim 2 -n "$plane" -peclet 1000 -upwind
problem "$plane^2, circles, Peclet 100, central differences" -dim 2 -n "$plane" -peclet 100 -circles
problem "$plane^2, cells at the walls a thousandth, circles, Peclet 100" -dim 2 -n "$plane" -peclet 100 -circles -upwind -stretch 1000,1000
for peclet in 10 1000; do problem "$cube^3, circles, Peclet $peclet" -n "$cube" -peclet $peclet -circles -upwind; done
problem "$cube^3, along the diagonal, Peclet 30, central differences" -n "$cube" -peclet 30
problem "$cube^3, bubbles of 1e3, rows over the coefficients" -n "$cube" -bubbles 2 -contrast 1e3 -shift 1e-6 -divided
problem "$cube^3, log-normal (sigma 3), rows over the coefficients" -n "$cube" -lognormal 3 -divided
for peclet in 1 100 1000; do problem "50,000 points, Peclet $peclet" -points 50000 -shift 1e-3 -peclet $peclet -upwind; done
insert "convection$device" "$out"
cat "$out"
