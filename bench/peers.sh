#!/bin/sh
# bench/peers.sh [ranks]: dcg with tns and with pamg beside PETSc's own solvers and hypre on bubbles of high or low coefficient; written into
# docs/results/peers.md
set -e
. "$(dirname "$0")/common.sh"
ranks=${1:-1}
out=$WORK/table
{
  echo "Command: \`bench/peers.sh $ranks\`. Machine: $(machine). $ranks rank(s), smooth right-hand side, zero guess, Neumann walls, 1e-6 on" \
    "|r|/|b|, each solver at its best matrix type, the best of three where one takes less than two seconds."
  echo
  echo "| problem | solver | vectors | iterations | true residual | set-up s | solve s | total over dcg + tns |"
  echo "|---|---|---:|---:|---:|---:|---:|---:|"
} >"$out"

row() { # name, solver, options
  name=$1 solver=$2
  shift 2
  solve_best "$ranks" "$@" -ksp_norm_type unpreconditioned -ksp_max_it 20000
  total=$(echo "$setup $solve" | awk '{print $1 + $2}')
  case $solver in "dcg + tns, auto") first=$total ;; esac
  ratio=$(echo "$total $first" | awk '{printf "%.1f", $1 / $2}')
  case $reason in CONVERGED_RTOL) ;; *) its="$its ($reason)" ;; esac
  echo "| $name | $solver | $vectors | $its | $residual | $setup | $solve | $ratio |" >>"$out"
  echo "$name, $solver: $its iterations, true residual $residual, set-up $setup s, solve $solve s, $ratio of dcg + tns" >&2
}

# hypre as it does best on jumps in 3D, and relaxed on the coarsest grid, which must not be eliminated when the system is singular
hypre="-ksp_type cg -pc_type hypre -pc_hypre_boomeramg_relax_type_coarse l1scaled-Jacobi"
pamg="-ksp_type dcg -deflation_space none -pc_type pamg -dm_mat_type aijdia"
problem() { # name, options
  name=$1
  shift
  row "$name" "dcg + tns, auto" "$@" -ksp_type dcg -pc_type tns -dm_mat_type aijdia
  row "$name" "dcg + pamg" "$@" $pamg
  row "$name" "dcg + pamg, double" "$@" $pamg -pc_pamg_precision double
  case $name in 3D*) row "$name" "cg + PFMG of hypre" "$@" -ksp_type cg -pc_type pfmg -dm_mat_type hyprestruct ;; esac # PETSc's interface has no 2-D grids
  row "$name" "cg + hypre" "$@" $hypre
  row "$name" "cg + hypre, threshold 0.5" "$@" $hypre -pc_hypre_boomeramg_strong_threshold 0.5 -pc_hypre_boomeramg_P_max 4 -pc_hypre_boomeramg_interp_type ext+i
  row "$name" "cg + gamg" "$@" -ksp_type cg -pc_type gamg
  case $name in 2D*) ;; *) # in 2D these take thousands of iterations
    row "$name" "cg + icc" "$@" -ksp_type cg -pc_type bjacobi -sub_pc_type icc
    row "$name" "cg + jacobi" "$@" -ksp_type cg -pc_type jacobi ;;
  esac
}
smooth="-bc neumann -rhs smooth -guess zero"
problem "3D 128^3, 8 bubbles of 1e3" -dim 3 -n 128 -bubbles 8 -radius 0.15 -contrast 1e3 $smooth
problem "3D 128^3, 8 bubbles of 1e6" -dim 3 -n 128 -bubbles 8 -radius 0.15 -contrast 1e6 $smooth
problem "3D 128^3, 8 bubbles of 1e-3" -dim 3 -n 128 -bubbles 8 -radius 0.15 -contrast 1e-3 $smooth
problem "2D 1024^2, 16 bubbles of 1e3" -dim 2 -n 1024 -bubbles 16 -contrast 1e3 $smooth
insert peers "$out"
cat "$out"
