#!/bin/sh
# bench/contest.sh [cells of P5] [elements of a layer of P7] [nodes of Poisson's equation]: the contest of preconditioners of Gupta's thesis (2015,
# chapter 6), its tables 6.2 to 6.9 beside ours, and de Jong's (2012) of CG, DIAG, IP, IPDIAG, MIC and RRB on Poisson's equation in two dimensions and on
# waves; written into docs/results/contest.md; on a machine with a GPU the GPU's part as well. GPUONLY=1 leaves the CPU's part out, PROBLEMS=P5 makes one part,
# PROBLEMS="P5 P7 plane" all
set -e
. "$(dirname "$0")/common.sh"
p5=${1:-128} p7=${2:-64} plane=${3:-256 512 1024}
PROBLEMS=${PROBLEMS:-P5 P7 plane}

# The thesis at 128^3 and 64: place and preconditioner | our options | iterations, set-up s, solve s of P5 by PCG | by DPCG | of P7 by PCG | by DPCG
thesis() {
  cat <<'END'
cpu MCSGS|-pc_type mcsgs|660 0.8 28|158 2.21 8.13|2184 1.27 147.38|251 1.67 23.04
cpu FSAI|-pc_type fsai -pc_fsai_power 2|563 4.79 64.44|127 6.34 6.95|1823 8.5 224.54|220 8.77 20.21
cpu ILU(0)|-pc_type mic -pc_mic_omega 0|465 0.37 52.1|108 1.97 13.28|1461 0.48 315.49|178 0.86 38.11
cpu ME-ILU-J|-pc_type meilu -pc_meilu_last jacobi|682 1.47 23.63|163 2.79 7.04|2222 2.47 135.04|254 2.37 17.77
cpu ME-ILU-SGS|-pc_type meilu -pc_meilu_last sgs|442 2.81 22.89|158 2.26 7.33|1251 4.88 116.69|251 1.42 19.09
cpu ME-ILU-ILU(0,1)|-pc_type meilu -pc_meilu_last ilu|401 3.64 20.1|87 5.19 5.32|1199 6.21 109.38|139 6.5 14.14
cpu ILU(0,1)|-pc_type iluc|682 0.94 22.93|163 3.68 7.18|2196 1.43 130.31|271 1.77 19.16
cpu DIAGONAL|-pc_type jacobi|1318 0.13 26.14|316 1.72 9.05|4288 0.05 144.94|497 0.36 22.28
cpu TNS|-pc_type tns|585 0.54 26.7|136 1.91 7.37|1902 0.6 153.75|214 0.96 20.19
cpu FSAI, tril(A)|-pc_type fsai|- - -|- - -|- - -|- - -
cpu IP, scaled|-pc_type ip|- - -|- - -|- - -|- - -
cpu RIC(0.99)|-pc_type mic|- - -|- - -|- - -|- - -
cpu pamg|-pc_type pamg|- - -|- - -|- - -|- - -
gpu MCSGS|-pc_type mcsgs|660 0.45 4.7|158 3.124 1.48|2146 0.8 30.74|265 7.41 6.69
gpu FSAI|-pc_type fsai -pc_fsai_power 2|563 4.54 5.25|127 6.37 1.7|1799 7.72 32.54|221 14.32 6.41
gpu ILU(0)|-pc_type mic -pc_mic_omega 0|465 0.44 12.97|108 2.27 3.27|1427 0.78 84.25|178 7.24 12.49
gpu ME-ILU-J|-pc_type meilu -pc_meilu_last jacobi|682 1.59 4.16|163 2.3 1.39|2194 1.99 27.99|254 7.37 6.06
gpu ME-ILU-SGS|-pc_type meilu -pc_meilu_last sgs|442 1.11 6.14|158 2.2 1.45|1225 1.92 31.42|252 7.22 6.28
gpu ME-ILU-ILU(0,1)|-pc_type meilu -pc_meilu_last ilu|401 1.26 5.42|87 3.04 1.39|1177 2.15 29.49|139 8.67 5.03
gpu ILU(0,1)|-pc_type iluc|682 0.54 4.16|163 3.5 1.39|2177 0.92 28.66|256 7.41 6.12
gpu DIAGONAL|-pc_type jacobi|1318 0.116 4.2|316 1.89 1.79|4372 0.14 32.22|528 6.61 9.75
gpu TNS|-pc_type tns|585 1.29 3.93|136 2.87 1.26|1868 1.35 34.84|213 6.8 6.3
gpu FSAI, tril(A)|-pc_type fsai|- - -|- - -|- - -|- - -
gpu IP, scaled|-pc_type ip|- - -|- - -|- - -|- - -
gpu RIC(0.99)|-pc_type mic|- - -|- - -|- - -|- - -
gpu pamg|-pc_type pamg|- - -|- - -|- - -|- - -
END
}

