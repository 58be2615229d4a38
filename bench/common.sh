# Sourced by the scripts of this folder and by the demo: runs a solve and takes its figures from the output
ROOT=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$ROOT/build}
LIB=${LIB:-$BUILD/libpolder.so}
BUBBLES=$BUILD/examples/bubbles
RESULTS=${RESULTS:-$ROOT/docs/results}
MPIEXEC=${MPIEXEC:-mpiexec}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

for need in "$LIB" "$BUBBLES"; do
  [ -e "$need" ] || { echo "$need is missing: run make first" >&2; exit 1; }
done

# solve <ranks> <options>: sets reason, its, residual, setup, solve, normb and vectors; the output stays in $WORK/log
solve() {
  ranks=$1
  shift
  start=
  [ "$ranks" -eq 1 ] || start="$MPIEXEC -n $ranks"
  if ! $start "$BUBBLES" -dll_append "$LIB" "$@" -timings -ksp_view >"$WORK/log" 2>&1; then
    echo "failed: bubbles $*" >&2
    cat "$WORK/log" >&2
    exit 1
  fi
  read -r reason its residual <<END
$(awk '$1 ~ /^(CON|DI)VERGED/ && $2 == "iterations" {print $1, $3, $6}' "$WORK/log")
END
  read -r setup solve normb <<END
$(awk '$1 == "set-up" {print $2, $5, $10}' "$WORK/log")
END
  vectors=$(awk '$1 == "vectors:" {sub(",", "", $2); sub(";", "", $2); print $2}' "$WORK/log")
  vectors=${vectors:-0}
}

# solve_best <ranks> <options>: as solve(), three times where one takes less than two seconds; setup and solve are those of the fastest
solve_best() {
  best=
  for _ in 1 2 3; do
    solve "$@"
    best=$(echo "$setup $solve $best" | awk 'NF < 4 || $1 + $2 < $3 + $4 {print $1, $2; next} {print $3, $4}')
    [ "$(echo "$best" | awk '{print $1 + $2 < 2}')" -eq 1 ] || break
  done
  read -r setup solve <<END
$best
END
}

# Does the library run on a GPU of this machine?
gpu() {
  grep -q '^#: POLDER_CUDA$' "$BUILD/petsc.mk" && nvidia-smi -L >/dev/null 2>&1
}

machine() {
  ! gpu || printf '%s, ' "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)"
  printf '%s, %s cores, ' "$(lscpu | sed -n 's/^Model name: *//p' | head -1)" "$(nproc --all)"
  echo "PETSc $(sed -n 's/^PETSC_VERSION *:= *//p' "$BUILD/petsc.mk"), $(date -u +%Y-%m-%d)"
}

# pictures <prefix> <how many> <command>: runs a program that writes pictures, and tells every five seconds how many there are
pictures() {
  prefix=$1 all=$2
  shift 2
  rm -f "$prefix"*.png
  "$@" &
  program=$!
  while kill -0 $program 2>/dev/null; do
    sleep 1
    now=$(ls "$prefix"*.png 2>/dev/null | wc -l)
    waited=$((${waited:-0} + 1))
    [ $((waited % 5)) -ne 0 ] || echo "$now of $all pictures" >&2
  done
  wait $program
}

# hypre_rows <peers> <start> <options of the problem>: rows of hypre's own solvers as bench/solve prints them, where make hypre has made the program; a row
# says so where it fails
hypre_rows() {
  peers=$1 begin=$2
  shift 2
  [ -x "$BUILD/bench/hypre/hypre" ] || return 0
  for peer in $peers; do
    if $begin "$BUILD/bench/hypre/hypre" -peer "$peer" "$@" >"$WORK/hypre" 2>&1; then grep '^|' "$WORK/hypre"
    else
      cat "$WORK/hypre" >&2
      echo "| hypre $peer | fails |"
    fi
  done
}

# insert <marker> <file>: puts the file between the lines '<!-- marker:begin -->' and '<!-- marker:end -->' of the page in docs/results that has them
insert() {
  page=$(grep -l "<!-- $1:begin -->" "$RESULTS"/*.md) || { echo "No page of $RESULTS has the line <!-- $1:begin -->" >&2; exit 1; }
  awk -v marker="$1" -v file="$2" '
    $0 == "<!-- " marker ":end -->" {inside = 0}
    !inside {print}
    $0 == "<!-- " marker ":begin -->" {inside = 1; while ((getline line < file) > 0) print line}' "$page" >"$WORK/page"
  cat "$WORK/page" >"$page"
  echo "Written into $page" >&2
}
