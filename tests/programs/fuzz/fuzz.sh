#!/bin/sh
# tests/programs/fuzz/fuzz.sh [options of tests/programs/fuzz.c]: random cases on 1 to 4 processes in turn for FUZZSECONDS (60), from seed FUZZSEED (the
# time) on; stops where something is wrong
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
BUILD=${BUILD:-build}
seconds=${FUZZSECONDS:-60}
start=$(date +%s)
seed=${FUZZSEED:-${start}000}
share=$((seconds / 4))
[ $share -lt 60 ] || share=60
[ $share -gt 0 ] || share=1
while :; do
  for n in 1 2 3 4; do
    echo "seeds from $seed on, $n processes"
    ${MPIEXEC:-mpiexec} -n $n "$BUILD/tests/programs/fuzz" -dll_append "$BUILD/libpolder.so" -fuzz_seed "$seed" -fuzz_cases 1000000 \
      -fuzz_seconds $share "$@" || exit
    seed=$((seed + 1000000))
    [ $(($(date +%s) - start)) -lt "$seconds" ] || exit 0
  done
done