# The vectors of the thesis: 63 boxes cut by nine bubbles in P5 (LSSD-135), a vector for each layer, with weights where they meet, in P7
table() { # place, number of the table, title, column of thesis(), options
  place=$1 number=$2 title=$3 column=$4
  shift 4
  {
    echo
    echo "**$title** (thesis: table $number)"
    echo
    echo "| preconditioner | iterations, thesis | set-up s, thesis | solve s, thesis | iterations | vectors | true residual | set-up s | solve s | total s |"
    echo "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
  } >>"$out"
  thesis | grep "^$place " >"$WORK/rows"
  while IFS='|' read -r name options a b c d <&3; do
    case $column in 3) theirs=$a ;; 4) theirs=$b ;; 5) theirs=$c ;; *) theirs=$d ;; esac
    # shellcheck disable=SC2086
    solve 1 "$@" $device $options -dm_mat_type aijdia -ksp_rtol 1e-6 -ksp_max_it 20000
    case $reason in CONVERGED_RTOL) ;; CONVERGED_HAPPY_BREAKDOWN) its="$its (floor)" ;; *) its="$its ($reason)" ;; esac
    # shellcheck disable=SC2086
    echo "| ${name#* } | $(echo "$theirs" | awk '{print $1 " | " $2 " | " $3}') | $its | $vectors | $residual | $setup | $solve |" \
      "$(echo "$setup $solve" | awk '{printf "%.3g", $1 + $2}') |" >>"$out"
    echo "$title, ${name#* }: $its iterations, set-up $setup s, solve $solve s" >&2
  done 3<"$WORK/rows"
}

smaller() { # size, size in the thesis
  [ "$1" -eq "$2" ] || echo "The thesis' columns are for size $2, which is larger." >>"$out"
}

contest() { # place, problem, the numbers of two tables
  case " $PROBLEMS " in *" $2 "*) ;; *) return 0 ;; esac
  out=$WORK/$1-$2
  echo "Command: \`bench/contest.sh $p5 $p7\`. Machine: $(machine). One process; 1e-6 on |r|/|b|; a random right-hand side and guess in P5." >"$out"
  case $2 in
    P5)
      smaller "$p5" 128
      table "$1" "$3" "P5, $p5^3 cells, CG" 3 -problem P5 -size "$p5" -ksp_type dcg -deflation_space none
      table "$1" "$4" "P5, $p5^3 cells, deflated CG" 4 -problem P5 -size "$p5" -ksp_type dcg -deflation_space levelset_subdomain -deflation_boxes 4,4,4 ;;
    P7)
      smaller "$p7" 64
      table "$1" "$3" "P7, $p7 elements, CG" 5 -problem P7 -size "$p7" -ksp_type dcg -deflation_space none
      table "$1" "$4" "P7, $p7 elements, deflated CG" 6 -problem P7 -size "$p7" -ksp_type dcg -deflation_space levelset -deflation_levelset auto \
        -deflation_weighted ;;
  esac
  insert "contest-$1-$2" "$out"
  cat "$out"
}

# De Jong's preconditioners: name | options
jong() {
  cat <<'END'
CG without|-ksp_type cg -pc_type none
DIAG|-ksp_type cg -pc_type jacobi
IP|-ksp_type cg -pc_type ip -pc_ip_form stencil
IPDIAG|-ksp_type cg -pc_type ip -pc_ip_form diag
MIC|-ksp_type cg -pc_type mic -pc_mic_omega 1
RRB, as in the thesis|-ksp_type rrbcg -pc_type rrb -pc_rrb_twice 0 -pc_rrb_levels 40
RRB|-ksp_type rrbcg -pc_type rrb
END
}

