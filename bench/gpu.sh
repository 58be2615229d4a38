#!/bin/sh
# bench/gpu.sh [name...]: PETSc's own solvers and ours on a GPU, problem after problem in one run each, written into docs/results/gpu.md.
# Names of problems restrict it to these. hypre's PFMG and BoomerAMG join the problems that pamg solves after make hypre with a hypre for this machine. One
# row by itself: build/bench/solve with the options of the problem and of the solver below, -vec_type cuda
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -x "$SOLVE" ] || { echo "$SOLVE is missing: run make bench" >&2; exit 1; }
rows=$WORK/rows
all="$*"
: >"$rows"

# solvers: name | bytes that an iteration must move a row (with what the solver stores) | options
jacobi='cg + jacobi, aijcusparse | -ksp_type cg -pc_type jacobi -mat_type aijcusparse'
gamg='cg + gamg, aijcusparse | -ksp_type cg -pc_type gamg -mat_type aijcusparse'
ours='-ksp_type dcg -mat_type aijdia'
# where rows have classes, those of the entries are one byte
jacobi2="dcg + jacobi | 120 | $ours -pc_type jacobi -deflation_space none"
jacobi2c="dcg + jacobi | 97 | $ours -pc_type jacobi -deflation_space none"
jacobi3="dcg + jacobi | 97 | $ours -pc_type jacobi -deflation_space none"
jacobi3f="dcg + jacobi, whole matrix stored | 152 | $ours -pc_type jacobi -deflation_space none -mat_aijdia_symmetric 0 -mat_aijdia_classes 0"
tns="dcg + tns | 123 | $ours -pc_type tns -deflation_space none"
auto="dcg + tns, auto | $ours -pc_type tns"
single="dcg + tns in single precision, auto | $ours -pc_type tns -pc_tns_precision single"
rrb="dcg + rrb | 213 | $ours -pc_type rrb -deflation_space none"
rrb12="dcg + rrb, 12 half levels | 213 | $ours -pc_type rrb -pc_rrb_levels 12 -deflation_space none"
rrbf="dcg + rrb in single precision | 177 | $ours -pc_type rrb -pc_rrb_precision single -deflation_space none"
rrbcg="rrbcg | -ksp_type rrbcg -mat_type aijdia"
rrbcg12="rrbcg, rule and 12 half levels of the paper | -ksp_type rrbcg -mat_type aijdia -pc_rrb_levels 12 -ksp_rrbcg_stop paper"
rrbcgf="rrbcg in single precision | -ksp_type rrbcg -mat_type aijdia -pc_rrb_precision single"
pamg="dcg + pamg | $ours -pc_type pamg -deflation_space none"
pamgf="dcg + pamg in single precision | $ours -pc_type pamg -pc_pamg_precision single -deflation_space none"
pamgd="dcg + pamg in double precision | $ours -pc_type pamg -pc_pamg_precision double -deflation_space none"
pamg3="dcg + pamg, 3 passes | $ours -pc_type pamg -pc_pamg_passes 3 -deflation_space none"
pamgk="dcg flexible + pamg, K-cycle | $ours -ksp_dcg_flexible -pc_type pamg -pc_pamg_cycle k -deflation_space none"
pamgl="dcg + pamg, levelset | $ours -pc_type pamg -deflation_space levelset"
lssd() {
  echo "dcg + tns, LSSD 4^3${2:+, $2 iterations} | $ours -pc_type tns -deflation_space levelset_subdomain -deflation_boxes 4,4,4" \
    "-deflation_grid $1,$1,$1${2:+ -ksp_max_it $2}"
}

problem() { # name, options of the problem; solvers on standard input
  name=$1
  shift
  case " $all " in "  " | *" $name "*) ;; *) cat >/dev/null; return ;; esac
  cat >"$WORK/solvers"
  echo "$name: $*" >&2
  if ! "$SOLVE" -dll_append "$LIB" -vec_type cuda -use_gpu_aware_mpi 0 "$@" -solvers "$WORK/solvers" >"$WORK/log" 2>&1; then
    cat "$WORK/log" >&2
    exit 1
  fi
  ! grep -q pamg "$WORK/solvers" || hypre_rows "pfmg boomeramg" "" "$@" >>"$WORK/log"
  copy=$(sed -n 's/^copy bandwidth \(.*\) TB.*/\1/p' "$WORK/log")
  grep '^|' "$WORK/log" | sed "s/^/| $name /" | tee -a "$rows" >&2
}

