/* One row of the incomplete Poisson preconditioner, for host and device. */
#pragma once

#include <math.h>
#include "launcher.h"
#include "views.h"

/*
  Row i has those of its entries of A, in their order, that begin at start[i]: all, or the diagonal one and those above it. Ghosts below nlow come before the
  rows in the global order, the others behind them.
*/
typedef struct {
  PetscInt        n, nlow;
  PetscBool       scaled; /* scale A symmetrically to a unit diagonal before */
  PetscBool       whole;  /* all entries, for the product K K^T on the pattern of A; else those from the diagonal on, for K^T */
  const PetscInt *start;
} PolderIp;

/* An off-diagonal entry a of a row with diagonal entry `own`, in a column whose one is `other` */
POLDER_BODY PetscScalar PolderIpEntry(const PolderIp *P, PetscBool lower, PetscScalar a, PetscScalar own, PetscScalar other)
{
  if (P->scaled) return -a / other / (P->whole ? own : sqrt(own));
  return -a / (lower ? other : own);
}

/* What an entry below the diagonal adds to that of the product */
POLDER_BODY PetscScalar PolderIpSquare(const PolderIp *P, PetscScalar a, PetscScalar own, PetscScalar other)
{
  return P->scaled ? a * a / (own * other) : a * a / (other * other);
}

/*
  A = L + D + L^T. K^T = I - D^-1 L^T; scaled: K^T = (I - D^-1/2 L^T D^-1/2) D^-1/2. K K^T has the diagonal entries 1 + sum over j < i of (a_ij / d_j)^2 and the
  off-diagonal ones of K and K^T
*/
POLDER_BODY void PolderIpRow(const PolderIp *P, PetscInt i, const PolderRows *rows, const PolderRows *ghosts, const PetscScalar d[], PetscScalar val[])
{
  const PetscScalar own      = d[i];
  PetscScalar       sum      = 0;
  PetscInt          diagonal = P->start[i], at = P->start[i];

  for (PetscInt k = rows->i[i]; k < rows->i[i + 1]; ++k) {
    const PetscInt  j     = rows->j[k];
    const PetscBool lower = (PetscBool)(j < i);

    if (lower && !P->whole) continue;
    if (j == i) diagonal = at++;
    else val[at++] = PolderIpEntry(P, lower, rows->a[k], own, d[j]);
    if (lower) sum += PolderIpSquare(P, rows->a[k], own, d[j]);
  }
  for (PetscInt k = ghosts->i ? ghosts->i[i] : 0; ghosts->i && k < ghosts->i[i + 1]; ++k) {
    const PetscInt  j     = ghosts->j[k];
    const PetscBool lower = (PetscBool)(j < P->nlow);

    if (lower && !P->whole) continue;
    val[at++] = PolderIpEntry(P, lower, ghosts->a[k], own, d[P->n + j]);
    if (lower) sum += PolderIpSquare(P, ghosts->a[k], own, d[P->n + j]);
  }
  val[diagonal] = (P->whole ? 1 + sum : 1) / (!P->scaled ? 1 : P->whole ? own : sqrt(own));
}
