static char help[] = "The incompressible Navier-Stokes equations by the SIMPLE algorithm: a momentum predictor, "
                     "and a pressure correction with a new matrix at each step.\n"
                     "  -simple_flow channel|cavity : past cylinders, or under a moving lid; finite volumes on a staggered, stretched grid\n"
                     "  -simple_n <nx,ny,nz> (nz = 1: in two dimensions), -simple_lengths <lx,ly,lz>, -simple_stretch <0: equal widths>\n"
                     "  -simple_cylinders <x,y,radius,...>, -simple_blocks <x-,x+,y-,y+,z-,z+,...> : obstacles, of whole cells\n"
                     "  -simple_reynolds <of a unit length>, -simple_central <share of central differences in what is convected>\n"
                     "  -simple_steps <n>, -simple_stop <imbalance>, -simple_sweeps <of the predictor>, -simple_numbering natural|random\n"
                     "  -simple_relax <velocity>, -simple_relax_pressure <share>, -simple_consistent <bool> : SIMPLEC\n"
                     "What is reported:\n"
                     "  -simple_monitor, -simple_table, -simple_vtk <file.vts>, -simple_picture <file.png>, -simple_check_<figure> <low,high>\n\n";

/*
  An ordinary PETSc program: it knows nothing of Polder and gets the solver of its pressure systems by options. For instance

    ./navierstokes -simple_table -pc_type gamg
    ./navierstokes -simple_table -dll_append /path/libpolder.so -options_file options/pressure_correction.opts
    ./navierstokes -simple_flow cavity -simple_n 64,64,1 -simple_steps 500 -simple_stop 1e-6 -dll_append /path/libpolder.so -pc_type pamg

  One step (Patankar, Numerical Heat Transfer and Fluid Flow, 1980): with the pressure p of the step before, the predictor solves
    (a/r) u = sum a_nb u_nb + b + (1 - r) (a/r) u_old + A (p_below - p_above)
  for each velocity component by Jacobi sweeps, and then, with d = r A / a (SIMPLEC: A / (a/r - sum a_nb)), the pressure correction q solves
    sum over faces  d A (q - q_nb) = what flows into the cell and not out of it
  so that u += d (q_below - q_above) is free of divergence. The matrix follows the flow through a, and its pattern stays.

  Velocities live on the lower faces of the cells; only cells that fluid reaches are unknowns of the pressure, in the numbering of their process.
  Neumann walls all around, the outlet included, whose velocity is that before it, shifted to the mass of the inlet: constants are the null space.
*/

#include "navierstokes/navierstokes.h"

static const char *const FigureNames[FIGURES] = {"continuity", "left", "energy", "pressure", "u_min", "v_min", "v_max", "steps", "iterations"};

static PetscErrorCode Run(Flow *f)
{
  PetscReal      first = 0.0, now = PETSC_MAX_REAL;
  PetscLogDouble t[2];

  PetscFunctionBegin;
  f->its[0] = PETSC_MAX_INT;
  PetscCall(PetscTime(&t[0]));
  for (PetscInt step = 1; step <= f->steps && now > f->stop; ++step) {
    PetscCall(FlowPredict(f));
    PetscCall(FlowContinuity(f, &now));
    if (step == 1) first = now;
    PetscCheck(!PetscIsInfOrNanReal(now) && now < 1e10, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
               "The flow diverges at step %" PetscInt_FMT ": use smaller -simple_relax, -simple_central or -simple_reynolds", step);
    PetscCall(FlowFillPressure(f));
    PetscCall(FlowSolvePressure(f));
    PetscCall(FlowCorrect(f));
    f->figure[FIG_STEPS] = (PetscReal)step;
    if (f->monitor) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "step %" PetscInt_FMT ": imbalance %.3e\n", step, (double)now));
  }
  PetscCall(PetscTime(&t[1]));
  f->all                    = t[1] - t[0];
  f->figure[FIG_CONTINUITY] = now;
  f->figure[FIG_ITERATIONS] = (PetscReal)f->its[2];
  PetscCall(FlowContinuity(f, &f->figure[FIG_LEFT]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " cells, %" PetscInt_FMT " steps: imbalance of the predictor from %.2e to %.2e, %.2e after the correction\n", f->total,
                        (PetscInt)f->figure[FIG_STEPS], (double)first, (double)now, (double)f->figure[FIG_LEFT]));
  PetscFunctionReturn(0);
}

