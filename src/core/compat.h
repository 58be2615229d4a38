/* The only file that tests the version of PETSc (3.18 to 3.26). */
#pragma once

#include <petscsys.h>

/* Is the running PETSc the release that Polder was compiled with, up to patches? */
#define PolderSameRelease(major, minor) ((major) == PETSC_VERSION_MAJOR && (minor) == PETSC_VERSION_MINOR)

/* 3.19 brought PETSC_SUCCESS and a strict PetscErrorCode */
#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

/* 3.20 renamed the pointer check */
#if PETSC_VERSION_LT(3, 20, 0)
  #define PetscAssertPointer(ptr, arg) PetscValidPointer(ptr, arg)
#endif

/* 3.23 passes PetscOptionItems as an opaque value, earlier releases as a pointer to a structure */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *PolderOptionItems;
#else
typedef PetscOptionItems PolderOptionItems;
#endif

/* 3.23 passes a destructor a pointer to the context, earlier releases pass the context itself; 3.25 declares that pointer as void * */
#if PETSC_VERSION_LT(3, 23, 0)
  #define PolderCtxArg(ctx) void *ctx
  #define PolderCtx(ctx)    (ctx)
#elif PETSC_VERSION_LT(3, 25, 0)
  #define PolderCtxArg(ctx) void **ctx
  #define PolderCtx(ctx)    (*(ctx))
#else
  #define PolderCtxArg(ctx) void *ctx
  #define PolderCtx(ctx)    (*(void **)(ctx))
#endif

/* 3.22 made MPIU_Allreduce() return an MPI error code */
#if PETSC_VERSION_LT(3, 22, 0)
  #define PetscCallAllreduce(...) PetscCall(MPIU_Allreduce(__VA_ARGS__))
#else
  #define PetscCallAllreduce(...) PetscCallMPI(MPIU_Allreduce(__VA_ARGS__))
#endif

/* 3.22 counts the processes of a star forest as MPI does */
#if PETSC_VERSION_LT(3, 22, 0)
typedef PetscInt PolderRankCount;
#else
typedef PetscMPIInt      PolderRankCount;
#endif

/* 3.22 replaced PETSC_DEFAULT where it meant "keep the value" */
#if PETSC_VERSION_LT(3, 22, 0)
  #define PETSC_CURRENT PETSC_DEFAULT
#endif

/* 3.22 renamed the function that fills a vector with infinity on one process */
#if PETSC_VERSION_LT(3, 22, 0)
  #define VecFlag(v, flag) ((flag) ? VecSetInf(v) : PETSC_SUCCESS)
#endif

/* 3.23 renamed the setter of a container's destructor */
#if PETSC_VERSION_LT(3, 23, 0)
  #define PetscContainerSetCtxDestroy(container, destroy) PetscContainerSetUserDestroy(container, destroy)
#endif

/* 3.24 can tell where the values of a matrix are (host, device or both) */
#if PETSC_VERSION_LT(3, 24, 0)
  #define PolderMatOpsSetMemType(ops, f)    (void)(f)
  #define PolderMatOpsCopyMemType(to, from) (void)(from)
  #define PolderMatGetMemType(A, type)      (*(type) = (A)->boundtocpu ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_CUDA, PETSC_SUCCESS)
#else
  #define PolderMatOpsSetMemType(ops, f)    (ops)->getcurrentmemtype = (f)
  #define PolderMatOpsCopyMemType(to, from) (to)->getcurrentmemtype = (from)->getcurrentmemtype
  #define PolderMatGetMemType(A, type)      MatGetCurrentMemType(A, type)
#endif

/* 3.22 renamed the function that makes a viewer from an option */
#if PETSC_VERSION_LT(3, 22, 0)
  #define PetscOptionsCreateViewer(...) PetscOptionsGetViewer(__VA_ARGS__)
#endif

/* 3.20 brought KSPSetMinimumIterations() */
#if PETSC_VERSION_LT(3, 20, 0)
  #define PolderKSPMinIts(ksp) ((ksp)->chknorm + 1)
#else
  #define PolderKSPMinIts(ksp) PetscMax((ksp)->min_it, (ksp)->chknorm + 1)
#endif

/* 3.26 has no diagonal scaling of preconditioners and systems any more */
#if PETSC_VERSION_LT(3, 26, 0)
  #define PolderPCGetDiagonalScale(pc, scaled) PCGetDiagonalScale(pc, scaled)
  #define PolderPCSetDiagonalScale(pc, scale)  PCSetDiagonalScale(pc, scale)
  #define PolderKSPScales(ksp)                 ((ksp)->dscale)
#else
  #define PolderPCGetDiagonalScale(pc, scaled) ((void)(pc), *(scaled) = PETSC_FALSE, PETSC_SUCCESS)
  #define PolderPCSetDiagonalScale(pc, scale)  ((void)(pc), (void)(scale), PETSC_SUCCESS)
  #define PolderKSPScales(ksp)                 ((void)(ksp), PETSC_FALSE)
#endif
