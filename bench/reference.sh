#!/bin/sh
# bench/reference.sh [n] [ranks]: the table of Gupta (2015) on 8 and 9 bubbles, n^3 cells (default 128), written into docs/results/gupta.md when n is 128
set -e
. "$(dirname "$0")/common.sh"
n=${1:-128}
ranks=${2:-1}
out=$WORK/table
{
  echo "Command: \`bench/reference.sh $n $ranks\`. Machine: $(machine). $n^3 cells, $ranks rank(s), natural numbering, random right-hand side and" \
    "guess with |r0|/|b| = 100, 1e-6 on |r|/|b|."
  echo
  [ "$n" = 128 ] && columns="| thesis | check |" rule="---:|---:|" || columns="|" rule=
  echo "| bubbles | preconditioner | space | vectors $columns iterations | true residual | set-up s | solve s | set-up in iterations |"
  echo "|---|---|---|---:|${rule}---:|---:|---:|---:|---:|"
} >"$out"

row() { # bubbles, preconditioner, space, thesis, check, options
  problem=P4
  [ "$1" = 8 ] || problem=P5
  case $2 in TNS2) pc="-pc_type tns -pc_tns_degree 2" ;; *) pc="-pc_type jacobi" ;; esac
  solve "$ranks" -problem $problem -size "$n" -global_numbering natural -mat_type "${MATTYPE:-aij}" -deflation_grid "$n,$n,$n" -ksp_type dcg $pc $6
  columns="|"
  [ "$n" = 128 ] && columns="| $4 | $5 |"
  echo "| $1 | $2 | $3 | $vectors $columns $its | $residual | $setup | $solve | $(awk "BEGIN {printf \"%.1f\", $setup * $its / $solve}") |" >>"$out"
  echo "$1 bubbles, $2, $3: $its iterations$([ "$n" != 128 ] || echo " (check $5)"), true residual $residual," \
    "$vectors vectors, set-up $setup s, solve $solve s" >&2
}
box="-deflation_space subdomain -deflation_boxes"
piece="-deflation_space levelset_subdomain -deflation_boxes"
row 8 TNS2 SD-7 245 250 "$box 2,2,2"
row 8 TNS2 LS-7 381 381 "-deflation_space levelset -deflation_levelset_vectors thesis"
row 8 TNS2 LSSD-15 203 201 "$piece 2,2,2"
row 9 TNS2 none 585 594 "-deflation_space none"
row 9 diagonal none 1318 1335 "-deflation_space none"
row 9 TNS2 LS-8 381 380 "-deflation_space levelset -deflation_levelset_vectors thesis"
row 9 TNS2 LSSD-23 206 200 "$piece 2,2,2"
row 9 TNS2 SD-7 632 561 "$box 2,2,2"
row 9 TNS2 SD-63 603 524 "$box 4,4,4"
row 9 TNS2 LSSD-135 136 113 "$piece 4,4,4"
row 9 diagonal LSSD-135 316 259 "$piece 4,4,4"
row 9 TNS2 SD-511 81 69 "$box 8,8,8"
row 9 TNS2 LSSD-583 81 63 "$piece 8,8,8"
if [ "$n" = 128 ]; then insert reference "$out"; fi
cat "$out"