poisson() { # iterations and milliseconds on n^2 nodes, a row for each n
  {
    echo
    echo "**Poisson's equation on n^2 nodes**: iterations and, in brackets, ms of set-up and solve"
    echo
    jong | awk -F '|' 'BEGIN {printf "| n |"} {printf " %s |", $1} END {printf "\n|---:|"; while (k++ < NR) printf "---:|"; print ""}'
    jong | sed 's/|/ | /' >"$WORK/solvers"
    for n in $plane; do
      # shellcheck disable=SC2086
      "$BUILD/bench/solve" -dll_append "$LIB" $where -dim 2 -n "$n" -walls whole -mat_type aijdia -ksp_rtol 1e-5 -repeats 1 \
        -solvers "$WORK/solvers" >"$WORK/log"
      awk -F ' *[|] *' -v n="$n" 'BEGIN {printf "| %d |", n} /^[|]/ {printf " %s (%.0f) |", $3, $7} END {print ""}' "$WORK/log"
      echo "Poisson $n^2: done" >&2
    done
  } >>"$out"
}

# The thesis has the mean iterations of 1000 frames of three places: table 23.1, RRB and IPDIAG
seas() {
  cat <<'END'
river, 501 x 201|IJssel, 100k|12.595|5.814|-waves_bathymetry river
bay, 401 x 251|Plymouth Sound, 100k|11.906|5.804|-waves_bathymetry bay -waves_start waves
port, 401 x 251|Port Presto, 100k|18.713|5.924|-waves_bathymetry port -waves_start waves
bay, 1250 x 1200|Plymouth Sound, 1.5M|20.330|5.984|-waves_bathymetry bay -waves_start waves -waves_n 1250,1200 -waves_lengths 6245,5995
END
}

waves() { # mean iterations a frame
  {
    echo
    echo "**Waves**: mean iterations of a frame, 60 frames, and the thesis' mean of 1000 frames of another sea bed"
    echo
    jong | awk -F '|' 'BEGIN {printf "| bed and nodes |"} {printf " %s |", $1}
      END {printf " thesis: place | IPDIAG | RRB |\n|---|"; while (k++ < NR) printf "---:|"; print "---|---:|---:|"}'
    seas >"$WORK/seas"
    jong >"$WORK/rows"
    while IFS='|' read -r sea place ipdiag rrb bed <&3; do
      printf '| %s |' "$sea"
      while IFS='|' read -r name options <&4; do
        # shellcheck disable=SC2086
        if "$BUILD/examples/waves" -dll_append "$LIB" $device -dm_mat_type aijdia -waves_frames 60 -ksp_rtol 1e-5 $bed $options >"$WORK/log" 2>&1; then
          sed -n 's/.* nodes, \([0-9.]*\) iterations a frame.*/ \1 |/p' "$WORK/log" | tr -d '\n'
        else printf ' fails |'; fi
        echo "waves, $sea, $name: done" >&2
      done 4<"$WORK/rows"
      echo " $place | $ipdiag | $rrb |"
    done 3<"$WORK/seas"
  } >>"$out"
}

compare() { # place
  case " $PROBLEMS " in *" plane "*) ;; *) return 0 ;; esac
  out=$WORK/$1-plane
  echo "Command: \`PROBLEMS=plane ${GPUONLY:+GPUONLY=$GPUONLY }bench/contest.sh $p5 $p7 \"$plane\"\`." \
    "Machine: $(machine). One process; 1e-5 on |r|/|b|." >"$out"
  poisson
  waves
  insert "contest-$1-plane" "$out"
  cat "$out"
}

device='' where=''
if [ -z "$GPUONLY" ]; then
  contest cpu P5 6.2 6.4
  contest cpu P7 6.6 6.8
  compare cpu
fi
gpu || exit 0
device='-dm_vec_type cuda -use_gpu_aware_mpi 0' where='-vec_type cuda -use_gpu_aware_mpi 0'
contest gpu P5 6.3 6.5
contest gpu P7 6.7 6.9
compare gpu
