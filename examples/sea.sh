#!/bin/sh
# examples/sea.sh [frames] [ranks]: waves and a ship in a bath of the shape of the southern North Sea, a picture each second
set -e
. "$(dirname "$0")/../bench/common.sh"
frames=${1:-400}
ranks=${2:-$(sh "$ROOT/config/processors.sh" | awk '{print $1 < 2 ? 1 : 2}')}
relief=${RELIEF:-/usr/share/ferret-vis/data/etopo5.cdf}
folder=$BUILD/sea
mkdir -p "$folder"
start=
[ "$ranks" -eq 1 ] || start="$MPIEXEC -n $ranks"
# 900 by 670 km on 4 by 3 km, so that waves of 100 m fit between the coasts
pictures "$folder/sea" "$((frames / 20 + 1))" $start "$BUILD/examples/waves" -dll_append "$LIB" \
  -options_file "$ROOT/examples/options/waves.opts" -waves_relief "$relief" -waves_window -4,9,50,56 \
  -waves_n 800,600 -waves_lengths 4000,3000 -waves_max_depth 60 -waves_edges open,open,incoming,incoming -waves_incoming 2,8,-100 -waves_start waves \
  -waves_ships 2200,1600,6,3,120,24,8,2900,1500,-3,5,90,18,5 -waves_frames "$frames" -waves_picture 20 -waves_picture_name "$folder/sea" -waves_profile
echo "Pictures: $folder/sea*.png"
