#!/bin/sh
# bench/rrb.sh [n]: rrbcg compared with PETSc's own solvers and hypre on Poisson's equation, n^2 nodes (default 1023), one process, and its iterations compared
# with those of the literature up to 2048^2; written into docs/results/rrbcg.md when n is 1023. After make hypre with
# hypre's PFMG and BoomerAMG on its own structures
set -e
. "$(dirname "$0")/common.sh"
n=${1:-1023}
out=$WORK/table
for need in "$BUILD/bench/solve" "$BUILD/tests/types/rrbcg"; do
  [ -x "$need" ] || { echo "$need is missing: run make bench-rrb" >&2; exit 1; }
done
hypre=
! grep -q '^#: HAVE_HYPRE$' "$BUILD/petsc.mk" || hypre="cg + hypre | -ksp_type cg -pc_type hypre"
cat >"$WORK/solvers" <<END
rrbcg | -ksp_type rrbcg -pc_type rrb
rrbcg, factor in single precision | -ksp_type rrbcg -pc_type rrb -pc_rrb_precision single
cg + rrb | -ksp_type cg -pc_type rrb
dcg + rrb, aijdia | -ksp_type dcg -deflation_space none -pc_type rrb -mat_type aijdia
cg + gamg | -ksp_type cg -pc_type gamg
$hypre
END
{
  "$BUILD/bench/solve" -dll_append "$LIB" -dim 2 -n "$n" -solvers "$WORK/solvers"
  hypre_rows "pfmg boomeramg" "" -dim 2 -n "$n"
} | tee "$WORK/log" >&2
{
  echo "Command: \`bench/rrb.sh $n\`. Machine: $(machine). Poisson $n^2, one process, smooth right-hand side, zero guess, 1e-6 on |r|/|b|; best of" \
    "three and, in brackets, the median."
  echo
  echo "| solver | iterations | true residual | set-up ms | solve ms | both ms | over rrbcg |"
  echo "|---|---:|---:|---:|---:|---:|---:|"
  awk -F ' *[|] *' '/^[|]/ {if (!best) best = $7; printf "| %s | %s | %s | %s | %s | %.0f | %.1f |\n", $2, $3, $4, $5, $6, $7, $7 / best}' "$WORK/log"
  echo
  echo "Iterations (\`build/tests/types/rrbcg -iterations -most 2048\`) of the paper's problem with its rule, <r, z> <= 1e-12 <r0, z0> and 12 half" \
    "levels, and of the thesis with its own,"
  echo "<r, z> <= 1e-10 (<r0, z0> + 1) down to one node; beside them what the paper, and an independent program, have."
  echo
  echo '```'
  "$BUILD/tests/types/rrbcg" -dll_append "$LIB" -iterations -most 2048 | grep Poisson
  echo '```'
} >"$out"
if [ "$n" = 1023 ]; then insert rrb "$out"; fi
cat "$out"
