#!/bin/sh
# bench/pamg.sh [ranks]: pamg beside other preconditioners, at the tolerance of a whole solve and at that of a step of SIMPLE; written into docs/results/pamg.md
set -e
. "$(dirname "$0")/common.sh"
ranks=${1:-1}
out=$WORK/table
{
  echo "Command: \`bench/pamg.sh $ranks\`. Machine: $(machine). $ranks rank(s), zero guess, the tolerance of the second column on |r|/|b|, each" \
    "solver at its best matrix type, the best of three where one takes less than two seconds. Right-hand side: random for Poisson (Dirichlet)," \
    "smooth for the bubbles (Neumann)."
  echo
  echo "| problem | tolerance | solver | iterations | true residual | set-up s | solve s | total over cg + pamg |"
  echo "|---|---|---|---:|---:|---:|---:|---:|"
} >"$out"

row() { # solver, options
  solver=$1
  shift
  solve_best "$ranks" "$@" -ksp_norm_type unpreconditioned -ksp_max_it 20000 -ksp_rtol "$tolerance"
  total=$(echo "$setup $solve" | awk '{print $1 + $2}')
  case $solver in "cg + pamg") first=$total ;; esac
  ratio=$(echo "$total $first" | awk '{printf "%.1f", $1 / $2}')
  case $reason in CONVERGED_RTOL) ;; *) its="$its ($reason)" ;; esac
  echo "| $name | $tolerance | $solver | $its | $residual | $setup | $solve | $ratio |" >>"$out"
  echo "$name, $tolerance, $solver: $its iterations, true residual $residual, set-up $setup s, solve $solve s, $ratio of cg + pamg" >&2
}

problem() { # name, options
  name=$1
  shift
  for tolerance in 1e-6 1e-3; do
    row "cg + pamg" "$@" -ksp_type cg -pc_type pamg -dm_mat_type aijdia
    row "cg + pamg, single" "$@" -ksp_type cg -pc_type pamg -pc_pamg_precision single -dm_mat_type aijdia
    row "cg + pamg, double" "$@" -ksp_type cg -pc_type pamg -pc_pamg_precision double -dm_mat_type aijdia
    row "cg + pamg, 3 passes" "$@" -ksp_type cg -pc_type pamg -pc_pamg_passes 3 -dm_mat_type aijdia
    row "fcg + pamg, K-cycle" "$@" -ksp_type fcg -pc_type pamg -pc_pamg_cycle k -dm_mat_type aijdia
    row "cg + hypre" "$@" -ksp_type cg -pc_type hypre -pc_hypre_boomeramg_relax_type_coarse l1scaled-Jacobi -pc_hypre_boomeramg_strong_threshold "$strong"
    case $name in 3D*) row "cg + PFMG of hypre" "$@" -ksp_type cg -pc_type pfmg -dm_mat_type hyprestruct ;; esac # PETSc's interface has no 2-D grids
    row "cg + gamg" "$@" -ksp_type cg -pc_type gamg
    row "cg + icc" "$@" -ksp_type cg -pc_type bjacobi -sub_pc_type icc
    row "cg + tns" "$@" -ksp_type cg -pc_type tns -dm_mat_type aijdia
    row "cg + jacobi" "$@" -ksp_type cg -pc_type jacobi -dm_mat_type aijdia
  done
}
strong=0.5
problem "3D 96^3, Poisson" -dim 3 -n 96 -contrast 1 -bubbles 0 -bc dirichlet -rhs random -guess zero
problem "3D 96^3, 8 bubbles of 1e3" -dim 3 -n 96 -bubbles 8 -radius 0.15 -contrast 1e3 -bc neumann -rhs smooth -guess zero
strong=0.25
problem "2D 511^2, Poisson" -dim 2 -n 511 -contrast 1 -bubbles 0 -bc dirichlet -rhs random -guess zero
insert "pamg$([ "$ranks" -eq 1 ] || echo "-$ranks")" "$out"
cat "$out"
