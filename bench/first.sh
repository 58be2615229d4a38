#!/bin/sh
# bench/first.sh [option...]: the first solve of a program with a matrix assembled on the host and CUDA vectors, that of a second matrix, and that of new
# values in it. One program a row, since a later solve of a program finds the kernels loaded. Options go to all programs, for instance -polder_threads 1
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -x "$SOLVE" ] || { echo "$SOLVE is missing: run make bench" >&2; exit 1; }
VECTORS=${VECTORS:-cuda}

first() { # problem, its options, solver, its options; other options
  problem=$1 on=$2 solver=$3 by=$4
  shift 4
  # shellcheck disable=SC2086
  if ! "$SOLVE" -dll_append "$LIB" -vec_type "$VECTORS" -use_gpu_aware_mpi 0 $on -first $by "$@" >"$WORK/log" 2>&1; then
    cat "$WORK/log" >&2
    exit 1
  fi
  device=$(sed -n 's/^the device after \(.*\) ms/\1/p' "$WORK/log")
  sed -n "s/^| /| $problem | $solver | $device | /p" "$WORK/log"
}

echo "| problem | solver | device ms | solve of | iterations | true residual | set-up ms | solve ms | total ms |" \
  "bytes a row to the device in the set-up | GB/s |"
echo "|---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|"
for on in "-dim 3 -n ${LARGE:-256}" "-dim 3 -n ${MIDDLE:-128}" "-dim 2 -n ${SMALL:-127}"; do
  for pc in pamg tns jacobi; do
    first "$on" "$on" "dcg + $pc" "-ksp_type dcg -pc_type $pc -deflation_space none -mat_type aijdia" "$@"
  done
  first "$on" "$on" "cg + jacobi, aijcusparse" "-ksp_type cg -pc_type jacobi -mat_type ${CUSPARSE:-aijcusparse}" "$@"
done
