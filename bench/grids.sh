#!/bin/sh
# bench/grids.sh: rrbcg and pamg beside hypre's PFMG, which is told the grid, and its BoomerAMG, both on hypre's own structures and with the best of eight sets
# of options; one core; written into docs/results/pamg.md. It needs make hypre
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
for need in "$SOLVE" "$BUILD/bench/hypre/hypre"; do
  [ -e "$need" ] || { echo "$need is missing: run make benches hypre first" >&2; exit 1; }
done
out=$WORK/table
{
  echo "Command: \`bench/grids.sh\`. Machine: $(machine). One core, smooth right-hand side, zero guess, 1e-6 on |r|/|b|; the best of three. The last" \
    "column is the total over that of the first row of the problem."
  echo
  echo "| problem | solver | iterations | true residual | set-up ms | solve ms | total ms | over the first |"
  echo "|---|---|---:|---:|---:|---:|---:|---:|"
} >"$out"
problem() { # name, options; solvers on standard input
  name=$1
  shift
  cat >"$WORK/solvers"
  {
    "$SOLVE" -dll_append "$LIB" "$@" -solvers "$WORK/solvers"
    hypre_rows "pfmg boomeramg" "" "$@"
  } >"$WORK/log"
  awk -F ' *[|] *' -v name="$name" '/^[|]/ {
    split($5, setup, " "); split($6, solve, " "); total = setup[1] + solve[1]; if (!first) first = total
    if (total == 0) printf "| %s | %s | %s | | | | | |\n", name, $2, $3
    else printf "| %s | %s | %s | %s | %.1f | %.1f | %.1f | %.2f |\n", name, $2, $3, $4, setup[1], solve[1], total, total / first}' "$WORK/log" >"$WORK/rows"
  cat "$WORK/rows" >>"$out"
  cat "$WORK/rows" >&2
}
pamg="dcg + pamg | -ksp_type dcg -deflation_space none -pc_type pamg -mat_type aijdia"
rrbcg="rrbcg | -ksp_type rrbcg -mat_type aijdia"
for walls in half whole; do
  problem "Poisson 1023^2, walls $walls" -dim 2 -n 1023 -walls $walls <<END
$rrbcg
$pamg
END
done
for contrast in 1e3 1e6; do
  problem "16 bubbles of $contrast, 1024^2" -dim 2 -n 1024 -bubbles 4 -contrast $contrast <<END
$rrbcg
$pamg
END
done
for walls in half whole; do
  problem "Poisson 96^3, walls $walls" -n 96 -walls $walls <<END
$pamg
END
done
for contrast in 1e3 1e6; do
  problem "8 bubbles of $contrast, 96^3" -n 96 -bubbles 2 -contrast $contrast <<END
$pamg
END
done
insert grids "$out"
cat "$out"
