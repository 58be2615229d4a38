static char help[] = "The sort of keys with their positions, on keys of all spans, against its definition.\n\n";

#include "random.h"
#include "core/compat.h"
#include "kernels/outer.h"

unsigned int seed = 29;

typedef enum {
  ANY,
  GROUPS, /* runs of equal keys */
  BOXES,  /* of 2 x 2 cells in lines of 34 */
  KINDS
} Kind;

/* n keys in least .. least + span */
static PetscErrorCode TestSort(PetscInt n, PetscInt least, PetscInt span, Kind kind)
{
  PetscInt *given, *key, *order, *work;
  PetscInt  wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(n, &given, n, &key, n, &order, 3 * n, &work));
  for (PetscInt k = 0; k < n; ++k) {
    given[k] = least + (span ? (Next(1 << 12) << 12 | Next(1 << 12)) % span : 0);
    if (kind == GROUPS && k % 4) given[k] = given[k - 1];
    if (kind == BOXES) given[k] = least + PetscMin(span, k % 34 / 2 + k / 68 * 17);
    key[k] = given[k];
  }
  if (n > 1) given[n - 1] = key[n - 1] = least + span;
  PolderIndexSort_Host(n, key, order, work);
  for (PetscInt k = 0; k < n; ++k) {
    wrong += order[k] < 0 || order[k] >= n || key[k] != given[order[k]];
    wrong += k && (key[k] < key[k - 1] || (key[k] == key[k - 1] && order[k] <= order[k - 1]));
  }
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " of %" PetscInt_FMT " keys from %" PetscInt_FMT " on are wrong, span %" PetscInt_FMT,
             wrong, n, least, span);
  PetscCall(PetscFree4(given, key, order, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const PetscInt sizes[] = {0, 1, 2, 3, 4, 5, 31, 32, 33, 1000, 4096, 100000}, spans[] = {0, 1, 2, 3, 30, 1000, 65535, 65536, 1 << 24, PETSC_MAX_INT};
  static const PetscInt least[] = {0, -1, 17, PETSC_MIN_INT};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(spans); ++p) {
      for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(least); ++l) {
        if (least[l] > PETSC_MAX_INT - spans[p]) continue;
        for (int kind = ANY; kind < KINDS; ++kind) PetscCall(TestSort(sizes[s], least[l], spans[p], (Kind)kind));
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "keys are in order, and positions of equal keys ascend\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:

TEST*/
