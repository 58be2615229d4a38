#!/bin/sh
# bench/run.sh [sizes]: time of one product against PETSc's aij in the same run, 7-point stencil (default 160 and 192 points a direction); into docs/results.md
set -e
. "$(dirname "$0")/common.sh"
out=$WORK/table
[ $# -gt 0 ] || set -- 160 192
{
  echo "Command: \`make bench\` or \`bench/run.sh $*\`. Machine: $(machine)."
  echo
  echo '```'
  for n in "$@"; do "$BUILD/bench/product" -dll_append "$LIB" -n "$n"; done
  echo '```'
} | tee "$out"
insert product "$out"
