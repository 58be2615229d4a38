#!/bin/sh
# Time of one product against PETSc's aij: bench/run.sh BUILD [sizes]
set -e
build=${1:-build}
[ $# -gt 0 ] && shift
for n in ${*:-160 192}; do
  "$build/bench/product" -dll_append "$build/libpolder.so" -n "$n"
done
