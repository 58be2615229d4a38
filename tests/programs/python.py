"""petsc4py loads the library like any other PETSc program.

/*TEST
   test:
     requires: petsc4py
     nsize: {{1 2}}
     args: -ksp_type cg -pc_type tns -mat_type aijdia
TEST*/
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc

n = 30
A = PETSc.Mat().create()
A.setSizes([n, n])
A.setFromOptions()
A.setUp()
for i in range(*A.getOwnershipRange()):
    A[i, i] = 2.5
    if i > 0:
        A[i, i - 1] = -1
    if i < n - 1:
        A[i, i + 1] = -1
A.assemble()
x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setTolerances(rtol=1e-10)
ksp.setFromOptions()
ksp.solve(b, x)
r = b - A * x
name = A.getType().replace("seq", "").replace("mpi", "")
PETSc.Sys.Print(f"ksp {ksp.getType()}, pc {ksp.getPC().getType()}, mat {name}")
PETSc.Sys.Print("residual ok" if r.norm() < 1e-9 * b.norm() else f"residual {r.norm()}")
