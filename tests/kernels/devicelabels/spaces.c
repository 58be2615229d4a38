/* The labels that the device makes for every kind of space against those of the host. */
#include "labels.h"
#include "vecs.h"
#include "deflation/deflationlabels.h"
#include <polder.h>

/* A 7-point matrix of nx x ny x nz points; field 0: bubbles, 1: layers, 2: jumps nearly everywhere, 3: constant with a few specks, 4: constant
   and some rows alone */
typedef struct {
  PetscInt  n[3];
  int       field;
  PetscBool shuffled;
} Problem;

static PetscReal Phi(const Problem *p, PetscInt cell)
{
  PetscReal r2 = 0, x = 0;

  for (int d = 0; d < 3; ++d, cell /= p->n[d - 1]) {
    x = (cell % p->n[d] + 0.5) / p->n[d];
    r2 += PetscSqr(x - (x < 0.5 ? 0.25 : 0.75));
  }
  return p->field == 1 ? ((PetscInt)(5 * x) % 2 ? 0.5 : -0.5) : 0.15 - PetscSqrtReal(r2);
}

static PetscReal Coefficient(const Problem *p, PetscInt cell)
{
  const unsigned int h = ((unsigned int)cell + 1) * 2654435761u >> 16;

  if (p->field == 2) return PetscPowRealInt(30, (int)(h % 4));
  if (p->field == 3) return h % 97 ? 1 : 1e4;
  if (p->field == 4) return h % 61 ? 1 : 0;
  return Phi(p, cell) > 0 ? 1e3 : 1;
}

