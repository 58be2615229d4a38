#!/bin/sh
# Finds PETSc (PETSC_DIR/PETSC_ARCH, then pkg-config) and prints what the Makefile needs to know about it as make variables
stop() { echo "$*" >&2; exit 1; }

pc=
if [ -n "$PETSC_DIR" ]; then
  for dir in "$PETSC_DIR/$PETSC_ARCH" "$PETSC_DIR"; do
    for name in PETSc petsc; do
      [ -z "$pc" ] && [ -f "$dir/lib/pkgconfig/$name.pc" ] && pc=$dir/lib/pkgconfig/$name.pc
    done
  done
  [ -n "$pc" ] || stop "No PETSc in PETSC_DIR=$PETSC_DIR PETSC_ARCH=$PETSC_ARCH (looked for lib/pkgconfig/PETSc.pc): correct both variables or unset them"
else
  for name in PETSc petsc; do [ -z "$pc" ] && pkg-config --exists $name && pc=$name; done
  [ -n "$pc" ] || stop "No PETSc found: set PETSC_DIR and PETSC_ARCH, or install petsc-dev"
fi

pkg-config --atleast-version=3.18 "$pc" || stop "PETSc $(pkg-config --modversion "$pc") is too old: Polder needs 3.18 or later"
cc=$(pkg-config --variable=ccompiler "$pc")
command -v "${cc:=mpicc}" >/dev/null || cc=mpicc
command -v "$cc" >/dev/null ||
  stop "PETSc was built with the MPI compiler $(pkg-config --variable=ccompiler "$pc"), which is not there: install it or put it in PATH"
mpiexec=$(pkg-config --variable=mpiexec "$pc")
[ -n "$mpiexec" ] || mpiexec=$(dirname "$(command -v "$cc")")/mpiexec
command -v "$mpiexec" >/dev/null || mpiexec=mpiexec
# PETSc's headers are system headers: warnings about them would hide ours
cflags=$(pkg-config --cflags "$pc" | sed 's/-I */-isystem /g')
libs=$(pkg-config --libs "$pc")
libdir=$(pkg-config --variable=libdir "$pc")

conf=$(printf '#include <petscconf.h>\n' | "$cc" -E -dM $cflags - 2>/dev/null) ||
  stop "petscconf.h of $pc cannot be read with $cc $cflags: is this PETSc complete?"
has() { printf '%s\n' "$conf" | grep -q "^#define $1\b"; }
has PETSC_USE_SHARED_LIBRARIES || stop "This PETSc is a static library, into which nothing can be loaded: configure PETSc with --with-shared-libraries=1"
! has PETSC_USE_COMPLEX || stop "This PETSc has complex scalars and Polder works with real ones only: use a PETSc configured with --with-scalar-type=real"
for real in SINGLE __FLOAT128 __FP16; do
  ! has "PETSC_USE_REAL_$real" ||
    stop "The numbers of this PETSc are not in double precision, in which Polder works: use a PETSc configured with --with-precision=double"
done

lib=$(realpath "$libdir/lib$(printf '%s\n' "$libs" | sed 's/.*-l\(petsc[^ ]*\).*/\1/').so" 2>/dev/null)
case ${lib%/*} in
  /lib | /lib64 | /usr/lib | /usr/lib64 | /usr/lib/*-linux-gnu) ;;
  *) libs="$libs -Wl,-rpath,$libdir" ;;
esac
for dir in "${libdir%/lib}/share/petsc/examples/src" "$PETSC_DIR/share/petsc/examples/src" "$PETSC_DIR/src"; do
  [ -z "$examples" ] && [ -f "$dir/ksp/ksp/tutorials/ex2.c" ] && examples=$(realpath "$dir")
done

# CUDA, when this PETSc has it (3.22 or later) and its compiler is there
cuda=
if has PETSC_HAVE_CUDA && pkg-config --atleast-version=3.22 "$pc"; then
  cuda=$(pkg-config --variable=cudacompiler "$pc")
  command -v "${cuda:=nvcc}" >/dev/null || cuda=nvcc
  command -v "$cuda" >/dev/null || { cuda=; echo "This PETSc has CUDA but there is no nvcc: building for the CPU only" >&2; }
fi
if [ -n "$cuda" ]; then
  cudacxx=$(pkg-config --variable=cxxcompiler "$pc")
  command -v "${cudacxx:=mpicxx}" >/dev/null || cudacxx=mpicxx
  cflags="$cflags $(pkg-config --variable=cudainclude "$pc" | sed 's/-I */-isystem /g') -DPOLDER_HAVE_CUDA=1"
  # the run-time libraries; libcuda comes with a driver, and not every machine that builds has one
  cudalibs=$(pkg-config --variable=cudalib "$pc" | tr ' ' '\n' | grep -E '^-L|^-Wl,-rpath' | grep -v '/stubs$' | tr '\n' ' ')
  cudalibs="$cudalibs-lcusolver -lcublas -lcusparse -lcudart -lstdc++"
fi

cat <<END
PETSC_VERSION  := $(pkg-config --modversion "$pc")
PETSC_CC       := $cc
PETSC_CFLAGS   := $cflags
PETSC_LIBS     := $libs
PETSC_EXAMPLES := $examples
MPIEXEC        ?= $mpiexec
CUDAC          := $cuda
CUDA_CXX       := $cudacxx
CUDA_LIBS      := $cudalibs
END
[ -z "$cuda" ] || echo '#: POLDER_CUDA'
printf '%s\n' "$conf" | sed -n 's/^#define PETSC_\([A-Z0-9_]*\) .*/#: \1/p' | grep -E '^#: (HAVE|USE)_' | sort
