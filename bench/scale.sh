#!/bin/sh
# bench/scale.sh: the same work, and work that grows, on 1, 2, 4, ... GPUs of a machine, a process each, or on 1 to 8 processes of a machine without a GPU;
# into docs/results/scale.md. After make hypre its BoomerAMG is there, the best of eight sets of options. RANKS="1 2": on these numbers of processes only;
# WORKS="poisson bubbles": these groups of rows only; huge, hugebubbles and giant are run where they are named, on machines of GPUs with 100 GiB and more
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -e "$SOLVE" ] || { echo "$SOLVE is missing: run make benches first" >&2; exit 1; }
export OMP_NUM_THREADS=1
if gpu; then
  count=$(nvidia-smi -L | wc -l) big=256 middle=128 small=64 plane=2047 largest=8191 tetrahedra=130
  options="-vec_type cuda -use_gpu_aware_mpi 0 -coo" marker=scale-gpu unit=GPUs peer=aijcusparse
else
  count=$(sh "$ROOT/config/processors.sh") big=96 middle=64 small=32 plane=511 largest=1023 tetrahedra=60
  options= marker=scale-cpu unit=processes peer=aij
  [ "$count" -le 8 ] || count=8
fi
ranks=${RANKS:-1}
for more in 2 4 8; do
  [ "$more" -gt "$count" ] || [ -n "$RANKS" ] || ranks="$ranks $more"
done
works=${WORKS:-poisson products weak middle small bubbles heavy lognormal scattered plane largest}
out=$WORK/table
{
  echo "Command: \`bench/scale.sh\`. Machine: $(machine). 7 points (5 in 2-D), walls half a cell away (bubbles: Neumann), smooth right-hand side, zero" \
    "guess, 1e-6 on |r|/|b|; a row is split by planes. Iterations; set-up + solve in ms; microseconds an iteration."
  echo
  echo "| work | solver | $(echo "$ranks" | sed 's/ / | /g') $unit |"
  echo "|---|---|$(for r in $ranks; do printf -- '---|'; done)"
} >"$out"

