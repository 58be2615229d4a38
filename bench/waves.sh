#!/bin/sh
# bench/waves.sh [ranks...]: the wave simulator with examples/options/waves.opts, a frame of 1250 x 1200 nodes and the largest sea in real time;
# written into docs/results/waves.md. On the CPU with 1 and 2 processes, on a machine with a GPU there
set -e
. "$(dirname "$0")/common.sh"
marker=waves device=
if gpu; then
  marker=waves-gpu device="-dm_vec_type cuda -use_gpu_aware_mpi 0"
  [ $# -gt 0 ] || set -- 1
fi
[ $# -gt 0 ] || set -- 1 2
out=$WORK/table
waves() { # ranks, options
  start=
  [ "$1" -eq 1 ] || start="$MPIEXEC -n $1"
  shift
  $start "$BUILD/examples/waves" -dll_append "$LIB" -options_file "$ROOT/examples/options/waves.opts" $device -waves_bathymetry bay -waves_start waves "$@"
}
{
  echo "Command: \`bench/waves.sh $*\`. Machine: $(machine). A bay with waves of 9 s and a ship, meshes of 5 m, parabolic model," \
    "\`examples/options/waves.opts\`${device:+ $device}: 1e-5 on |r|/|b|, the guess is extrapolated from the two frames before, the right-hand side" \
    "is that of each frame."
  echo
  echo '```'
  for ranks in "$@"; do
    echo "$ranks process$([ "$ranks" -eq 1 ] || echo es)"
    waves "$ranks" -waves_n 1250,1200 -waves_lengths 6245,5995 -waves_frames 60 -waves_profile -waves_histogram
    waves "$ranks" -waves_realtime_search -waves_frames 20
  done
  echo '```'
} | tee "$out"
insert $marker "$out"
