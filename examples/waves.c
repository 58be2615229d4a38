static char help[] = "Waves and ships in shallow water: the linear Variational Boussinesq model on a rectangular grid, a frame each 0.05 s.\n"
                     "The sea:\n"
                     "  -waves_bathymetry flat|harbour|river|bay|port : each brings sizes, edges, ships and waves, which the options below override\n"
                     "  -waves_relief <NetCDF file of heights over latitude and longitude>, -waves_relief_variable <name>, "
                     "-waves_window <west,east,south,north>\n"
                     "  -waves_n <nx,ny>, -waves_lengths <lx,ly>, -waves_depth <of flat>, -waves_min_depth <below it, land is dry>,\n"
                     "  -waves_max_depth <more is cut off>, -waves_tide <height,period>, -waves_tide_every <frames>\n"
                     "  -waves_model parabolic|cosh, -waves_wavelength <of cosh>, -waves_current <u,v>\n"
                     "  -waves_edges <wall|open|incoming, one or west,east,south,north>, -waves_edge_width <of open edges>\n"
                     "What moves it:\n"
                     "  -waves_start rest|hump|mode|waves, -waves_mode <half waves in x and y>, -waves_incoming <significant height,peak period,direction>\n"
                     "  -waves_components <n>, -waves_ships <x,y,u,v,length,width,draft of each>, -waves_ship_shape ellipse|bathtub\n"
                     "  -waves_frames <n>, -waves_dt <s>, -waves_filter <share>, -waves_rows <that a thread of a GPU goes through, 0: by size>\n"
                     "What is reported:\n"
                     "  -waves_picture <every so many frames, the last included>, -waves_picture_name <prefix>, -waves_picture_scale <light>\n"
                     "  -waves_vtk <every so many frames>, -waves_vtk_name <prefix>\n"
                     "  -waves_checksum, -waves_profile, -waves_histogram, -waves_check_iterations <n>, -waves_check_dispersion <share>, "
                     "-waves_check_energy <drift>,\n"
                     "  -waves_check_left <share of the energy>, -waves_check_height <share>, -waves_check_dry,\n"
                     "  -waves_check_twin <bound for differences between GPU and host>, -waves_check_copies\n"
                     "  -waves_realtime_search : instead of one sea, the largest one of its kind that holds -waves_realtime_rate <20> frames a second\n"
                     "  -waves_realtime_assume <ns> : as if a frame took so many nanoseconds a node, to see what the search does\n"
                     "  -waves_realtime_room <nodes> : as if there were memory for so many\n\n";

/*
  An ordinary PETSc program: it knows nothing of Polder and gets its solver by options. For instance

    ./waves -waves_bathymetry bay -waves_frames 1000 -waves_picture 20 -waves_profile -pc_type icc
    mpiexec -n 4 ./waves -waves_bathymetry port -waves_profile -dll_append /path/libpolder.so -options_file options/waves.opts
    ./waves -waves_relief etopo5.cdf -waves_window -5,9,49,56 -waves_max_depth 200 -waves_start hump -waves_dt 4 -waves_frames 4000 -waves_vtk 50

  With -dm_vec_type cuda and a matrix type that runs on the GPU, all of a frame does.

  The unknowns are the water level zeta, the potential phi at the surface and psi, the share of the vertical shape f(z) in the potential:

    zeta_t + div(zeta U + h grad phi - h D grad psi) = 0
    phi_t  + U . grad phi + g zeta                   = P
    M psi  + div(h D grad phi - N grad psi)          = 0

  with D = -(1/h) int f, M = int f'^2, N = int f^2 over the depth, and P = -(pressure of the ships) / density. Finite volumes around the nodes,
  leapfrog in time, and one solve of the third equation, S psi = b, for each frame.
*/

#include "waves/waves.h"

