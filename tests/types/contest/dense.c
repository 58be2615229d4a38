/* Dense references of the preconditioners of contest.c. */
#include "dense.h"
#include <math.h>
#include <string.h>

#define N DENSE_N

static double Coefficient(int seed, int i, int j)
{
  return ((i + j) * (seed + 3)) % 7 ? 1 + 0.1 * ((i * j + seed) % 5) : 300;
}

void DenseGrid(int seed, PetscBool thin, Dense *A)
{
  const int near[] = {1, 4, 20}, size[] = {4, 5, 6};

  memset(A, 0, sizeof(*A));
  for (int i = 0; i < N; ++i) {
    A->has[i][i] = 1;
    A->a[i][i] += 0.5 + 0.25 * (i % 3);
    for (int d = 0; d < 3; ++d) {
      const int j = i + near[d];

      if (i / near[d] % size[d] == size[d] - 1 || (thin && d == 0)) continue;
      A->has[i][j] = A->has[j][i] = 1;
      A->a[i][j] = A->a[j][i] = -Coefficient(seed, i, j);
      A->a[i][i] += Coefficient(seed, i, j);
      A->a[j][j] += Coefficient(seed, i, j);
    }
  }
}

double DenseRhs(PetscInt i)
{
  return 1 + (i * 37 % 11) - 0.3 * (i % 5);
}

/* v <- A(J, J)^-1 v for k rows J, by elimination with pivoting */
static void Solve(const Dense *A, int k, const int J[], double v[])
{
  static double a[N][N];

  for (int r = 0; r < k; ++r) {
    for (int c = 0; c < k; ++c) a[r][c] = A->a[J ? J[r] : r][J ? J[c] : c];
  }
  for (int p = 0; p < k; ++p) {
    int best = p;

    for (int r = p; r < k; ++r) best = fabs(a[r][p]) > fabs(a[best][p]) ? r : best;
    for (int c = 0; c < k; ++c) {
      const double t = a[p][c];

      a[p][c]    = a[best][c];
      a[best][c] = t;
    }
    const double t = v[p];
    v[p]           = v[best];
    v[best]        = t;
    for (int r = p + 1; r < k; ++r) {
      const double f = a[r][p] / a[p][p];

      for (int c = p; c < k; ++c) a[r][c] -= f * a[p][c];
      v[r] -= f * v[p];
    }
  }
  for (int p = k - 1; p >= 0; --p) {
    for (int c = p + 1; c < k; ++c) v[p] -= a[p][c] * v[c];
    v[p] /= a[p][p];
  }
}

void DenseApply(const Dense *M, PetscBool inverse, double v[])
{
  double w[N] = {0};

  if (!inverse) {
    Solve(M, N, NULL, v);
    return;
  }
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) w[i] += M->a[i][j] * v[j];
  }
  memcpy(v, w, sizeof(w));
}

/* M = (D + L) D^-1 (D + U): d[] the diagonal, F the entries, key[] the order (and then that of the rows) */
static void Product(const Dense *F, const double d[], const int key[], Dense *M)
{
  memset(M, 0, sizeof(*M));
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      for (int k = 0; k < N; ++k) {
        const double l = k == i ? d[i] : key[k] * N + k < key[i] * N + i ? F->a[i][k] : 0, u = k == j ? d[j] : key[k] * N + k < key[j] * N + j ? F->a[k][j] : 0;

        M->a[i][j] += l * u / d[k];
      }
    }
  }
}

/* Greedy colours by the pattern, of the rows with in[] (NULL: all) */
static void Colour(const Dense *A, const int in[], int colour[])
{
  for (int i = 0; i < N; ++i) colour[i] = -1;
  for (int i = 0; i < N; ++i) {
    PetscBool taken = PETSC_TRUE;

    if (in && !in[i]) continue;
    for (int c = 0; taken; c += taken) {
      taken = PETSC_FALSE;
      for (int j = 0; j < N; ++j) taken = (PetscBool)(taken || (j != i && A->has[i][j] && colour[j] == c));
      if (!taken) colour[i] = c;
    }
  }
}

/* The pattern of A^q */
static void Power(const Dense *A, int q, Dense *P)
{
  static Dense T;

  *P = *A;
  for (int k = 1; k < q; ++k) {
    T = *P;
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) {
        for (int l = 0; l < N; ++l) P->has[i][j] = (char)(P->has[i][j] || (T.has[i][l] && A->has[l][j]));
      }
    }
  }
}

/* M = (D + L) D^-1 (D + L^T) in the order of greedy colours */
void DenseMCSGS(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse)
{
  int    colour[N];
  double d[N];

  (void)parameter;
  Colour(A, NULL, colour);
  for (int i = 0; i < N; ++i) d[i] = A->a[i][i];
  Product(A, d, colour, M);
  *inverse = PETSC_FALSE;
}

void DenseIP(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse)
{
  static Dense K;
  double       s[N];

  memset(&K, 0, sizeof(K));
  memset(M, 0, sizeof(*M));
  for (int i = 0; i < N; ++i) s[i] = parameter[0] != 0 ? 1 / sqrt(A->a[i][i]) : 1;
  for (int i = 0; i < N; ++i) {
    K.a[i][i] = 1;
    for (int j = 0; j < i; ++j) K.a[i][j] = -s[i] * A->a[i][j] * s[j] / (s[j] * A->a[j][j] * s[j]);
  }
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      for (int k = 0; k < N; ++k) M->a[i][j] += s[i] * K.a[i][k] * K.a[j][k] * s[j];
      if (parameter[1] != 0 && !A->has[i][j]) M->a[i][j] = 0;
    }
  }
  *inverse = PETSC_TRUE;
}

