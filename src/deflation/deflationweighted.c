/*
  Physics-weighted overlap for layered media: a row on the interface of regions i and j, coupled to each of them with the strength of
  that region, gets the entries sigma_i/(sigma_i + sigma_j) and sigma_j/(sigma_i + sigma_j), so that the rows of Z still add up to 1
  (Vuik, Segal, Meijerink, Wijma 2001, J. Comput. Phys. 172; Gupta 2015, section 6.3.1).
*/
#include "deflationsteps.h"

/* The largest |a_ik| over the neighbours k of row i, for each label; returns the number of distinct labels, the row's own first */
static PetscInt PolderRowStrengths_Private(const PolderCSR *csr, PetscInt i, const PetscInt label[], const PetscInt ghostlabel[], PetscInt max, PetscInt l[],
                                           PetscReal strength[])
{
  PetscInt n = 1;

  l[0]        = label[i];
  strength[0] = 0;
  for (PetscInt part = 0; part < (csr->bi ? 2 : 1); ++part) {
    const PetscInt    *ptr = part ? csr->bi : csr->ai, *col = part ? csr->bj : csr->aj, *lab = part ? ghostlabel : label;
    const PetscScalar *val = part ? csr->ba : csr->aa;

    for (PetscInt k = ptr[i]; k < ptr[i + 1]; ++k) {
      PetscInt c = 0;

      if ((!part && col[k] == i) || lab[col[k]] < 0) continue;
      while (c < n && l[c] != lab[col[k]]) ++c;
      if (c == max) continue;
      if (c == n) {
        l[n]          = lab[col[k]];
        strength[n++] = 0;
      }
      strength[c] = PetscMax(strength[c], PetscAbsScalar(val[k]));
    }
  }
  return n;
}

enum {
  MAXSHARED = 8 /* maximum number of regions that meet in a row: the eight octants of a corner */
};

/* sigma[l]: the mean strength of the rows whose neighbours all lie in region l; if there are none, of all its rows */
static PetscErrorCode PolderRegionStrength_Private(PolderDeflationSpace s, const PolderCSR *csr, const PetscInt ghostlabel[], PetscReal sigma[])
{
  PetscReal  *sums, strength[MAXSHARED];
  PetscInt    l[MAXSHARED], d = s->d, n;
  PetscMPIInt len;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(4 * d, &len));
  PetscCall(PetscCalloc1(4 * d, &sums));
  for (PetscInt i = 0; i < csr->m; ++i) {
    if (s->label[i] < 0) continue;
    n = PolderRowStrengths_Private(csr, i, s->label, ghostlabel, MAXSHARED, l, strength);
    for (PetscInt inside = (n == 1); inside >= 0; --inside) {
      sums[2 * inside * d + l[0]] += strength[0];
      sums[(2 * inside + 1) * d + l[0]] += 1;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, len, MPIU_REAL, MPIU_SUM, s->comm));
  for (PetscInt k = 0; k < d; ++k) sigma[k] = sums[3 * d + k] > 0 ? sums[2 * d + k] / sums[3 * d + k] : sums[k] / PetscMax(sums[d + k], 1);
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns and weights of one row: its own region, and those to which it couples with that region's strength within a factor 4 */
static PetscInt PolderRowWeights_Private(PetscInt n, PetscInt l[], const PetscReal strength[], const PetscReal sigma[], PetscScalar w[])
{
  PetscReal total = sigma[l[0]];
  PetscInt  kept  = 1;

  for (PetscInt c = 1; c < n; ++c) {
    if (strength[c] < 0.25 * sigma[l[c]] || strength[c] > 4 * sigma[l[c]]) continue;
    l[kept++] = l[c];
    total += sigma[l[c]];
  }
  for (PetscInt c = 0; c < kept; ++c) w[c] = total > 0 ? sigma[l[c]] / total : (c == 0);
  return kept;
}

PetscErrorCode PolderDeflationWeightedMatrix(PolderDeflationSpace s, Mat A, const PolderCSR *csr, Mat *Z)
{
  PetscInt   *ghostlabel, l[MAXSHARED], n;
  PetscReal  *sigma, strength[MAXSHARED];
  PetscScalar w[MAXSHARED];
  PolderHalo  halo;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PetscMalloc2(csr->nghost, &ghostlabel, s->d, &sigma));
  PetscCall(PolderHaloExchange(halo, MPIU_INT, s->label, ghostlabel));
  PetscCall(PolderRegionStrength_Private(s, csr, ghostlabel, sigma));
  PetscCall(MatCreate(s->comm, Z));
  PetscCall(MatSetSizes(*Z, csr->m, PETSC_DECIDE, PETSC_DETERMINE, s->d));
  PetscCall(MatSetType(*Z, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*Z, PetscMin(MAXSHARED, s->d), NULL));
  PetscCall(MatMPIAIJSetPreallocation(*Z, PetscMin(MAXSHARED, s->d), NULL, PetscMin(MAXSHARED, s->d), NULL));
  for (PetscInt i = 0; i < csr->m; ++i) {
    const PetscInt row = csr->rstart + i;

    if (s->label[i] < 0) continue;
    n = PolderRowStrengths_Private(csr, i, s->label, ghostlabel, MAXSHARED, l, strength);
    n = PolderRowWeights_Private(n, l, strength, sigma, w);
    PetscCall(MatSetValues(*Z, 1, &row, n, l, w, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*Z, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Z, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree2(ghostlabel, sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}
