#!/bin/sh
# bench/ranks.sh [n]: iterations on 1, 2 and 4 ranks, nine bubbles on n^3 cells (default 64), natural numbering and that of the DMDA; into docs/results/gupta.md
set -e
. "$(dirname "$0")/common.sh"
n=${1:-64}
out=$WORK/table
{
  echo "Command: \`bench/ranks.sh $n\`. Machine: $(machine). Nine bubbles, $n^3 cells, random right-hand side and guess with |r0|/|b| = 100, 1e-6" \
    "on |r|/|b|; iterations on 1, 2 and 4 ranks."
  echo
  echo "| solver | numbering | 1 | 2 | 4 | largest difference |"
  echo "|---|---|---:|---:|---:|---:|"
} >"$out"
row() { # name, numbering, options
  counts=
  for ranks in 1 2 4; do
    solve $ranks -problem P5 -size "$n" -global_numbering "$2" $3
    counts="$counts $its"
  done
  echo $counts | awk -v name="$1" -v numbering="$2" '{
    low = high = $1
    for (i = 2; i <= NF; ++i) {if ($i < low) low = $i; if ($i > high) high = $i}
    printf "| %s | %s | %d | %d | %d | %.1f %% |\n", name, numbering, $1, $2, $3, 100 * (high - low) / $1}' | tee -a "$out" >&2
}
for numbering in natural dmda; do
  grid=
  [ $numbering = dmda ] || grid="-deflation_grid $n,$n,$n"
  row "cg tns" $numbering "-ksp_type cg -pc_type tns"
  row "dcg tns, SD 4^3" $numbering "-ksp_type dcg -pc_type tns -deflation_space subdomain -deflation_boxes 4,4,4 $grid"
  row "dcg tns, LS" $numbering "-ksp_type dcg -pc_type tns -deflation_space levelset"
  row "dcg tns, LSSD 4^3" $numbering "-ksp_type dcg -pc_type tns -deflation_space levelset_subdomain -deflation_boxes 4,4,4 $grid"
  row "dcg jacobi, LSSD 4^3" $numbering "-ksp_type dcg -pc_type jacobi -deflation_space levelset_subdomain -deflation_boxes 4,4,4 $grid"
done
insert ranks "$out"
cat "$out"
