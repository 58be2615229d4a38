/* What -ksp_view prints of the preconditioner nras. */
#include "core/refusal.h"
#include "nrasimpl.h"

const char *const PCNRASPartitions[] = {"auto", "metis", "rows", "boxes", "PCNRASPartition", "PC_NRAS_", NULL};
const char *const PCNRASForms[]      = {"restricted", "additive", "symmetric", "PCNRASForm", "PC_NRAS_", NULL};
const char *const NRASPrecisions[2] = {"double", "single"}, *const NRASSolves[2] = {"exact", "jacobi"};

/* Bytes of the factors and of what an apply needs beside the vectors */
static PetscInt64 NRASBytes(const PC_NRAS *nras)
{
  const NRASAt    *at   = &nras->at[nras->place->device];
  const PolderIlu *ilu  = &at->ilu;
  const PetscInt64 kept = at->kept.nz;
  PetscInt64       ints = kept - ilu->nz, value = nras->set.single ? (PetscInt64)sizeof(float) : (PetscInt64)sizeof(PetscScalar), other;

  for (int k = 0; k < NRAS_NARRAY; ++k) ints += k == NRAS_SOURCE ? 0 : nras->length[k];
  other = (PetscInt64)ilu->nrow + nras->outer.nghost * (nras->length[NRAS_PTR] ? 2 : 1) + (at->weight ? nras->outer.n + nras->outer.nghost : 0);
  if (nras->set.drop > 0) ints += at->keptslices.napart - nras->length[NRAS_APART];
  if (nras->set.jacobi) other += 2 * (PetscInt64)ilu->nrow;
  return ints * (PetscInt64)sizeof(PetscInt) + value * (kept + ilu->nrow) + other * (PetscInt64)sizeof(PetscScalar);
}

static PetscErrorCode NRASViewFactors_Private(PC pc, PetscViewer viewer)
{
  enum {
    BLOCKS,
    ROWS,
    LEVELS,
    ENTRIES,
    FILLED,
    KEPT,
    MATRIX,
    BYTES,
    SHIFTED,
    BYROWS,
    DEVICE,
    NSUM
  };
  const PC_NRAS    *nras      = (PC_NRAS *)pc->data;
  const PolderIlu  *ilu       = &nras->at[nras->place->device].ilu;
  const NRASCounts *c         = &nras->counts;
  const PetscBool   some      = (PetscBool)(ilu->nblock > 0);
  PetscInt64        sum[NSUM] = {ilu->nblock,
                                 ilu->nrow,
                                 c->levels,
                                 c->entries,
                                 c->filled,
                                 nras->at[nras->place->device].kept.nz + ilu->nrow,
                                 c->matrix,
                                 NRASBytes(nras),
                                 c->nshifted,
                                 nras->cutbyrows,
                                 some && nras->place->device};
  PetscInt          most[3]   = {ilu->largest, some ? -c->smallest : -PETSC_MAX_INT, ilu->deepest}, N;
  PetscReal         shift     = c->shift;
  MPI_Comm          comm      = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, sum, NSUM, MPIU_INT64, MPI_SUM, comm);
  PetscCallAllreduce(MPI_IN_PLACE, most, 3, MPIU_INT, MPI_MAX, comm);
  PetscCallAllreduce(MPI_IN_PLACE, &shift, 1, MPIU_REAL, MPIU_MAX, comm);
  PetscCall(MatGetSize(pc->pmat, &N, NULL));
  if (!sum[BLOCKS]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  %" PetscInt64_FMT " inner blocks of %" PetscInt_FMT " to %" PetscInt_FMT " rows, %.2f times the rows of the matrix\n",
                                   sum[BLOCKS], -most[1], most[0], (double)sum[ROWS] / (double)N));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  levels of a triangular solve: %.1f a block, at most %" PetscInt_FMT "; %.1f rows a level\n",
                                   (double)sum[LEVELS] / (double)sum[BLOCKS], most[2], (double)sum[ROWS] / (double)sum[LEVELS]));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  factors: %.3f times the entries of the diagonal blocks of the processes, stored with %.1f %% more; %.1f bytes a row\n",
                                   sum[MATRIX] ? (double)sum[ENTRIES] / (double)sum[MATRIX] : 0.0, 100.0 * ((double)sum[FILLED] / (double)sum[ENTRIES] - 1),
                                   (double)sum[BYTES] / (double)N));
  if (nras->set.drop > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  entries below %g of their row and column are dropped: %.1f %% of the stored ones are left\n",
                                     (double)nras->set.drop, 100.0 * (double)sum[KEPT] / (double)sum[FILLED]));
  if (sum[SHIFTED])
    PetscCall(PetscViewerASCIIPrintf(viewer, "  blocks with a shifted diagonal: %" PetscInt64_FMT ", by up to %g of the row\n", sum[SHIFTED], (double)shift));
  if (sum[BYROWS]) PetscCall(PetscViewerASCIIPrintf(viewer, "  METIS failed, so the blocks are runs of rows (processes: %" PetscInt64_FMT ")\n", sum[BYROWS]));
  if (sum[DEVICE]) PetscCall(PetscViewerASCIIPrintf(viewer, "  on a GPU (processes: %" PetscInt64_FMT ")\n", sum[DEVICE]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_NRAS(PC pc, PetscViewer viewer)
{
  const PC_NRAS      *nras = (PC_NRAS *)pc->data;
  const NRASSettings *set  = &nras->set;
  PetscBool           ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s form, ILU(%" PetscInt_FMT ") in %s precision, blocks by %s\n", PCNRASForms[set->form], set->levels,
                                   NRASPrecisions[set->single], PCNRASPartitions[nras->keys.mat ? nras->partition : set->partition]));
  if (nras->keys.mat)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  layers of overlap: %" PetscInt_FMT " between processes, %" PetscInt_FMT " between inner blocks\n",
                                     nras->outerlayers, nras->innerlayers));
  if (!set->shift) PetscCall(PetscViewerASCIIPrintf(viewer, "  no shift of the diagonal where pivots fail\n"));
  if (set->jacobi) PetscCall(PetscViewerASCIIPrintf(viewer, "  triangular solves by %" PetscInt_FMT " Jacobi sweeps each\n", set->sweeps));
  PetscCall(PolderRefusalView((PetscObject)pc, viewer));
  if (!nras->keys.mat || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NRASViewFactors_Private(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