int main(int argc, char **argv)
{
  Sea      *s;
  PetscBool search = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscNew(&s));
  PetscCall(SeaRegister());
  PetscCall(SeaGetOptions(s));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-waves_realtime_search", &search, NULL));
  if (search) PetscCall(SeaRealTime(s));
  else PetscCall(SeaRun(s));
  PetscCall(ReliefDestroy(&s->relief));
  PetscCall(PetscFree(s));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # a standing wave has the frequency of the model, within 1 %
  testset:
    load: no
    args: -waves_start mode -waves_n 100,40 -waves_lengths 495,195 -waves_frames 500 -waves_filter 0 -pc_type jacobi -waves_check_dispersion 0.01
    filter: grep dispersion
    output_file: output/waves_dispersion.out

    test:
      suffix: dispersion
      args: -waves_mode {{6,0 0,4 7,5}} -waves_model {{parabolic cosh}}

    test:
      suffix: dispersion_shallow
      nsize: 2
      args: -waves_mode 4,1 -waves_depth 5

  # the scheme conserves energy up to its error in time, over a shoal, along quays, in a current
  testset:
    load: no
    args: -waves_start hump -waves_edges wall -waves_frames 600 -waves_filter 0 -pc_type jacobi -waves_check_energy 0.002
    filter: grep energy
    output_file: output/waves_energy.out

    test:
      suffix: energy
      nsize: {{1 2}}
      args: -waves_n 60,60

    test:
      suffix: energy_current
      args: -waves_n 60,60 -waves_current 3,1 -waves_model cosh

    test:
      suffix: energy_harbour
      args: -waves_bathymetry harbour -waves_n 60,120 -waves_ships 0,0,1,0,1,1,0

  # open edges let the waves out
  test:
    suffix: open
    load: no
    args: -waves_start hump -waves_edges open -waves_depth 5 -waves_n 61,61 -waves_lengths 600,600 -waves_frames 1600 -pc_type jacobi -waves_check_left 0.05
    filter: grep energy

  # incoming waves have their height
  test:
    suffix: height
    load: no
    args: -waves_n 161,4 -waves_lengths 800,15 -waves_edges incoming,open,wall,wall -waves_incoming 1.5,8,0
     args: -waves_components 12 -waves_dt 0.1 -waves_frames 5000
      -ksp_rtol 1e-4 -pc_type jacobi -waves_check_height 0.1
    filter: grep height

  # the same on any number of processes, whatever moves
  testset:
    load: no
    nsize: {{1 3}}
    args: -waves_checksum -waves_check_dry -ksp_rtol 1e-12 -pc_type jacobi -waves_frames 60
    filter: grep -e checksum -e dry

    test:
      suffix: harbour
      args: -waves_bathymetry harbour -waves_n 61,121

    test:
      suffix: river
      args: -waves_bathymetry river -waves_n 126,51 -waves_current 0.5,0 -waves_dt 0.1

    test:
      suffix: bay
      args: -waves_bathymetry bay -waves_n 101,63 -waves_dt 0.2 -waves_model cosh

    test:
      suffix: port
      args: -waves_bathymetry port -waves_n 101,63 -waves_dt 0.2

  # few iterations, whatever the size
  testset:
    load: no
    args: -waves_bathymetry bay -waves_frames 40 -ksp_rtol 1e-5
    filter: grep "at most .* iterations"

    test:
      suffix: iterations_icc
      args: -pc_type icc -waves_check_iterations 16

    test:
      suffix: iterations_jacobi
      args: -pc_type jacobi -waves_check_iterations 50

  test:
    suffix: iterations_rrb
    nsize: {{1 2}}
    args: -waves_bathymetry bay -waves_frames 40 -ksp_rtol 1e-5 -pc_type rrb -waves_check_iterations 7
    filter: grep "at most .* iterations"

  testset:
    args: -waves_bathymetry bay -waves_frames 80 -ksp_rtol 1e-5 -pc_type rrb

    # how many frames took so many iterations
    test:
      suffix: histogram
      args: -waves_start waves -waves_histogram
      filter: awk '/^ +[0-9]+ +[0-9]+$/ {frames += $2; if ($1 < 3 || $1 > 8) print}  END {print frames, "frames"}'

    # a tide of 8 m every 20 s: the values of the preconditioner follow the depth; without that it takes 90 iterations
    test:
      suffix: tide_iterations
      nsize: {{1 2}}
      args: -waves_start waves -waves_tide 8,20 -waves_tide_every 10 -waves_check_iterations 8 -waves_check_dry
      filter: grep -e "at most .* iterations a" -e dry

  # the depth with the tide is the depth
  testset:
    load: no
    args: -waves_start hump -waves_edges open -waves_n 60,50 -waves_frames 40 -pc_type jacobi -ksp_rtol 1e-12 -waves_checksum
    filter: grep checksum
    output_file: output/waves_tide_depth.out

    test:
      suffix: tide_none
      args: -waves_depth 30

    test:
      suffix: tide_depth
      nsize: {{1 2}}
      args: -waves_depth 20 -waves_tide 10,1e12 -waves_tide_every 7

  # shores that fall dry and are flooded again
  test:
    suffix: tide_shores
    load: no
    nsize: {{1 3}}
    args: -waves_bathymetry harbour -waves_n 61,121 -waves_tide 1.5,4 -waves_tide_every 5 -waves_frames 60
     args: -waves_checksum -waves_check_dry -pc_type jacobi -ksp_rtol 1e-12
    filter: grep -e checksum -e dry

  # the loops on the device give what those on the host give, node by node
  testset:
    load: no
    requires: gpu
    args: -waves_frames 45 -pc_type jacobi -waves_check_twin 1e-13
    filter: grep agree
    output_file: output/waves_twin.out

    test:
      suffix: twin
      nsize: {{1 3}}
      args: -waves_bathymetry harbour -waves_n {{61,121 33,64}} -waves_tide 1.5,2 -waves_tide_every 5 -waves_start waves

    test:
      suffix: twin_current
      nsize: {{1 2}}
      args: -waves_bathymetry river -waves_n 126,51 -waves_current 0.5,0 -waves_dt 0.1 -waves_model cosh -waves_filter {{0 0.01}}
       -waves_rows {{0 7}}

    test:
      suites: memcheck racecheck
      suffix: twin_small
      args: -waves_n {{3,3 4,17 257,3}} -waves_rows {{0 2}} -waves_edges incoming,open,incoming,wall -waves_incoming 1,60,30
       -waves_components 100 -waves_start hump

    test:
      suffix: twin_bay
      args: -waves_bathymetry bay -waves_rows {{0 16}}

  # frames on the GPU copy nothing as long as a vector, new values of the matrix included
  test:
    suffix: copies
    requires: cuda
    args: -dm_vec_type cuda -dm_mat_type aijdia -ksp_type dcg -deflation_space none -pc_type tns -waves_bathymetry bay -waves_frames 45 -waves_tide 1,100
      -waves_tide_every 10 -waves_check_copies
    filter: grep copied

  # the largest sea of 200 frames a second, were a frame to take 10 or 40 microseconds a node
  test:
    suffix: realtime
    load: no
    nsize: {{1 2}}
    args: -waves_realtime_search -waves_realtime_rate 200 -waves_n 20,20 -waves_lengths 95,95
     args: -waves_bathymetry bay -waves_start waves -waves_frames 3 -pc_type jacobi -waves_realtime_assume {{10000 40000}separate output}
    filter: awk '/ms a frame,/ {print $1, $2, $3}  /second up to/ {print}'

  # the same where there is no memory for it
  test:
    suffix: realtime_room
    load: no
    args: -waves_realtime_search -waves_realtime_rate 200 -waves_n 20,20 -waves_lengths 95,95
     args: -waves_bathymetry bay -waves_start waves -waves_frames 3 -pc_type jacobi -waves_realtime_assume 1000 -waves_realtime_room 2000
    filter: awk '/ms a frame,/ {print $1, $2, $3}  /second up to|memory/ {print}'

  # a series for ParaView; after n frames the sea is the one that frame n begins with
  test:
    suites: valgrind(+1+30)
    suffix: vtk
    load: no
    nsize: {{1 2}}
    args: -waves_bathymetry river -waves_n 64,27 -waves_frames {{30 31}} -waves_dt 0.1 -waves_vtk 15 -waves_vtk_name river -ksp_rtol 1e-10 -pc_type jacobi
    filter: python3 ${POLDER_TESTS}/data/vts.py river.pvd

  # with the solver of the option file, no option of which is left unused
  test:
    suffix: options
    nsize: {{1 2}}
    args: -waves_bathymetry river -waves_n 126,51 -waves_frames 40 -waves_check_iterations 7 -options_file ${POLDER_EXAMPLES}/options/waves.opts -options_left
    filter: grep -e "at most .* iterations" -e unused

  # pictures that a decoder reads, with ships and waves in them
  test:
    suffix: picture
    load: no
    nsize: {{1 2}}
    args: -waves_bathymetry port -waves_n 81,51 -waves_frames {{80 81}} -waves_dt 0.2 -waves_picture 40
     args: -waves_picture_name frame -ksp_rtol 1e-10 -pc_type jacobi
    filter: python3 ${POLDER_TESTS}/data/png.py frame000000.png frame000080.png

  testset:
    load: no

    test:
      suffix: no_bathymetry
      args: -waves_bathymetry atlantis
      fails: -waves_bathymetry atlantis is not known: use flat, harbour, river, bay or port

    # 900 million nodes have 4500 million entries
    test:
      suffix: indices
      requires: !64bit_indices
      args: -waves_n 30000,30000
      fails: indices of 32 bits can count

    test:
      suffix: negative_size
      nsize: 2
      args: -waves_n 40,-3
      fails: -waves_n must be at least 3 in each direction, not -3

    test:
      suffix: negative_length
      args: -waves_lengths -500,500
      fails: -waves_lengths must be positive and finite, not -500

    test:
      suffix: unstable
      args: -waves_dt 0.5
      fails: Leapfrog is unstable with -waves_dt 0.5 on this grid and depth: use less than 0.2

    test:
      suffix: no_edge
      args: -waves_edges wall,wall,wall,cliff
      fails: The north edge cannot be cliff: use wall, open or incoming

    test:
      suffix: no_waves
      args: -waves_edges incoming
      fails: need -waves_incoming height,period,direction

    test:
      suffix: half_tide
      args: -waves_tide 1
      fails: -waves_tide takes a height and a positive period

    test:
      suffix: no_low_water
      args: -waves_depth 5 -waves_tide 6,100
      fails: There is no water when the tide is low: no node is deeper than -waves_min_depth 0.5

    test:
      suffix: half_ship
      args: -waves_ships 100,100,5
      fails: -waves_ships takes seven numbers for each ship

    test:
      suffix: no_water
      nsize: 2
      args: -waves_bathymetry bay -waves_min_depth 29
      fails: There is no water

    test:
      suffix: no_energy
      args: -waves_check_energy 0.1
      fails: A sea at rest has no energy to check

TEST*/