/* -simple_check_<figure> low,high turns a bad figure into an error */
static PetscErrorCode Check(const Flow *f)
{
  PetscFunctionBegin;
  for (int i = 0; i < FIGURES; ++i) {
    char      option[64];
    PetscReal range[2];
    PetscInt  two = 2;
    PetscBool set;

    PetscCall(PetscSNPrintf(option, sizeof(option), "-simple_check_%s", FigureNames[i]));
    PetscCall(PetscOptionsGetRealArray(NULL, NULL, option, range, &two, &set));
    if (!set) continue;
    PetscCheck(two == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s takes two numbers: low,high", option);
    PetscCheck(f->figure[i] >= range[0] && f->figure[i] <= range[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s is %.10g, not within %.10g to %.10g", FigureNames[i],
               (double)f->figure[i], (double)range[0], (double)range[1]);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s within %.10g to %.10g\n", FigureNames[i], (double)range[0], (double)range[1]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(Flow *f)
{
  const PetscInt steps = (PetscInt)f->figure[FIG_STEPS];
  char           name[PETSC_MAX_PATH_LEN];
  PetscBool      set;

  PetscFunctionBegin;
  PetscCall(FlowMeasure(f));
  if (f->table) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "pressure systems %" PetscInt_FMT " iterations %" PetscInt_FMT " %.1f %" PetscInt_FMT
                          " set-up %.4f s solve %.4f s, all steps %.4f s\n",
                          steps, f->its[0], (double)f->its[1] / steps, f->its[2], f->setup, f->solve, f->all));
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-simple_vtk", name, sizeof(name), &set));
  if (set) PetscCall(FlowWriteVTK(f, name));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-simple_picture", name, sizeof(name), &set));
  if (set) PetscCall(FlowWritePicture(f, name));
  PetscCall(Check(f));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Flow *f;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&f));
  PetscCall(FlowGetOptions(f));
  PetscCall(FlowCreateGrid(f));
  PetscCall(FlowNumberCells(f));
  PetscCall(FlowSetStart(f));
  PetscCall(FlowCreatePressure(f));
  PetscCall(Run(f));
  PetscCall(Report(f));
  PetscCall(KSPDestroy(&f->ksp));
  PetscCall(MatDestroy(&f->A));
  PetscCall(VecDestroy(&f->q));
  PetscCall(VecDestroy(&f->b));
  PetscCall(VecDestroy(&f->x));
  PetscCall(VecDestroy(&f->g));
  PetscCall(VecDestroy(&f->cell));
  PetscCall(DMDestroy(&f->celldm));
  PetscCall(DMDestroy(&f->dm));
  PetscCall(PetscFree2(f->coef, f->next));
  for (int d = 0; d < 3; ++d) {
    f->width[d]--;
    PetscCall(PetscFree2(f->face[d], f->width[d]));
  }
  PetscCall(PetscFree(f));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # the cavity of Ghia, Ghia and Shin (1982), Re = 100: u from -0.2109, v from -0.2453 to 0.1753 through the middle, on their grid of 129^2. Grids of
  # 32^2, 64^2 and 128^2 lead here to -0.214, -0.254 and 0.179
  test:
    suffix: cavity
    nsize: {{1 3}}
    args: -simple_flow cavity -simple_n 64,64,1 -simple_stretch 0 -simple_relax 0.95 -simple_sweeps 20 -simple_steps 400 -simple_stop 1e-5 -pc_type pamg
    args: -simple_check_u_min -0.2141,-0.2109 -simple_check_v_min -0.2541,-0.2453 -simple_check_v_max 0.1753,0.1797
    args: -simple_check_continuity 0,1e-5 -simple_check_steps 150,220 -simple_check_iterations 3,6
    filter: grep within

  # on a grid stretched threefold the same
  test:
    suffix: stretched
    args: -simple_flow cavity -simple_n 48,48,1 -simple_stretch 1.2 -simple_relax 0.95 -simple_sweeps 20 -simple_steps 400 -simple_stop 1e-5 -pc_type pamg
    args: -simple_check_u_min -0.2141,-0.2109 -simple_check_v_min -0.2541,-0.2453 -simple_check_v_max 0.1753,0.1797
    filter: grep within

  # exact pressure corrections: one flow, whatever the processes, the numbering and the refresh, and no mass is lost
  testset:
    nsize: {{1 3}}
    args: -simple_n 24,12,10 -simple_steps 8 -ksp_rtol 1e-11 -pc_type pamg -pc_pamg_coarse_limit 50 -pc_pamg_gather 500
    args: -simple_check_energy 2.02520342,2.02520344 -simple_check_left 0,1e-10
    filter: grep within
    output_file: output/navierstokes_same.out

    test:
      suffix: same
      args: -simple_numbering {{natural random}} -pc_pamg_reuse {{no yes}}

    test:
      suffix: same_icc
      args: -pc_type bjacobi -sub_pc_type icc

  # two digits of the pressure correction a step are enough
  testset:
    nsize: {{1 3}}
    filter: grep within

    test:
      suffix: channel
      args: -simple_numbering {{natural random}} -pc_type pamg -pc_pamg_reuse {{no yes}}
      args: -simple_check_continuity 0,5e-4 -simple_check_left 0,2e-5
       args: -simple_check_energy 2.1174,2.1178 -simple_check_pressure 4.974,4.978 -simple_check_iterations 3,9

    test:
      suffix: simple
      args: -simple_consistent no -pc_type pamg -simple_check_continuity 0,5e-4 -simple_check_energy 2.1174,2.1178 -simple_check_pressure 4.974,4.978

  # with the options of the file, none of which is left unused
  test:
    suffix: options
    nsize: 2
    args: -options_file ${POLDER_EXAMPLES}/options/pressure_correction.opts -simple_check_continuity 0,5e-4 -simple_check_iterations 3,9 -options_left
    filter: grep -e within -e unused

  # far from the inlet the parabola between two plates, 3/2 the mean velocity in its middle: 1.2 times its energy, and 12 / Re of pressure a length
  test:
    suffix: plates
    args: -simple_blocks 0,1,2,3,0,1 -simple_n 40,32,1 -simple_lengths 8,1,1 -simple_reynolds 1 -simple_steps 300
     args: -simple_stop 1e-7 -simple_sweeps 20 -simple_relax 0.97 -pc_type pamg
    args: -simple_check_energy 4.77,4.8 -simple_check_pressure 95.5,97
    filter: grep within

  # what a strip of wall along the channel cuts off is no part of the system
  test:
    suffix: pocket
    nsize: {{1 3}}
    args: -simple_n 32,16,1 -simple_blocks 1,2,0.5,1,0,1,0,3,0.8,0.9,0,1 -pc_type pamg
    filter: grep -o "^[0-9]* cells, [0-9]* steps"

  test:
    suites: valgrind(+1)
    suffix: files
    nsize: {{1 3}}
    args: -simple_n 32,12,4 -simple_steps 10 -ksp_rtol 1e-10 -pc_type pamg -simple_vtk flow.vts -simple_picture flow.png
    filter: echo 'timestep="0" file="flow.vts"' >flow.pvd && python3 ${POLDER_TESTS}/data/vts.py flow.pvd &&
      python3 ${POLDER_TESTS}/data/png.py flow.png | cut -d " " -f 1-3

  testset:
    load: no
    nsize: {{1 2}}

    test:
      suffix: no_cells
      args: -simple_n 8,-8,8
      fails: -simple_n must be at least 2,2,1, not -8 in direction 1

    test:
      suffix: two_sizes
      args: -simple_n 8,8
      fails: -simple_n takes three numbers

    test:
      suffix: too_many_cells
      requires: !64bit_indices
      args: -simple_n 2000,2000,2000
      fails: -simple_n asks for more cells than

    test:
      suffix: no_length
      args: -simple_lengths 1,0,1
      fails: -simple_lengths must be positive and finite, not 0.

    test:
      suffix: no_fluid
      args: -simple_cylinders 1.5,0.5,9
      fails: The obstacles leave no cell to the fluid at the inlet

    test:
      suffix: no_lid
      args: -simple_flow cavity -simple_blocks 0,1,0.5,1,0,1
      fails: The obstacles leave no cell to the fluid under the lid

    test:
      suffix: one_cell
      args: -simple_flow cavity -simple_n 3,3,1 -simple_stretch 0 -simple_blocks 0,1,0,0.7,0,1,0,0.7,0,1,0,1
      fails: The obstacles leave one cell to the fluid

    test:
      suffix: no_way
      args: -simple_blocks 1,1.2,0,1,0,1
      fails: The obstacles leave no way from the inlet to the outlet

    test:
      suffix: half_block
      args: -simple_blocks 1,1.2,0,1
      fails: -simple_blocks takes six numbers for each

    test:
      suffix: no_radius
      args: -simple_cylinders 1,0.5,-0.1
      fails: The radius of a cylinder must be positive, not -0.1

    test:
      suffix: no_relaxation
      args: -simple_relax 1
      fails: -simple_relax is between 0 and 1, not 1.

    test:
      suffix: no_iterations
      args: -ksp_max_it 2 -pc_type jacobi
      fails: The pressure system was not solved: DIVERGED_ITS

TEST*/
