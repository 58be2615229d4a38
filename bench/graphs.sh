#!/bin/sh
# bench/graphs.sh: pamg on graphs, meshes and grids with weak directions beside BoomerAMG; written into docs/results/pamg.md, on a GPU into the part for GPUs,
# where BoomerAMG is hypre's own program after make hypre, the best of eight sets of options
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -e "$SOLVE" ] || { echo "$SOLVE is missing: run make benches first" >&2; exit 1; }
out=$WORK/table
type="-mat_type aijicrs" hypre="-ksp_type cg -pc_type hypre" cg=cg flexible=fcg device= vectors= dcg=
if gpu; then cg=dcg flexible="dcg, flexible" device=-gpu vectors="-vec_type cuda -use_gpu_aware_mpi 0 -coo" dcg="-ksp_type dcg -deflation_space none"; fi
{
  echo "Command: \`bench/graphs.sh\`; a row is \`bench/solve -dll_append LIBRARY\` with the options of the problem and of the solver. Machine: $(machine)." \
    "1 rank, smooth right-hand side, zero guess, 1e-6 on |r|/|b|, default options; the best of three, one of BoomerAMG where that takes long."
  echo
  echo "| problem | aim | solver | iterations | true residual | operator complexity | set-up ms | solve ms | total ms |"
  echo "|---|---|---|---:|---:|---:|---:|---:|---:|"
} >"$out"

row() { # repeats, solver, options
  repeats=$1 solver=$2
  shift 2
  echo "row | $*" >"$WORK/solvers"
  # shellcheck disable=SC2086
  "$SOLVE" -dll_append "$LIB" $options $vectors -repeats "$repeats" -warm "$([ "$repeats" -eq 1 ] && echo 0 || echo 1)" -solvers "$WORK/solvers" -ksp_view \
    >"$WORK/log" 2>&1 || { cat "$WORK/log" >&2; exit 1; }
  complexity=$(sed -n 's/^ *operator complexity \([0-9.]*\).*/\1/p' "$WORK/log" | tail -1)
  line "$solver" "${complexity:--}" <"$WORK/log"
}

line() { # solver, complexity; what bench/solve or the program of hypre prints on standard input
  awk -F ' *[|] *' -v name="$name" -v aim="$aim" -v solver="$1" -v complexity="$2" '/^\| (row|hypre) / {split($5, u, " "); split($6, v, " ")
    printf "| %s | %s | %s | %s | %s | %s |", name, aim, solver ? solver : $2, $3, $4, complexity
    if (u[1] + v[1]) printf " %.1f | %.1f | %.1f |\n", u[1], v[1], u[1] + v[1]
    else print " | | |"}' |
    tee -a "$out" >&2
}

problem() { # repeats of BoomerAMG, name, aim, options
  slow=$1 name=$2 aim=$3 options=$4
  row 3 "$cg + pamg" "$type -ksp_type cg $dcg -pc_type pamg"
  row 3 "$flexible + pamg, K-cycle" "$type -ksp_type fcg $dcg ${dcg:+-ksp_dcg_flexible} -pc_type pamg -pc_pamg_cycle k"
  if [ -z "$device" ]; then
    row "$slow" "cg + BoomerAMG" "-mat_type aij $hypre"
    row "$slow" "cg + BoomerAMG, threshold 0.5" "-mat_type aij $hypre -pc_hypre_boomeramg_strong_threshold 0.5"
  else
    # shellcheck disable=SC2086
    hypre_rows boomeramg "" $options | line "" -
  fi
}
problem 3 "power grid, 70,000 rows" "25" "-graph power -n 70000"
problem 3 "the same, random numbering" "25" "-graph power -n 70000 -shuffle"
problem 1 "tetrahedra 90^3, jumps of 1e3" "25" "-graph tetrahedra -n 90"
problem 1 "the same, random numbering" "within 2" "-graph tetrahedra -n 90 -shuffle"
problem 3 "2-D 1024^2, y a hundredth" "20" "-dim 2 -n 1024 -weights 1,0.01 -walls whole"
problem 1 "3-D 128^3, z a thousandth" "14" "-dim 3 -n 128 -weights 1,1,0.001 -walls whole"
problem 3 "2-D 1024^2, cells at the walls a thousandth" "20" "-dim 2 -n 1024 -stretch 1000,1000"
problem 1 "3-D 96^3, cells at the walls a hundredth" "14" "-dim 3 -n 96 -stretch 100,100,100"
problem 1 "trilinear cubes 64^3, jumps of 1e3" "-" "-graph cubes -n 64"
problem 1 "trilinear elements 64^3, ten times as wide in x and y" "-" "-graph cubes -n 64 -contrast 1 -weights 0.01,0.01,1"
problem 3 "2-D 1024^2, fourth order" "-" "-graph fourth -dim 2 -n 1024"
problem 1 "3-D 96^3, fourth order" "-" "-graph fourth -dim 3 -n 96"
insert "graphs$device" "$out"
cat "$out"
