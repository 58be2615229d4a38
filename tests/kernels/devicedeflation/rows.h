/* A random matrix with labels, with or without columns of other processes, and its AZ at both places. */
#pragma once

#include "../devicetest.h"
#include "kernels/deflation.h"

/* n bytes that would be noticed where they are not overwritten: NaN, and a large negative number */
static PetscErrorCode Poisoned(size_t bytes, void *there)
{
  char *host;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(bytes, &host));
  PetscCall(PetscMemzero(host, bytes));
  for (size_t k = 0; k < bytes; ++k) host[k] = (char)0xff;
  PetscCall(PolderDeviceUpload(bytes, host, there));
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of m rows with up to width entries a row; row sums vanish in two rows of three */
static PetscErrorCode RandomRows(PetscInt m, PetscInt width, PetscInt **ai, PetscInt **aj, PetscScalar **aa)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(m + 1, ai, m * width, aj, m * width, aa));
  (*ai)[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt n = 1 + Next(width);
    PetscScalar    s = 0;

    for (PetscInt k = 0; k < n; ++k) {
      const PetscInt j = i + Next(9) - 4;

      (*aj)[nz] = PetscClipInterval(j, 0, m - 1);
      (*aa)[nz] = k + 1 < n ? Next(2000) / 1000.0 - 1 : (i % 3 ? -s : 1);
      s += (*aa)[nz++];
    }
    (*ai)[i + 1] = nz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a symmetric matrix of nd = 2 h + 1 diagonals whose upper half is stored: dia[k] points to device values of the diagonal off[k] */
static PetscErrorCode RandomDiagonals(PetscInt m, PetscInt h, PetscInt off[], PetscScalar **values, const PetscScalar *dia[], PetscInt **ai, PetscInt **aj,
                                      PetscScalar **aa)
{
  PetscScalar *v;
  PetscInt     nz = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)(h + 1) * m, &v));
  PetscCall(PetscMalloc3(m + 1, ai, m * (2 * h + 1), aj, m * (2 * h + 1), aa));
  off[h] = 0;
  for (PetscInt k = 1; k <= h; ++k) {
    off[h + k] = off[h + k - 1] + k;
    off[h - k] = -off[h + k];
    for (PetscInt i = 0; i + off[h + k] < m; ++i) v[(size_t)k * m + i] = Next(5) ? -1 - Next(100) / 100.0 : 0;
  }
  for (PetscInt i = 0; i < m; ++i) { // the diagonal: the row sum vanishes in two rows of three
    for (PetscInt k = 1; k <= h; ++k) v[i] -= (i + off[h + k] < m ? v[(size_t)k * m + i] : 0) + (i >= off[h + k] ? v[(size_t)k * m + i - off[h + k]] : 0);
    if (i % 3 == 0) v[i] += 1;
  }
  (*ai)[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt k = 0; k <= 2 * h; ++k) {
      const PetscInt    j = i + off[k];
      const PetscScalar a = j < 0 || j >= m ? 0 : (k < h ? v[(size_t)(h - k) * m + j] : v[(size_t)(k - h) * m + i]);

      if (a == 0) continue;
      (*aj)[nz]   = j;
      (*aa)[nz++] = a;
    }
    (*ai)[i + 1] = nz;
  }
  PetscCall(PolderDeviceUpload(sizeof(*v) * (h + 1) * m, v, values));
  for (PetscInt k = 0; k <= h; ++k) {
    dia[h + k] = *values + (size_t)k * m;
    dia[h - k] = dia[h + k] - off[h + k];
  }
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with labels, and its AZ: on the host, and in device memory */
typedef struct {
  PetscInt           m, d, half, nghost, nw;
  PetscInt          *ai, *aj, *bi, *bj, *label, *ghostlabel, *count, *row, *ptr, *col;
  PetscScalar       *aa, *ba, *val;
  PetscBool          null;
  PetscInt           off[POLDER_LABEL_DIAGONALS];
  const PetscScalar *dia[POLDER_LABEL_DIAGONALS];
  PetscScalar       *values;
  PetscInt          *dai, *daj, *dbi, *dbj, *dlabel, *dghostlabel, *dcount, *drow, *dptr, *dcol;
  PetscScalar       *daa, *dba, *dval;
  PetscInt64        *dscan;
} Rows;

/* A and AZ on the host and on the device */
static PolderRows RowsHere(const Rows *r)
{
  return (PolderRows){r->m, r->ai, r->aj, r->aa, r->ai[r->m]};
}

static PolderRows RowsThere(const Rows *r)
{
  return (PolderRows){r->m, r->dai, r->daj, r->daa, r->ai[r->m]};
}

/* The block of ghosts, if there are any */
static PolderRows GhostsHere(const Rows *r)
{
  return (PolderRows){.n = r->m, .i = r->nghost ? r->bi : NULL, .j = r->bj, .a = r->ba};
}

static PolderRows GhostsThere(const Rows *r)
{
  return (PolderRows){.n = r->m, .i = r->nghost ? r->dbi : NULL, .j = r->dbj, .a = r->dba};
}

static PolderDia DiagonalsThere(const Rows *r)
{
  return (PolderDia){.m = r->m, .n = r->m, .nd = 2 * r->half + 1, .off = r->off, .val = r->dia};
}

