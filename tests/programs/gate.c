static char help[] = "The library is loaded into a PETSc that claims to be another one than it was built with.\n\n";

#include <petscsys.h>
#include <stdlib.h>
#include <string.h>

static const char *pretend = "";

/* Symbols of the program come before those of libpetsc: these two answer the library's questions */
PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  if (major) *major = PETSC_VERSION_MAJOR + !strcmp(pretend, "major");
  if (minor) *minor = PETSC_VERSION_MINOR + !strcmp(pretend, "minor");
  if (subminor) *subminor = PETSC_VERSION_SUBMINOR + !strcmp(pretend, "subminor");
  if (release) *release = PETSC_VERSION_RELEASE;
  return (PetscErrorCode)0;
}

PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscDataTypeGetSize(PetscDataType type, size_t *size)
{
  if (type == PETSC_INT) *size = strcmp(pretend, "index") ? sizeof(PetscInt) : 12 - sizeof(PetscInt);
  else *size = strcmp(pretend, "scalar") ? sizeof(PetscScalar) : 2 * sizeof(PetscScalar);
  return (PetscErrorCode)0;
}

int main(int argc, char **argv)
{
  if (getenv("PRETEND")) pretend = getenv("PRETEND");
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "loaded\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
     output_file: output/gate_loaded.out
     test:
       suffix: same
     test:
       suffix: subminor
       env: PRETEND=subminor
   test:
     suffix: minor
     nsize: {{1 2}}
     env: PRETEND=minor
     fails: libpolder.so was built with PETSc
   test:
     suffix: major
     env: PRETEND=major
     fails: libpolder.so was built with PETSc
   test:
     suffix: index
     env: PRETEND=index
     fails: -bit ones: rebuild Polder with the program's PETSc
   test:
     suffix: scalar
     env: PRETEND=scalar
     fails: libpolder.so was built with another scalar type

TEST*/
