#!/bin/sh
# bench/classical.sh: the classical AMG of Yang, Liu and Chen (tables 6 and 7) by hypre on a matrix of type aijdia, beside pamg; one process, written into
# docs/results/classical.md
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -x "$SOLVE" ] || { echo "$SOLVE is missing: run make benches" >&2; exit 1; }
hypre="-mat_type aijdia -ksp_type richardson -pc_type hypre -pc_hypre_type boomeramg"
hypre="$hypre -pc_hypre_boomeramg_grid_sweeps_down 3 -pc_hypre_boomeramg_grid_sweeps_up 3"

# Coarsening, interpolation, smoother of the source | its iterations for ecology2 and for 3D_Poisson | our options
cases() {
  while IFS='|' read -r coarsen interpolate smoother two three relax; do
    case $coarsen in RS) strategy=Ruge-Stueben ;; *) strategy=$coarsen ;; esac
    case $interpolate in RSD) weights=direct ;; *) weights=classical ;; esac
    echo "$coarsen, $interpolate, $smoother|$two|$three|$hypre -pc_hypre_boomeramg_coarsen_type $strategy -pc_hypre_boomeramg_interp_type $weights" \
      "-pc_hypre_boomeramg_relax_type_all $relax"
  done <<'END'
CLJP|RSD|dJacobi|3|8|Jacobi -pc_hypre_boomeramg_relax_weight_all 0.67
CLJP|RSD|Chev|11|8|Chebyshev
RS|RSD|dJacobi|3|7|Jacobi -pc_hypre_boomeramg_relax_weight_all 0.67
RS|RSSTD|wJacobi|3|9|Jacobi -pc_hypre_boomeramg_relax_weight_all 0.8
RS|RSSTD|GS|1|4|sequential-Gauss-Seidel
END
  echo "\`pamg\`, \`dcg\`|-|-|-mat_type aijdia -ksp_type dcg -pc_type pamg"
}

table() { # problem, column of the source's iterations, options
  name=$1 column=$2
  shift 2
  cases | while IFS='|' read -r what two three options; do
    case $column in 2) source=$two ;; *) source=$three ;; esac
    "$SOLVE" -dll_append "$LIB" -walls whole -ksp_max_it 500 "$@" $options </dev/null >"$WORK/log" 2>&1 || { cat "$WORK/log" >&2; exit 1; }
    grep '^|' "$WORK/log" | awk -F '|' -v head="| $name | $what | $source |" '{printf "%s%s|%s| %.4g | %.4g |\n", head, $3, $4, $5, $6}' |
      tee -a "$WORK/rows" >&2
  done
}

table "7 points, 50^3" 3 -dim 3 -n 50 -pc_hypre_boomeramg_max_levels 8
# hypre factors the last level as a dense matrix, so that 8 levels would take minutes
table "5 points, 1000 x 999" 2 -dim 2 -nxy 1000,999 -pc_hypre_boomeramg_max_levels 25
{
  echo "Command: \`bench/classical.sh\`. Machine: $(machine). One process; smooth right-hand side, zero guess, 1e-6 on |r|/|b|, walls a whole cell away;" \
    "times are the best of three fresh solvers."
  echo
  echo "| problem | coarsening, interpolation, smoother | iterations, source | iterations | true residual | set-up ms | solve ms |"
  echo "|---|---|---:|---:|---:|---:|---:|"
  cat "$WORK/rows"
} >"$WORK/table"
insert classical "$WORK/table"
cat "$WORK/table"
