/* Options of solvers at random, all of docs/options.md */
#include "fuzz.h"
#include <stdarg.h>

static PetscErrorCode Set(Fuzz *f, const char *name, const char *format, ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
static PetscErrorCode Set(Fuzz *f, const char *name, const char *format, ...)
{
  char    full[96], value[96];
  va_list list;

  PetscFunctionBegin;
  va_start(list, format);
  vsnprintf(value, sizeof(value), format, list);
  va_end(list);
  PetscCall(PetscSNPrintf(full, sizeof(full), "-%s%s", f->prefix, name));
  PetscCall(PetscOptionsSetValue(NULL, full, value));
  if (!strcmp(value, "k") || !strcmp(value, "ksp") || !strcmp(value, "single")) f->changing = PETSC_TRUE; /* more than rounding does */
  FuzzLog(f, " %s %s", full, value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SetOf(f, percent, name, list) \
  do { \
    if (FuzzChance(f, percent)) PetscCall(Set(f, name, "%s", FuzzPick(f, list))); \
  } while (0)
#define SetInt(f, percent, name, least, most) \
  do { \
    if (FuzzChance(f, percent)) PetscCall(Set(f, name, "%d", (int)FuzzBetween(f, least, most))); \
  } while (0)
#define SetReal(f, percent, name, least, most) \
  do { \
    if (FuzzChance(f, percent)) PetscCall(Set(f, name, "%.3g", (double)FuzzReal(f, least, most))); \
  } while (0)

static const char *const Bools[]      = {"yes", "no"};
static const char *const Precisions[] = {"single", "double"};

static PetscErrorCode TNS(Fuzz *f, const char *inner)
{
  char name[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_tns_degree", inner));
  SetInt(f, 50, name, 0, 6);
  SetInt(f, 4, name, 0, 100);
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_tns_precision", inner));
  SetOf(f, 30, name, Precisions);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RRB(Fuzz *f, const char *inner)
{
  const PetscInt *g = f->rows.grid;
  char            name[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_rrb_grid", inner));
  if (f->rows.dim && FuzzChance(f, 50)) {
    if (FuzzChance(f, 3)) PetscCall(Set(f, name, "%d,%d", (int)g[1], (int)g[0]));
    else PetscCall(Set(f, name, "%d,%d", (int)g[0], (int)(g[1] * g[2])));
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_rrb_levels", inner));
  SetInt(f, 30, name, 0, 14);
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_rrb_twice", inner));
  SetInt(f, 30, name, 0, 4);
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_rrb_omega", inner));
  SetReal(f, 20, name, 0, 1);
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_rrb_precision", inner));
  SetOf(f, 30, name, Precisions);
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_rrb_latency", inner));
  if (FuzzChance(f, 50)) PetscCall(Set(f, name, "%s", FuzzChance(f, 50) ? "0" : FuzzChance(f, 50) ? "20" : "1e9"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PAMG(Fuzz *f, const char *inner)
{
  static const char *const cycles[] = {"v", "w", "k"}, *const smoothers[] = {"auto", "sgs", "jacobi", "l1jacobi", "chebyshev"},
                           *const matchings[] = {"handshake", "greedy"}, *const choices[] = {"auto", "yes", "no"},
                           *const coarses[] = {"auto", "cholesky", "inverse", "ksp"};
  static const char *const        reals[]   = {"damping", "overcorrection", "kcycle_threshold", "threshold", "quality", "drop"};
  static const PetscReal          bounds[]  = {1.5, 4, 1, 1, 20, 0.2};
  static const char *const        ints[]    = {"passes", "pre", "post", "kcycle_levels", "levels", "coarse_limit", "gather"};
  static const PetscInt           most[]    = {3, 4, 4, 4, 8, 60, 100};
  char                            name[64];

  PetscFunctionBegin;
#define Named(option) PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_pamg_%s", inner, option))
  Named("cycle");
  SetOf(f, 50, name, cycles);
  Named("smoother");
  SetOf(f, 50, name, smoothers);
  Named("matching");
  SetOf(f, 40, name, matchings);
  Named("coarse");
  SetOf(f, 40, name, coarses);
  Named("precision");
  SetOf(f, 30, name, Precisions);
  Named("lines");
  SetOf(f, 30, name, choices);
  Named("repartition");
  SetOf(f, 30, name, choices);
  Named("star");
  SetOf(f, 30, name, choices);
  Named("reuse");
  SetOf(f, 20, name, Bools);
  Named("scale_rows");
  SetOf(f, 20, name, Bools);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(reals); ++k) {
    Named(reals[k]);
    SetReal(f, 12, name, 0, bounds[k]);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(ints); ++k) {
    Named(ints[k]);
    SetInt(f, k == 5 ? 70 : k == 6 ? 40 : 15, name, k == 0 || k == 4 || k == 5 ? 1 : 0, most[k]);
  }
#undef Named
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NRAS(Fuzz *f, const char *inner)
{
  static const char *const forms[] = {"symmetric", "symmetric", "symmetric", "additive", "restricted"}, *const partitions[] = {"metis", "rows", "boxes"},
                           *const solves[] = {"exact", "jacobi"};
  char                            name[64];

  PetscFunctionBegin;
#define Named(option) PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_nras_%s", inner, option))
  Named("blocks");
  SetInt(f, 60, name, 1, 9);
  SetInt(f, 5, name, 1, 2000);
  Named("partition");
  if (FuzzChance(f, 60)) PetscCall(Set(f, name, "%s", partitions[FuzzInt(f, f->rows.dim ? 3 : 2)]));
  Named("form");
  SetOf(f, 80, name, forms);
  Named("outer_overlap");
  SetInt(f, 50, name, 0, 3);
  Named("inner_overlap");
  SetInt(f, 50, name, 0, 3);
  Named("levels");
  SetInt(f, 60, name, 0, 5);
  Named("shift");
  SetOf(f, 20, name, Bools);
  Named("precision");
  SetOf(f, 30, name, Precisions);
  Named("droptol");
  SetReal(f, 20, name, 0, 0.3);
  Named("solve");
  SetOf(f, 30, name, solves);
  Named("sweeps");
  SetInt(f, 40, name, 1, 8);
#undef Named
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioners that the theses compare */
static const char *const RowTypes[] = {PCMCSGS, PCIP, PCFSAI, PCMIC, PCILUC, PCMEILU};

static PetscErrorCode FromRows(Fuzz *f, const char *inner)
{
  static const char *const forms[] = {"plain", "scaled", "stencil", "diag"}, *const lasts[] = {"jacobi", "sgs", "ilu"};
  static const char *const ints[]  = {"fsai_power", "mic_blocks", "iluc_levels", "iluc_power", "meilu_sets"};
  static const PetscInt    least[] = {1, 1, 0, 0, 1}, most[] = {3, 5, 3, 3, 3};
  char                     name[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_ip_form", inner));
  SetOf(f, 50, name, forms);
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_meilu_last", inner));
  SetOf(f, 50, name, lasts);
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_mic_omega", inner));
  SetReal(f, 50, name, 0, 1);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(ints); ++k) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_%s", inner, ints[k]));
    SetInt(f, 40, name, least[k], most[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Deflation(Fuzz *f)
{
  static const char *const spaces[]  = {"auto", "none",      "subdomain",     "stripe", "plane", "levelset", "levelset_subdomain",
                                        "rank", "partition", "nearnullspace", "user"};
  static const char *const coarses[] = {"inverse", "cholesky", "ksp"};
  const PetscInt          *g = f->rows.grid, dim = f->rows.dim;

  PetscFunctionBegin;
  if (FuzzChance(f, 80)) PetscCall(Set(f, "deflation_space", "%s", spaces[FuzzInt(f, FuzzChance(f, 90) ? 9 : 11)]));
  if (FuzzChance(f, 50)) {
    if (dim == 3) PetscCall(Set(f, "deflation_boxes", "%d,%d,%d", (int)FuzzBetween(f, 1, 4), (int)FuzzBetween(f, 1, 4), (int)FuzzBetween(f, 1, 4)));
    else PetscCall(Set(f, "deflation_boxes", "%d,%d", (int)FuzzBetween(f, 1, 5), (int)FuzzBetween(f, 1, 5)));
  }
  if (dim && !f->dm && FuzzChance(f, 70)) {
    if (FuzzChance(f, 3)) PetscCall(Set(f, "deflation_grid", "%d,%d", (int)g[0] + 1, (int)g[1]));
    else PetscCall(Set(f, "deflation_grid", "%d,%d,%d", (int)g[0], (int)g[1], (int)g[2]));
  }
  SetInt(f, 40, "deflation_count", 1, 40);
  if (FuzzChance(f, 40)) PetscCall(Set(f, "deflation_levelset", "auto"));
  SetOf(f, 20, "deflation_weighted", Bools);
  SetOf(f, 40, "deflation_coarse", coarses);
  PetscCall(Set(f, "deflation_coarse_ksp_max_it", "50"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preconditioner(Fuzz *f, const char *type, const char *inner)
{
  static const char *const forms[] = {"adef2", "adef1", "balancing"}, *const inners[] = {"tns", "jacobi", "none", "pamg", "nras", "mcsgs", "fsai", "rrb"};
  char name[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%spc_type", inner));
  PetscCall(Set(f, name, "%s", type));
  if (!strcmp(type, PCTNS)) PetscCall(TNS(f, inner));
  if (!strcmp(type, PCRRB)) PetscCall(RRB(f, inner));
  if (!strcmp(type, PCPAMG)) PetscCall(PAMG(f, inner));
  if (!strcmp(type, PCNRAS)) PetscCall(NRAS(f, inner));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(RowTypes); ++k) {
    if (!strcmp(type, RowTypes[k])) PetscCall(FromRows(f, inner));
  }
  if (!strcmp(type, PCLEVELSET)) {
    PetscCall(Deflation(f));
    SetOf(f, 60, "pc_levelset_form", forms);
    SetOf(f, 20, "pc_use_amat", Bools);
    PetscCall(Preconditioner(f, f->rows.dim == 2 ? FuzzPick(f, inners) : inners[FuzzInt(f, 7)], "levelset_"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tolerances(Fuzz *f, const char *type)
{
  static const char *const rtols[] = {"1e-3", "1e-6", "1e-8", "1e-10", "1e-12", "1e-17", "0"}, *const norms[] = {"unpreconditioned", "preconditioned",
                                                                                                                 "natural", "none"};
  static const char *const its[] = {"1", "2", "7", "30", "100", "0"}, *const abstols[] = {"1e-3", "1e-30", "0", "1e6"};
  const PetscInt norm = FuzzInt(f, 10);

  PetscFunctionBegin;
  if (FuzzChance(f, 80)) PetscCall(Set(f, "ksp_rtol", "%s", rtols[FuzzInt(f, FuzzChance(f, 80) ? 4 : 7)]));
  SetOf(f, 10, "ksp_atol", abstols);
  if (!f->ksp || !strcmp(type, KSPDCG) || !strcmp(type, KSPRRBCG)) { /* cg and fcg have room for the eigenvalues of as many steps as they were set up for */
    PetscCall(Set(f, "ksp_max_it", "%s", FuzzChance(f, 12) ? its[FuzzInt(f, !strcmp(type, KSPDCG) || !strcmp(type, KSPRRBCG) ? 6 : 5)] : "500"));
  }
  if (!strcmp(type, KSPDCG) && FuzzChance(f, 30)) PetscCall(Set(f, "ksp_norm_type", "%s", norms[norm % 4]));
  else if (!strcmp(type, KSPRRBCG) && FuzzChance(f, 20)) PetscCall(Set(f, "ksp_norm_type", "%s", norms[norm % 3 ? norm % 2 * 2 : 3]));
  else if (!strcmp(type, KSPIDRS) && FuzzChance(f, 30)) PetscCall(Set(f, "ksp_norm_type", "%s", norms[norm % 2 ? norm % 3 % 2 : 3]));
  else if (strcmp(type, KSPDCG) && strcmp(type, KSPRRBCG) && strcmp(type, KSPIDRS) && strcmp(type, KSPPREONLY) && strcmp(type, KSPMINRES) && FuzzChance(f, 40))
    PetscCall(Set(f, "ksp_norm_type", "unpreconditioned"));
  if (!strcmp(type, KSPGMRES) && FuzzChance(f, 50)) PetscCall(Set(f, "ksp_pc_side", "right"));
  SetInt(f, 5, "ksp_check_norm_iteration", 1, 5);
  /* PETSc does not take them back, and refuses both */
  SetOf(f, 5, FuzzHash(f->seed, 0, 78) % 2 ? "ksp_converged_use_initial_residual_norm" : "ksp_converged_use_min_initial_residual_norm", Bools);
  SetInt(f, 5, "ksp_error_if_not_converged", 0, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *SolverType(Fuzz *f)
{
  static const char *const others[] = {KSPCG, KSPCG, KSPFCG, KSPGMRES, KSPFGMRES, KSPBCGS, KSPIDRS, KSPIDRS, KSPRICHARDSON, KSPPREONLY, KSPMINRES};
  const PetscInt           k        = FuzzInt(f, 100);

  if (f->rows.dim == 2 && k < 25) return KSPRRBCG;
  return k == 99 ? KSPRRBCG : k < 60 ? KSPDCG : FuzzPick(f, others);
}

static const char *PreconditionerType(Fuzz *f, const char *ksp)
{
  static const char *const types[] = {PCTNS, PCTNS, PCPAMG, PCPAMG, PCPAMG, PCNRAS, PCNRAS, PCJACOBI, PCNONE, PCLEVELSET, PCLEVELSET};

  if (!strcmp(ksp, KSPRRBCG)) return PCRRB;
  if (f->rows.dim == 2 && FuzzChance(f, 25)) return PCRRB;
  if (FuzzChance(f, 1)) return PCRRB;
  if (FuzzChance(f, 30)) return FuzzPick(f, RowTypes);
  return FuzzPick(f, types);
}

/* Options of a solver; types: its type and that of the preconditioner too, else options of all */
PetscErrorCode FuzzSolverOptions(Fuzz *f, PetscBool types)
{
  const char *ksp, *pc;

  PetscFunctionBegin;
  if (types) {
    ksp = SolverType(f);
    pc  = PreconditionerType(f, ksp);
    FuzzLog(f, "\n options:");
    PetscCall(Set(f, "ksp_type", "%s", ksp));
    PetscCall(PetscSNPrintf(f->kind, sizeof(f->kind), "%s/%s", ksp, pc));
  } else {
    KSPType k;
    PCType  p;
    PC      preconditioner;

    FuzzLog(f, "\n other options:");
    PetscCall(KSPGetType(f->ksp, &k));
    PetscCall(KSPGetPC(f->ksp, &preconditioner));
    PetscCall(PCGetType(preconditioner, &p));
    ksp = k;
    pc  = p && FuzzChance(f, 80) ? p : PreconditionerType(f, k);
  }
  PetscCall(Tolerances(f, ksp));
  if (!strcmp(ksp, KSPDCG)) {
    PetscCall(Deflation(f));
    SetOf(f, 20, "ksp_dcg_flexible", Bools);
    SetInt(f, 10, "ksp_dcg_check", 0, 20);
  }
  if (!strcmp(ksp, KSPRRBCG)) {
    static const char *const stops[] = {"petsc", "paper", "thesis"};

    SetOf(f, 20, "ksp_rrbcg_stop", stops);
    SetInt(f, 10, "ksp_rrbcg_check", 0, 20);
  }
  if (!strcmp(ksp, KSPIDRS)) {
    static const char *const variants[] = {"minsync", "biortho"};

    SetOf(f, 50, "ksp_idrs_variant", variants);
    SetInt(f, 50, "ksp_idrs_s", 1, 10);
  }
  PetscCall(Preconditioner(f, pc, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a program gives to a deflation space by functions */
static PetscErrorCode Space(Fuzz *f, PolderDeflationSpace space)
{
  const PetscInt how  = FuzzInt(f, 10);
  const uint64_t seed = FuzzNext(f);
  PetscInt       start, end;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(f->A, &start, &end));
  if (how == 0) { /* labels, some rows without */
    const PetscInt most = FuzzBetween(f, 0, 12);
    PetscInt      *label;
    IS             is;

    FuzzLog(f, " labels to %" PetscInt_FMT, most);
    PetscCall(PetscMalloc1(end - start, &label));
    for (PetscInt i = start; i < end; ++i) label[i - start] = (PetscInt)(FuzzHash(seed, (uint64_t)(i / 5), 4) % (uint64_t)(most + 2)) - 1;
    PetscCall(ISCreateGeneral(f->comm, end - start, label, PETSC_COPY_VALUES, &is));
    PetscCall(PetscFree(label));
    PetscCall(PolderDeflationSpaceSetLabels(space, is));
    PetscCall(ISDestroy(&is));
  } else if (how == 1) { /* any sparse Z */
    const PetscInt d = FuzzBetween(f, 0, 9);
    Mat            Z;

    FuzzLog(f, " Z of %" PetscInt_FMT " columns", d);
    PetscCall(MatCreateAIJ(f->comm, end - start, PETSC_DECIDE, f->rows.n, d, d, NULL, d, NULL, &Z));
    for (PetscInt i = start; i < end; ++i)
      for (PetscInt k = 0; k < d; ++k)
        if (FuzzHash(seed, (uint64_t)i, (uint64_t)k) % 3 == 0)
          PetscCall(MatSetValue(Z, i, k, FuzzUnit(FuzzHash(seed, (uint64_t)i, (uint64_t)k + 100)) - 0.3, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(Z, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(Z, MAT_FINAL_ASSEMBLY));
    PetscCall(PolderDeflationSpaceSetMatrix(space, Z));
    PetscCall(MatDestroy(&Z));
  } else if (how <= 4) {
    Vec          phi;
    PetscScalar *a;

    FuzzLog(f, " level set");
    PetscCall(MatCreateVecs(f->A, &phi, NULL));
    PetscCall(VecGetArrayWrite(phi, &a));
    for (PetscInt i = start; i < end; ++i) a[i - start] = FuzzUnit(FuzzHash(seed, (uint64_t)(i / 7), 4)) - 0.5;
    PetscCall(VecRestoreArrayWrite(phi, &a));
    if (how == 4) PetscCall(PetscObjectCompose((PetscObject)f->A, "levelset", (PetscObject)phi));
    else PetscCall(PolderDeflationSpaceSetLevelSet(space, phi));
    PetscCall(VecDestroy(&phi));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* f->ksp for f->A, or with another operator for which f->A is the preconditioner's matrix */
PetscErrorCode FuzzSolver(Fuzz *f)
{
  PolderDeflationSpace space;
  PetscBool            dcg, levelset;
  PC                   pc;

  PetscFunctionBegin;
  PetscCall(FuzzSolverOptions(f, PETSC_TRUE));
  PetscCall(KSPCreate(f->comm, &f->ksp));
  PetscCall(KSPSetOptionsPrefix(f->ksp, f->prefix));
  PetscCall(KSPSetOperators(f->ksp, f->A, f->A));
  f->setting = PETSC_TRUE;
  PetscCall(KSPSetFromOptions(f->ksp));
  f->setting = PETSC_FALSE;
  PetscCall(KSPGetPC(f->ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)f->ksp, KSPDCG, &dcg));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLEVELSET, &levelset));
  if (dcg || levelset) {
    if (dcg) PetscCall(KSPDCGGetDeflationSpace(f->ksp, &space));
    else PetscCall(PCLevelSetGetDeflationSpace(pc, &space));
    PetscCall(Space(f, space));
  }
  if (FuzzChance(f, 10)) PetscCall(KSPSetComputeEigenvalues(f->ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