# work <its group> <its name> <cells in the last direction a process; 0: no more with more processes> <options>: one run for each number of processes, a row
# for each line 'solver | options' of the input
work() {
  cat >"$WORK/solvers"
  case " $works " in *" $1 "*) ;; *) return 0 ;; esac
  name=$2 grow=$3
  shift 3
  for r in $ranks; do
    more=
    [ "$grow" -eq 0 ] || more="-nz $((grow * r))"
    start=
    [ "$r" -eq 1 ] || start="$MPIEXEC -n $r"
    $start "$SOLVE" -dll_append "$LIB" $options "$@" $more -solvers "$WORK/solvers" >"$WORK/log" 2>&1 || { cat "$WORK/log" >&2; exit 1; }
    ! grep -q pamg "$WORK/solvers" || hypre_rows boomeramg "$start" "$@" $more | sed 's/^| hypre BoomerAMG[^|]*/| hypre: cg, BoomerAMG /' >>"$WORK/log"
    [ -z "$SCALELOG" ] || { echo "$name, $r $unit"; cat "$WORK/log"; } >>"$SCALELOG"
    awk -F'|' '/^\| / {
      split($5, setup, " "); split($6, solve, " "); split($3, its, " "); residual = $4 + 0
      if (!(its[1] + 0)) {printf " |%s\n", $3; next} # it failed, or did not converge
      note = residual > 1.1e-6 ? " (true residual " $4 ")" : ""
      printf " | %s%s; %.4g + %.4g; %.4g\n", its[1], note, setup[1], solve[1], 1000 * solve[1] / its[1]}' "$WORK/log" >"$WORK/cells.$r"
  done
  sed -n "s/^| \([^|]*\) |.*/| $name | \1/p" "$WORK/log" >"$WORK/rows"
  (cd "$WORK" && paste -d '\0' rows $(for r in $ranks; do echo "cells.$r"; done)) | sed 's/$/ |/' | tee -a "$out" >&2
}
dcg="-mat_type aijdia -ksp_type dcg"
jacobi="$dcg -pc_type jacobi -deflation_space none"
pamg="$dcg -pc_type pamg -deflation_space none"
petsc="-mat_type $peer -ksp_type cg -pc_type jacobi"
work poisson "Poisson $big^3 in all" 0 -n $big <<END
dcg, jacobi | $jacobi
dcg, pamg | $pamg
dcg, pamg, double precision | $pamg -pc_pamg_precision double
dcg, pamg, K-cycle | $pamg -ksp_dcg_flexible -pc_pamg_cycle k
PETSc: cg, jacobi | $petsc
END
work products "Poisson $big^3, products" 0 -n $big <<END
aijdia | -mat_type aijdia -products 100
aijicrs | -mat_type aijicrs -products 100
aijhec | -mat_type aijhec -products 100
PETSc: $peer | -mat_type $peer -products 100
END
work products "Poisson $big^2 x $big a process, products" $big -n $big <<END
aijdia | -mat_type aijdia -products 100
PETSc: $peer | -mat_type $peer -products 100
END
work weak "Poisson $big^2 x $big a process" $big -n $big <<END
dcg, jacobi | $jacobi
dcg, pamg | $pamg
PETSc: cg, jacobi | $petsc
END
work weak "8 bubbles of 1e3, $big^2 x $big a process" $big -n $big -bubbles 2 <<END
dcg, tns, automatic vectors | $dcg -pc_type tns
END
work weak "Poisson $plane x $plane a process" $plane -dim 2 -n $plane <<END
rrbcg | -mat_type aijdia -ksp_type rrbcg
END
work middle "Poisson $middle^3 in all" 0 -n $middle <<END
dcg, jacobi | $jacobi
dcg, pamg | $pamg
END
work small "Poisson $small^3 in all" 0 -n $small <<END
dcg, jacobi | $jacobi
dcg, pamg | $pamg
END
work small "Poisson 127^2 in all" 0 -dim 2 -n 127 <<END
dcg, jacobi | $jacobi
rrbcg | -mat_type aijdia -ksp_type rrbcg
END
work bubbles "8 bubbles of 1e3, $big^3 in all" 0 -n $big -bubbles 2 <<END
dcg, pamg | $pamg
dcg, tns, automatic vectors | $dcg -pc_type tns
END
work heavy "8 bubbles of 1e6, $big^3 in all" 0 -n $big -bubbles 2 -contrast 1e6 <<END
dcg, pamg | $pamg
dcg, tns, automatic vectors | $dcg -pc_type tns
END
work lognormal "Log-normal, sigma 3, $middle^3 in all" 0 -n $middle -lognormal 3 <<END
dcg, pamg | $pamg
END
work scattered "Tetrahedra $tetrahedra^3, jumps of 1e3, rows in random order" 0 -graph tetrahedra -n $tetrahedra -shuffle <<END
dcg, pamg | -mat_type aijicrs -ksp_type dcg -pc_type pamg -deflation_space none
END
work plane "Poisson $plane^2 in all" 0 -dim 2 -n $plane <<END
rrbcg | -mat_type aijdia -ksp_type rrbcg
END
work largest "Poisson $largest^2 in all" 0 -dim 2 -n $largest <<END
rrbcg | -mat_type aijdia -ksp_type rrbcg
END
work huge "Poisson 512^3 in all" 0 -n 512 -repeats 1 <<END
dcg, jacobi | $jacobi
dcg, pamg | $pamg
END
work hugebubbles "8 bubbles of 1e3, 512^3 in all" 0 -n 512 -bubbles 2 -repeats 1 <<END
dcg, pamg | $pamg
dcg, tns, automatic vectors | $dcg -pc_type tns
END
# One system of a thousand million unknowns, with the memory of the GPUs while it is solved
case " $works " in *" giant "*)
  nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -lms 200 >"$WORK/memory" &
  sampler=$!
  trap 'kill $sampler; rm -rf "$WORK"' EXIT # a failed run ends the sampler too
  work giant "8 bubbles of 1e3, 1000^3 in all" 0 -n 1000 -bubbles 2 -repeats 1 <<END
dcg, pamg | $pamg
END
  sort -n "$WORK/memory" | tail -1 |
    awk -v n="${ranks##* }" '{printf "\n1000^3: at most %d MiB on a GPU, %.0f bytes a row.\n", $1, $1 * 1048576 * n / 1e9}' >>"$out"
  ;;
esac
insert "$marker" "$out"
cat "$out"