problem poisson2d_127 -dim 2 -n 127 <<END
$jacobi
$jacobi2
$gamg
$rrb
$rrb12
$rrbcg
$rrbcg12
END
problem poisson2d_511 -dim 2 -n 511 <<END
$jacobi
$jacobi2
END
problem poisson2d_1023 -dim 2 -n 1023 -repeats 2 <<END
$gamg
$jacobi2c
$auto
$rrb
$rrbcg
END
problem poisson2d_2047 -dim 2 -n 2047 -repeats 2 <<END
$pamg
$pamgk
$gamg
$rrb
$rrb12
$rrbf
$rrbcg
$rrbcg12
$rrbcgf
END
problem poisson2d_4095 -dim 2 -n 4095 -repeats 2 <<END
$rrb
$rrbf
$rrbcg
$rrbcg12
END
problem poisson3d_128 -dim 3 -n 128 <<END
$jacobi
$gamg
$jacobi3
$tns
$auto
$pamg
$pamgf
$pamgd
$pamg3
$pamgk
END
problem poisson3d_256 -dim 3 -n 256 -repeats 1 <<END
$jacobi
$jacobi3
$jacobi3f
$tns
$auto
$pamg
$pamgf
$pamgd
$pamg3
$pamgk
END
problem poisson3d_256_whole -dim 3 -n 256 -walls whole -repeats 1 <<END
$pamg
$pamgf
$pamgd
END
problem lognormal3d_128 -dim 3 -n 128 -lognormal 3 <<END
$auto
$pamg
END
for cells in 4 8; do
  problem lognormal3d_128_$cells -dim 3 -n 128 -lognormal 3 -correlation $cells <<END
$pamg
$pamgd
END
done
for contrast in 1e3 1e6; do
  problem bubbles3d_128_$contrast -dim 3 -n 128 -bubbles 2 -contrast $contrast -repeats 2 <<END
$jacobi
$gamg
$(lssd 128)
$auto
$single
$pamg
$pamgf
$pamgd
$pamgk
$pamgl
END
  problem nine_128_$contrast -dim 3 -n 128 -bubbles 2 -centre -contrast $contrast <<END
$(lssd 128)
$auto
$single
END
  problem bubbles3d_256_$contrast -dim 3 -n 256 -bubbles 2 -contrast $contrast -repeats 2 <<END
$(lssd 256)
$auto
$single
$pamg
$pamgf
$pamgd
$pamgk
$pamgl
END
done
# values on the device, as a program sets them that assembles there; the last column is a step in time
problem rebuild_128 -dim 3 -n 128 -bubbles 2 -centre -contrast 1e3 -coo <<END
$(lssd 128)
$auto
$pamg
END
problem rebuild_256 -dim 3 -n 256 -bubbles 2 -centre -contrast 1e3 -coo -repeats 1 <<END
$(lssd 256)
$auto
$pamg
END
# what deflation with 135 vectors adds to an iteration: the difference between fifty iterations and a hundred, with it and without
for n in 128 256; do
  problem iteration_$n -dim 3 -n $n -bubbles 2 -centre -contrast 1e6 -ksp_rtol 1e-10 <<END
$tns -ksp_max_it 50
$tns -ksp_max_it 100
$(lssd $n 50)
$(lssd $n 100)
END
done
problem bubbles2d_1024 -dim 2 -n 1024 -bubbles 4 -contrast 1e3 -repeats 1 <<END
$pamg
$gamg
$auto
$rrb
$rrbf
$rrbcg
END
for contrast in 1e6 1e-3; do
  problem bubbles2d_1024_$contrast -dim 2 -n 1024 -bubbles 4 -contrast $contrast -repeats 1 <<END
$pamg
$gamg
$rrb
$rrbf
$rrbcg
END
done
[ -s "$rows" ] || { echo "There is no problem called $all" >&2; exit 1; }
[ -z "$all" ] || exit 0

out=$WORK/table
{
  echo "Command: \`make bench\` on a machine with a GPU, or \`bench/gpu.sh\`; \`bench/gpu.sh bubbles3d_128_1e3\` repeats a problem. Machine:" \
    "$(machine). Copy bandwidth in the run $copy TB/s."
  echo "Warm-up excluded; times are the best and, in brackets, the median of fresh solvers; smooth right-hand side, zero guess, 1e-6 on |r|/|b|." \
    "Bytes: what an iteration must move at least, a row. Rebuild: a set-up with new values, set on the device, and a changed level set."
  echo
  echo "| problem | solver | iterations | true residual | set-up ms | solve ms | total ms | us an iteration | bytes a row | of copy | rebuild ms |"
  echo "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
  cat "$rows"
} >"$out"
insert gpu "$out"
cat "$out"
