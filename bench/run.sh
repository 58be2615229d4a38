#!/bin/sh
# bench/run.sh [sizes]: time of one product, compared with PETSc's own type in the same run; into docs/results/products.md. On the CPU the 7-point stencil
# (default 160 and 192 points a direction); on a machine with a GPU all matrices of bench/product, followed by the solvers of bench/gpu.sh
set -e
. "$(dirname "$0")/common.sh"
out=$WORK/table
if gpu; then
  marker=product-gpu
  {
    echo "Command: \`make bench\`; a row by itself: \`build/bench/product -vec_type cuda -matrices <kind> -only <type>\`. Machine: $(machine)." \
      "Products alone: no system is solved."
    echo
    echo '```'
    "$BUILD/bench/product" -dll_append "$LIB" -vec_type cuda -use_gpu_aware_mpi 0
    echo '```'
  } | tee "$out"
else
  marker=product
  [ $# -gt 0 ] || set -- 160 192
  {
    echo "Command: \`make bench\` or \`bench/run.sh $*\`. Machine: $(machine). Products alone: no system is solved."
    echo
    echo '```'
    for n in "$@"; do "$BUILD/bench/product" -dll_append "$LIB" -n "$n"; done
    echo '```'
  } | tee "$out"
fi
insert $marker "$out"
gpu || exit 0
"$ROOT/bench/gpu.sh"
! command -v gnuplot >/dev/null || "$ROOT/bench/picture.sh"
