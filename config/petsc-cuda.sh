#!/bin/sh
# petsc-cuda.sh DIR VERSION ARCHS: builds PETSc with CUDA from its source package of the Python index and installs it in DIR; ARCHS like "80 90"
set -e
stop() { echo "$*" >&2; exit 1; }
dir=$1 version=$2 archs=$(echo $3 | tr ' ' ,)
[ -n "$archs" ] || stop "usage: $0 DIR VERSION ARCHS"
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || ls "$CUDA_HOME/bin/nvcc" 2>/dev/null) || stop "No nvcc: install the CUDA toolkit and put its bin folder in PATH"
cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
unset PETSC_DIR PETSC_ARCH MAKEFLAGS MFLAGS
mkdir -p "$dir/src"
dir=$(realpath "$dir")
jobs=${PETSC_CUDA_JOBS:-$(nproc)}

# pip reads the package's metadata with the setuptools and wheel of an environment of its own
python=$dir/src/python/bin/python
[ -x "$python" ] || python3 -m venv "$dir/src/python"
"$python" -c 'import setuptools, wheel' 2>/dev/null || "$python" -m pip install -q --disable-pip-version-check setuptools wheel
source=$dir/src/petsc-$version
if [ ! -f "$source/configure" ]; then
  echo "== fetching petsc $version"
  "$python" -m pip download --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation -d "$dir/src" "petsc==$version"
  tar --no-same-owner -xzf "$dir/src/petsc-$version.tar.gz" -C "$dir/src"
fi
cd "$source"
if [ ! -f arch-cuda/lib/petsc/conf/petscvariables ]; then
  echo "== configuring for the compute capabilities $archs with $cuda (some minutes)"
  ./configure PETSC_ARCH=arch-cuda --prefix="$dir" --with-debugging=0 --with-fc=0 --with-cc=mpicc --with-cxx=mpicxx \
    --with-cuda=1 --with-cuda-dir="$cuda" --with-cuda-arch="$archs" --COPTFLAGS=-O3 --CXXOPTFLAGS=-O3 --CUDAOPTFLAGS=-O3 \
    --with-shared-libraries=1 --with-blaslapack-lib="-llapack -lblas" --with-x=0 --with-hypre=0 --with-ssl=0
fi
echo "== compiling with $jobs jobs (15 minutes of one core for one compute capability)"
make PETSC_DIR="$source" PETSC_ARCH=arch-cuda MAKE_NP="$jobs" all
make PETSC_DIR="$source" PETSC_ARCH=arch-cuda install
echo "PETSc $version with CUDA is in $dir. Use it:  make PETSC_DIR=$dir PETSC_ARCH="
