#!/bin/sh
# petsc-build.sh DIR VERSION [ARCHS]: builds PETSc from its source package of the Python index and installs it in DIR;
# with CUDA for the compute capabilities ARCHS, like "80 90", when they are given
set -e
stop() { echo "$*" >&2; exit 1; }
dir=$1 version=$2 archs=$(echo $3 | tr ' ' ,)
[ -n "$version" ] || stop "usage: $0 DIR VERSION [ARCHS]"
arch=arch-host
set -- --with-debugging=0 --with-fc=0 --with-cc=mpicc --with-cxx=mpicxx --COPTFLAGS=-O3 --CXXOPTFLAGS=-O3 \
  --with-shared-libraries=1 --with-blaslapack-lib="-llapack -lblas" --with-x=0 --with-hypre=0 --with-ssl=0
if [ -n "$archs" ]; then
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || ls "$CUDA_HOME/bin/nvcc" 2>/dev/null) ||
    stop "No nvcc: install the CUDA toolkit and put its bin folder in PATH"
  arch=arch-cuda
  set -- "$@" --with-cuda=1 --with-cuda-dir="$(dirname "$(dirname "$(realpath "$nvcc")")")" --with-cuda-arch="$archs" --CUDAOPTFLAGS=-O3
fi
unset PETSC_DIR PETSC_ARCH MAKEFLAGS MFLAGS
mkdir -p "$dir/src"
dir=$(realpath "$dir")
jobs=${PETSC_BUILD_JOBS:-$(sh "$(dirname "$0")/processors.sh")}

# pip reads the package's metadata with the setuptools and wheel of an environment of its own
python=$dir/src/python/bin/python
"$python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$dir/src/python"
"$python" -c 'import setuptools, wheel' 2>/dev/null || "$python" -m pip install -q --disable-pip-version-check setuptools wheel
source=$dir/src/petsc-$version
if [ ! -d "$source" ]; then
  echo "== fetching petsc $version"
  "$python" -m pip download --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation -d "$dir/src" "petsc==$version"
  rm -rf "$dir/src/unpacked"
  mkdir "$dir/src/unpacked"
  tar --no-same-owner -xzf "$dir/src/petsc-$version.tar.gz" -C "$dir/src/unpacked"
  mv "$dir/src/unpacked/petsc-$version" "$source"
fi
cd "$source"
if [ ! -f "$arch/configured" ]; then
  echo "== configuring${archs:+ for the compute capabilities $archs} (some minutes)"
  ./configure PETSC_ARCH=$arch --prefix="$dir" "$@"
  touch "$arch/configured"
fi
echo "== compiling with $jobs jobs${archs:+ (15 minutes of one core for each compute capability)}"
make PETSC_DIR="$source" PETSC_ARCH=$arch MAKE_NP="$jobs" all
# install beside and move, the libraries last: what is in DIR/lib is complete
rm -rf "$dir/src/installed"
make PETSC_DIR="$source" PETSC_ARCH=$arch DESTDIR="$dir/src/installed" install
for part in include share lib; do
  rm -rf "${dir:?}/$part"
  mv "$dir/src/installed$dir/$part" "$dir/$part"
done
echo "PETSc $version is in $dir. Use it:  make PETSC_DIR=$dir PETSC_ARCH="
