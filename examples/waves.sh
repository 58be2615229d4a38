#!/bin/sh
# examples/waves.sh [frames] [ranks]: waves and a ship in a bay, a picture each second
set -e
. "$(dirname "$0")/../bench/common.sh"
frames=${1:-400}
ranks=${2:-$(sh "$ROOT/config/processors.sh" | awk '{print $1 < 2 ? 1 : 2}')}
folder=$BUILD/waves
mkdir -p "$folder"
start=
[ "$ranks" -eq 1 ] || start="$MPIEXEC -n $ranks"
pictures "$folder/bay" "$((frames / 20 + 1))" $start "$BUILD/examples/waves" -dll_append "$LIB" \
  -options_file "$ROOT/examples/options/waves.opts" -waves_bathymetry bay -waves_start waves \
  -waves_frames "$frames" -waves_picture 20 -waves_picture_name "$folder/bay" -waves_profile
echo "Pictures: $folder/bay*.png"