void DenseFSAI(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse)
{
  static Dense P, G;

  Power(A, (int)parameter[0], &P);
  memset(&G, 0, sizeof(G));
  memset(M, 0, sizeof(*M));
  for (int i = 0; i < N; ++i) {
    int    J[N], k = 0;
    double y[N] = {0};

    for (int j = 0; j <= i; ++j) {
      if (P.has[i][j]) J[k++] = j;
    }
    y[k - 1] = 1;
    Solve(A, k, J, y);
    for (int r = 0; r < k; ++r) G.a[i][J[r]] = y[r] / sqrt(y[k - 1]);
  }
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      for (int k = 0; k < N; ++k) M->a[i][j] += G.a[k][i] * G.a[k][j];
    }
  }
  *inverse = PETSC_TRUE;
}

/* D_i = a_ii - sum over k < i of a_ik (a_ik + omega sum over the other later neighbours j of k, a_kj) / D_k, for stencils without triangles */
void DenseMIC(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse)
{
  static Dense B;
  int          key[N] = {0}, size, block, ranks;
  double       d[N];

  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  size  = N / ranks; // rows of a process
  block = (size - 1) / (int)parameter[1] + 1;
  B     = *A;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      if (i / size != j / size || i % size / block != j % size / block) B.a[i][j] = 0;
    }
  }
  for (int i = 0; i < N; ++i) {
    d[i] = B.a[i][i];
    for (int k = 0; k < i; ++k) {
      for (int j = k + 1; j < N; ++j) d[i] -= B.a[i][k] * (j == i ? 1 : parameter[0]) * B.a[k][j] / d[k];
    }
  }
  Product(&B, d, key, M);
  *inverse = PETSC_FALSE;
}

/* F <- incomplete factors with fill of level p in the order key[]; rows with key[] >= end are not eliminated */
static void Factor(const Dense *A, const int key[], int end, int p, Dense *F, double d[])
{
  static int level[N][N];
  int        order[N], n = 0;

  for (int c = 0; n < N; ++c) {
    for (int i = 0; i < N; ++i) {
      if (key[i] == c) order[n++] = i;
    }
  }
  *F = *A;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) level[i][j] = A->has[i][j] ? 0 : 1000000;
  }
  for (int phase = 0; phase < 2; ++phase) { // the pattern, and then the values
    for (int a = 0; a < N; ++a) {
      const int k = order[a];

      d[k] = F->a[k][k];
      for (int b = a + 1; b < N && key[k] < end; ++b) {
        for (int c = a + 1; c < N; ++c) {
          const int i = order[b], j = order[c], l = level[i][k] + level[k][j] + 1;

          if (level[i][k] > p || level[k][j] > p) continue;
          if (!phase) level[i][j] = l < level[i][j] ? l : level[i][j];
          else if (level[i][j] <= p) F->a[i][j] -= F->a[i][k] * F->a[k][j] / d[k];
        }
      }
    }
  }
}

void DenseILUC(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse)
{
  static Dense P, F;
  int          colour[N];
  double       d[N];

  Power(A, (int)parameter[1], &P);
  Colour(&P, NULL, colour);
  Factor(A, colour, 1000, (int)parameter[0], &F, d);
  Product(&F, d, colour, M);
  *inverse = PETSC_FALSE;
}

/* The sets are eliminated by M = [D F; E C] with the exact Schur complement; then the last block gets its M */
void DenseMEILU(const Dense *A, const double parameter[], Dense *M, PetscBool *inverse)
{
  static Dense S, F;
  int          key[N] = {0}, colour[N], left[N];
  const int    last = (int)parameter[0], sets = (int)parameter[1];
  double       d[N];

  S = *A;
  for (int i = 0; i < N; ++i) left[i] = 1;
  for (int set = 0; set < sets; ++set) {
    Colour(&S, left, colour);
    for (int k = 0; k < N; ++k) {
      if (colour[k] != 0) continue;
      left[k] = 0;
      key[k]  = set;
      for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
          if (!left[i] || !left[j] || colour[i] == 0 || colour[j] == 0 || !S.has[i][k] || !S.has[k][j]) continue;
          S.has[i][j] = 1;
          S.a[i][j] -= S.a[i][k] * S.a[k][j] / S.a[k][k];
        }
      }
    }
  }
  Colour(&S, left, colour);
  for (int i = 0; i < N; ++i) {
    if (left[i]) key[i] = sets + (last ? colour[i] : 0);
    for (int j = 0; j < N; ++j) {
      if (i == j || last || !left[i] || !left[j]) continue;
      S.a[i][j]   = 0;
      S.has[i][j] = 0;
    }
  }
  F = S;
  for (int i = 0; i < N; ++i) d[i] = S.a[i][i];
  if (last == 2) { // ILU(0) of the last block alone
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) {
        if (i != j && (!left[i] || !left[j])) S.has[i][j] = 0;
      }
    }
    static Dense T;

    Factor(&S, key, 1000, 0, &T, d);
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) {
        if (left[i] && left[j]) F.a[i][j] = T.a[i][j];
      }
    }
  }
  Product(&F, d, key, M);
  *inverse = PETSC_FALSE;
}