static PolderSparseRows ProductHere(const Rows *r)
{
  return (PolderSparseRows){r->nw, r->ptr[r->nw], r->row, r->ptr, r->col, r->val};
}

static PolderSparseRows ProductThere(const Rows *r)
{
  return (PolderSparseRows){r->nw, r->ptr[r->nw], r->drow, r->dptr, r->dcol, r->dval};
}

/* Up to two entries a row in the columns of ghosts, some of which have a label */
static PetscErrorCode GhostsCreate(Rows *r)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc4(r->m + 1, &r->bi, 2 * r->m, &r->bj, 2 * r->m, &r->ba, r->nghost, &r->ghostlabel));
  r->bi[0] = 0;
  for (PetscInt i = 0; i < r->m; ++i) r->bi[i + 1] = r->bi[i] + (r->nghost ? Next(3) : 0);
  for (PetscInt k = 0; k < r->bi[r->m]; ++k) {
    r->bj[k] = Next(r->nghost);
    r->ba[k] = Next(2000) / 1000.0 - 1;
  }
  for (PetscInt k = 0; k < r->nghost; ++k) r->ghostlabel[k] = Next(r->d + 1) - 1;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (r->m + 1), r->bi, &r->dbi));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * r->bi[r->m], r->bj, &r->dbj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * r->bi[r->m], r->ba, &r->dba));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * r->nghost, r->ghostlabel, &r->dghostlabel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* half > 0: from so many upper diagonals and the main one */
static PetscErrorCode RowsCreate(PetscInt m, PetscInt width, PetscInt half, PetscInt d, PetscInt nghost, Rows *r)
{
  PetscInt        *col, most;
  PetscScalar     *val;
  PolderSparseRows W;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  r->m      = m;
  r->d      = d;
  r->half   = half;
  r->nghost = nghost;
  PetscCall(GhostsCreate(r));
  if (half) PetscCall(RandomDiagonals(m, half, r->off, &r->values, r->dia, &r->ai, &r->aj, &r->aa));
  else PetscCall(RandomRows(m, width, &r->ai, &r->aj, &r->aa));
  most = r->ai[m] + r->bi[m];
  PetscCall(PetscMalloc2(PetscMax(d, width + 2), &col, PetscMax(d, width + 2), &val));
  PetscCall(PetscCalloc6(m, &r->label, m, &r->count, m, &r->row, m + 1, &r->ptr, most, &r->col, most, &r->val));
  for (PetscInt i = 0; i < m; ++i) r->label[i] = i && Next(3) ? r->label[i - 1] : Next(d + 1) - 1;
  r->null = PolderLabelRowsCount_Host(RowsHere(r), r->label, GhostsHere(r), r->ghostlabel, col, val, r->count);
  for (PetscInt i = 0; i < m; ++i) {
    if (!r->count[i]) continue;
    r->row[r->nw]     = i;
    r->ptr[r->nw + 1] = r->ptr[r->nw] + r->count[i];
    ++r->nw;
  }
  W = ProductHere(r);
  PolderLabelRowsFill_Host(RowsHere(r), r->label, GhostsHere(r), r->ghostlabel, &W);
  PetscCall(PetscFree2(col, val));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (m + 1), r->ai, &r->dai));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * r->ai[m], r->aj, &r->daj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * r->ai[m], r->aa, &r->daa));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * m, r->label, &r->dlabel));
  PetscCall(Poisoned(sizeof(PetscInt) * m, &r->dcount));
  PetscCall(Poisoned(sizeof(PetscInt64) * m, &r->dscan));
  PetscCall(Poisoned(sizeof(PetscInt) * r->nw, &r->drow));
  PetscCall(Poisoned(sizeof(PetscInt) * (r->nw + 1), &r->dptr));
  PetscCall(PolderDeviceZero(r->dptr, sizeof(PetscInt)));
  PetscCall(Poisoned(sizeof(PetscInt) * r->ptr[r->nw], &r->dcol));
  PetscCall(Poisoned(sizeof(PetscScalar) * r->ptr[r->nw], &r->dval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *r)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&r->values));
  PetscCall(PolderDeviceFree(&r->dai));
  PetscCall(PolderDeviceFree(&r->daj));
  PetscCall(PolderDeviceFree(&r->daa));
  PetscCall(PolderDeviceFree(&r->dbi));
  PetscCall(PolderDeviceFree(&r->dbj));
  PetscCall(PolderDeviceFree(&r->dba));
  PetscCall(PolderDeviceFree(&r->dlabel));
  PetscCall(PolderDeviceFree(&r->dghostlabel));
  PetscCall(PolderDeviceFree(&r->dcount));
  PetscCall(PolderDeviceFree(&r->dscan));
  PetscCall(PolderDeviceFree(&r->drow));
  PetscCall(PolderDeviceFree(&r->dptr));
  PetscCall(PolderDeviceFree(&r->dcol));
  PetscCall(PolderDeviceFree(&r->dval));
  PetscCall(PetscFree3(r->ai, r->aj, r->aa));
  PetscCall(PetscFree4(r->bi, r->bj, r->ba, r->ghostlabel));
  PetscCall(PetscFree6(r->label, r->count, r->row, r->ptr, r->col, r->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}