static PetscErrorCode ProblemMatrix(const Problem *p, Mat *A)
{
  const PetscInt N = p->n[0] * p->n[1] * p->n[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, N, N, 7, NULL, A));
  for (PetscInt i = 0; i < N; ++i) {
    PetscReal      diagonal = 0, own = Coefficient(p, i);
    const PetscInt row = p->shuffled ? (PetscInt)((PetscInt64)i * 7919 % N) : i;

    for (PetscInt d = 0, stride = 1; d < 3; stride *= p->n[d++]) {
      for (PetscInt side = -1; side <= 1; side += 2) {
        const PetscInt  at = i / stride % p->n[d] + side, j = i + side * stride;
        const PetscReal other = at < 0 || at >= p->n[d] ? 0 : Coefficient(p, j);

        if (other == 0 || own == 0) continue;
        diagonal += 2 / (1 / own + 1 / other);
        PetscCall(MatSetValue(*A, row, p->shuffled ? (PetscInt)((PetscInt64)j * 7919 % N) : j, -2 / (1 / own + 1 / other), INSERT_VALUES));
      }
    }
    PetscCall(MatSetValue(*A, row, row, diagonal ? diagonal : 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The labels of the host, and those of the device with the level set (or the user's labels) there */
static PetscErrorCode CompareSpace(const Problem *p, const char type[], PetscBool grid, PetscBool values, PetscInt count, PetscBool *done, PetscInt *wrong)
{
  PolderDeflationSpace s;
  Mat                  A;
  Vec                  host, device;
  PolderCSR            csr, dcsr;
  PetscInt            *label, *label_d, d, d_d;
  char                 why[sizeof(s->reason)];
  PetscScalar         *v;

  PetscFunctionBeginUser;
  PetscCall(ProblemMatrix(p, &A));
  PetscCall(PolderMatGetCSR(A, &csr));
  dcsr = csr;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(csr.m + 1), csr.ai, &dcsr.ai));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)csr.ai[csr.m], csr.aj, &dcsr.aj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)csr.ai[csr.m], csr.aa, &dcsr.aa));
  PetscCall(CreateVecs(A, &host, NULL));
  PetscCall(VecGetArrayWrite(host, &v));
  for (PetscInt i = 0; i < csr.m; ++i) v[i] = strcmp(type, "user") ? Phi(p, i) : (i % 5 ? PetscSqr(i / 300) * (count ? 100000 : 1) : -1);
  PetscCall(VecRestoreArrayWrite(host, &v));
  PetscCall(VecCreate(PETSC_COMM_SELF, &device));
  PetscCall(VecSetSizes(device, csr.m, csr.m));
  PetscCall(VecSetType(device, VECCUDA));
  PetscCall(VecCopy(host, device));
  PetscCall(PetscMalloc1(csr.m, &label));
  PetscCall(PolderDeviceMalloc(sizeof(*label_d) * (size_t)csr.m, &label_d));
  PetscCall(PolderDeflationSpaceCreate(PETSC_COMM_SELF, &s));
  PetscCall(PolderDeflationSpaceSetType(s, type));
  if (grid) PetscCall(PolderDeflationSpaceSetGrid(s, 3, p->n));
  if (count && strcmp(type, "user")) PetscCall(PolderDeflationSpaceSetCount(s, count));
  s->device = PETSC_TRUE;
  if (values) PetscCall(PetscObjectCompose((PetscObject)A, strcmp(type, "user") ? "levelset" : "deflation_labels", (PetscObject)host));
  PetscCall(PolderDeflationMakeLabels(s, A, &csr, label, &d));
  PetscCall(PetscStrncpy(why, s->reason, sizeof(why)));
  if (values) PetscCall(PetscObjectCompose((PetscObject)A, strcmp(type, "user") ? "levelset" : "deflation_labels", (PetscObject)device));
  PetscCall(PolderDeflationMakeLabelsDevice(s, A, &dcsr, label_d, &d_d, done));
  if (*done) {
    *wrong += d != d_d || strcmp(why, s->reason);
    PetscCall(Compare(csr.m, label, label_d, wrong));
    if (*wrong)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, field %d: %" PetscInt_FMT " labels, on the device %" PetscInt_FMT " (%s; %s)\n", type, p->field, d, d_d, why,
                            s->reason));
  }
  PetscCall(PolderDeflationSpaceDestroy(&s));
  PetscCall(PolderDeviceFree(&label_d));
  PetscCall(PolderDeviceFree(&dcsr.ai));
  PetscCall(PolderDeviceFree(&dcsr.aj));
  PetscCall(PolderDeviceFree(&dcsr.aa));
  PetscCall(PetscFree(label));
  PetscCall(VecDestroy(&host));
  PetscCall(VecDestroy(&device));
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestSpaces(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const char *const types[]    = {"subdomain", "stripe", "plane", "levelset", "levelset_subdomain", "auto", "rank", "none", "user"};
  static const PetscInt    sizes[][3] = {
       {20, 21, 22},
       {40, 30, 1 },
       {7,  1,  1 }
  };

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); ++t) {
    PetscInt  wrong = 0;
    PetscBool done;

    for (int field = 0; field < 5; ++field) {
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); ++k) {
        for (int how = 0; how < 6; ++how) { // grid given or not, level set given or not, number of vectors given or chosen
          const PetscBool needsgrid = (PetscBool)(t < 3), values = (PetscBool)(how & 1 || !strcmp(types[t], "user"));
          const Problem   p = {
              {sizes[k][0], sizes[k][1], sizes[k][2]},
              field, PETSC_FALSE
          };

          PetscCall(CompareSpace(&p, types[t], (PetscBool)(needsgrid || how >> 1 == 1), values, how >> 1 == 2 ? PetscMin(9, sizes[k][2]) : 0, &done, &wrong));
          if (!done && field < 2) wrong++; // fields that leave a stencil on a grid that can be seen
        }
      }
    }
    PetscCall(Report(types[t], wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kinds that must be left to the host */
PetscErrorCode TestLeft(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  const Problem shuffled = {
    {10, 11, 12},
    0, PETSC_TRUE
  };
  PetscBool done;
  PetscInt  wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(CompareSpace(&shuffled, "auto", PETSC_FALSE, PETSC_TRUE, 0, &done, &wrong));
  wrong += done;
  PetscCall(CompareSpace(&shuffled, "partition", PETSC_FALSE, PETSC_TRUE, 0, &done, &wrong));
  wrong += done;
  PetscCall(CompareSpace(&shuffled, "levelset", PETSC_FALSE, PETSC_FALSE, 0, &done, &wrong));
  wrong += !done;
  PetscCall(Report("left to the host", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
