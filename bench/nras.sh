#!/bin/sh
# bench/nras.sh source [n [cases [methods [levels]]]]: iterations beside those of Yang, Liu and Chen (table 4 and 5), 3-D Poisson on n^3 cells (150); a case is
#   OUTERxINNER or OUTERxINNER:LAYERS,LAYERS, outer blocks (processes), inner blocks of each and their overlaps; cases not run keep their rows of the page
# bench/nras.sh [n [ranks]]: ILU(k) in the blocks of nras beside PETSc's ilu, 3-D Poisson and convection-diffusion on n^3 cells (150) and on random points,
#   on a GPU if there is one; written into docs/results/nras.md. PARTS=levels makes one of the tables, LEVELS="0 1" takes fewer k, REPEATS=1 saves time,
#   PECLETS="700" takes other Peclet numbers for the table of overlaps
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -x "$SOLVE" ] || { echo "$SOLVE is missing: run make benches" >&2; exit 1; }

# What the source says: a line of outer blocks, inner blocks of each, overlaps, k, iterations
SOURCE="1 8 0,0 0 45
1 8 0,0 1 30
1 8 0,0 2 42
1 8 0,0 3 33
2 8 0,0 0 46
2 8 0,0 1 36
2 8 0,0 2 43
2 8 0,0 3 36
3 8 0,0 0 46
3 8 0,0 1 39
3 8 0,0 2 44
3 8 0,0 3 38
4 8 0,0 0 44
4 8 0,0 1 34
4 8 0,0 2 39
4 8 0,0 3 38
4 128 0,0 0 48
4 128 0,0 1 40
4 128 0,0 2 51
4 128 0,0 3 45
4 1024 0,0 0 55
4 1024 0,0 1 47
4 1024 0,0 2 58
4 1024 0,0 3 46
4 8 1,0 0 43
4 8 0,1 0 41
4 8 1,1 0 38"
# The source prints neither tolerance nor right-hand side: those of each method that fit its counts best
gmresrtol=7e-4 gmresrhs=random bcgsrtol=3.6e-2 bcgsrhs=ones

source_table() { # n, cases, methods, levels
  n=$1 where=cpu matrix=aijdia device=
  gpu && where=gpu device="-vec_type cuda -use_gpu_aware_mpi 0"
  page=$RESULTS/nras.md
  sed -n "/<!-- nras-source-$where:begin -->/,/<!-- nras-source-$where:end -->/p" "$page" | grep "^| [1-9].* | $n |" >"$WORK/old" || true
  echo "$SOURCE" | while read -r outer inner overlap k expected; do
    case " $2 " in *" ${outer}x$inner "*) [ "$overlap" = 0,0 ] || continue ;; *" ${outer}x$inner:$overlap "*) ;; *) continue ;; esac
    case " $4 " in *" $k "*) ;; *) continue ;; esac
    for krylov in $3; do
      eval "rtol=\$${krylov}rtol rhs=\$${krylov}rhs"
      echo "x | -ksp_type $krylov -ksp_rtol $rtol -pc_type nras -pc_nras_partition metis -pc_nras_levels $k -pc_nras_blocks $inner" \
        "-pc_nras_outer_overlap ${overlap%,*}" \
        "-pc_nras_inner_overlap ${overlap#*,} -mat_type $matrix" >"$WORK/solvers"
      start=
      [ "$outer" -eq 1 ] || start="$MPIEXEC -n $outer"
      if ! $start "$SOLVE" -dll_append "$LIB" $device -dim 3 -n "$n" -walls whole -rhs "$rhs" -ksp_max_it 500 -repeats 1 \
        -warm $([ $where = gpu ] && echo 1 || echo 0) \
        -solvers "$WORK/solvers" </dev/null >"$WORK/log" 2>&1; then
        cat "$WORK/log" >&2
        exit 1
      fi
      grep '^|' "$WORK/log" | awk -F '|' -v head="| $outer | $inner | $overlap | $krylov | $k | $n | $expected |" -v expected="$expected" '{
        printf "%s %d | %+.0f %% | %s | %s |\n", head, $3, 100 * ($3 / expected - 1), $5 + 0, $6 + 0}' | tee -a "$WORK/new" >&2
    done
  done
  {
    echo "Command: \`bench/nras.sh source $n\`. Machine: $(machine)."
    echo
    echo "| outer | inner of each | overlap | method | k | n | source | iterations | difference | set-up ms | solve ms |"
    echo "|---:|---:|---|---|---:|---:|---:|---:|---:|---:|---:|"
    cat "$WORK/new" "$WORK/old" | awk -F '|' '!seen[$2, $3, $4, $5, $6, $7]++' | sort -t '|' -k5,5r -k2,2n -k3,3n -k4,4 -k6,6n
  } >"$WORK/table"
  insert "nras-source-$where" "$WORK/table"
  cat "$WORK/table"
}

if [ "$1" = source ]; then
  source_table "${2:-150}" "${3:-1x8 2x8 3x8 4x8 4x128 4x1024 4x8:1,0 4x8:0,1 4x8:1,1}" "${4:-gmres bcgs}" "${5:-0 1 2 3}"
  exit 0
fi
n=${1:-150} ranks=${2:-1} points=50000
PARTS=${PARTS:-levels forms values convection points overlaps}
settings=" ${LEVELS:+LEVELS=\"$LEVELS\" }${REPEATS:+REPEATS=$REPEATS }"
LEVELS=${LEVELS:-0 1 2 3}
start=
[ "$ranks" -eq 1 ] || start="$MPIEXEC -n $ranks"

where=cpu mat=aij device=
gpu && where=gpu mat=aijcusparse device="-vec_type cuda -use_gpu_aware_mpi 0"

problem() { # name, options of the problem; solvers on standard input
  name=$1
  shift
  cat >"$WORK/solvers"
  echo "$name: $*" >&2
  if ! $start "$SOLVE" -dll_append "$LIB" $device -dim 3 -ksp_max_it 2000 -repeats "${REPEATS:-3}" "$@" -solvers "$WORK/solvers" >"$WORK/log" 2>&1; then
    cat "$WORK/log" >&2
    exit 1
  fi
  # without the columns of bytes
  grep '^|' "$WORK/log" | awk -F '|' -v name="$name" 'BEGIN {OFS = "|"} {print "", " " name " ", $2, $3, $4, $5, $6, $7, $8, $11, ""}' | tee -a "$WORK/rows" >&2
}

petsc() { # Krylov method, levels
  for k in $2; do
    if [ "$ranks" -eq 1 ]; then echo "$1 + ilu($k), $mat | -ksp_type $1 -pc_type ilu -pc_factor_levels $k -mat_type $mat"
    else echo "$1 + bjacobi, ilu($k), $mat | -ksp_type $1 -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels $k -mat_type $mat"; fi
  done
}

nras() { # Krylov method, levels, blocks, more options
  for k in $2; do
    echo "$1 + nras, ILU($k), $3 blocks$4 | -ksp_type $1 -pc_type nras -pc_nras_levels $k -pc_nras_blocks $3 -mat_type aijdia $4"
  done
}

levels() {
  for krylov in bcgs gmres; do
    for tolerance in 1e-6 1e-8; do
      {
        petsc $krylov "$LEVELS"
        for blocks in 8 128 1024; do nras $krylov "$LEVELS" $blocks; done
      } | problem "Poisson, $tolerance" -n "$n" -walls whole -ksp_rtol $tolerance
    done
  done
}

forms() {
  {
    petsc bcgs 0
    for partition in boxes metis rows; do nras bcgs 0 1024 " -pc_nras_partition $partition"; done
    nras bcgs 0 1024 " -pc_nras_inner_overlap 1"
    nras bcgs 0 1024 " -pc_nras_precision single"
    nras bcgs 0 1024 " -pc_nras_solve jacobi"
    echo "cg + icc, $mat | -ksp_type cg -pc_type icc -mat_type $mat"
    echo "cg + nras, ILU(0), 1024 blocks, symmetric | -ksp_type cg -pc_type nras -pc_nras_blocks 1024 -pc_nras_form symmetric -mat_type aijdia"
  } | problem "Poisson, 1e-6" -n "$n" -walls whole
}

values() {
  {
    petsc bcgs 0
    nras bcgs 0 1024
    nras bcgs 0 1024 " -pc_nras_precision single"
  } | problem "Poisson, new values, 1e-6" -n "$n" -walls whole -coo
}

convection() {
  for peclet in 1 10 100 1000; do
    for krylov in bcgs gmres "idrs -ksp_idrs_s 8"; do
      {
        petsc "$krylov" 0
        for blocks in 8 128 1024; do nras "$krylov" 0 $blocks; done
      } | problem "Peclet $peclet, 1e-6" -n "$n" -walls whole -peclet $peclet
    done
  done
}

points() { # without a grid; on a GPU beside one core of the same machine; ILU(0) fails at the last Peclet number
  for peclet in 0 10 100 1000; do
    k=0
    [ $peclet -lt 1000 ] || k=1
    options="-points $points -shift 1e-3 -rhs random -peclet $peclet"
    for krylov in bcgs gmres; do
      if [ $where = gpu ]; then
        there=$device device=
        echo "$krylov + ilu($k), aij, one core | -ksp_type $krylov -pc_type ilu -pc_factor_levels $k -mat_type aij" |
          problem "$points points, Peclet $peclet, 1e-6" $options
        device=$there
      fi
      {
        petsc $krylov $k
        for blocks in -1 8 128; do nras $krylov $k $blocks | sed "s/, -1 blocks/, automatic/; s/aijdia/aij$([ $where = cpu ] || echo cusparse)/"; done
      } | problem "$points points, Peclet $peclet, 1e-6" $options
    done
  done
}

# Iterations on the same points with strong convection: blocks, cuts, overlaps and, where ILU(0) has trouble, ILU(1)
overlaps() {
  type=aij few=24
  [ $where = cpu ] || type=aijcusparse few=-1
  for peclet in ${PECLETS:-100 300 700 1000}; do
    for k in $([ "$peclet" -lt 500 ] && echo 0 || echo 0 1); do
      for blocks in ilu 1 $few 128 1024; do
        for cut in metis rows; do
          case $blocks-$cut in ilu-rows | 1-rows) continue ;; esac
          for krylov in bcgs gmres "idrs -ksp_idrs_s 8"; do
            for overlap in 0 1 2; do
              options="x | -ksp_type $krylov -mat_type $type -pc_type"
              case $blocks-$overlap in
                ilu-0) echo "$options ilu -pc_factor_levels $k" ;;
                1-0 | $few-* | 128-* | 1024-*)
                  echo "$options nras -pc_nras_levels $k -pc_nras_blocks $blocks -pc_nras_partition $cut -pc_nras_inner_overlap $overlap" ;;
              esac
            done
          done >"$WORK/solvers"
          "$SOLVE" -dll_append "$LIB" $device -points "$points" -shift 1e-3 -rhs random -peclet "$peclet" -ksp_rtol 1e-6 -ksp_max_it 1000 -repeats 1 -warm 0 \
            -solvers "$WORK/solvers" >"$WORK/log"
          case $blocks in
            ilu) head="| $peclet | $k | \`ilu\` | |" ;;
            1) head="| $peclet | $k | 1 | |" ;;
            -1) head="| $peclet | $k | automatic | $cut |" ;;
            *) head="| $peclet | $k | $blocks | $cut |" ;;
          esac
          awk -F ' *[|] *' -v head="$head" 'BEGIN {printf "%s", head}
            /^[|]/ {its[n++] = $3 ~ /DIVERGED/ || $4 + 0 > 1e-5 ? "-" : $3}
            END {for (k = 0; k < n; ++k) printf n == 3 ? " %s | | |" : " %s |", its[k]; print ""}' "$WORK/log" >"$WORK/row"
          cat "$WORK/row" >>"$WORK/rows"
          cat "$WORK/row" >&2
        done
        ! grep -q 'ilu` | | - | | | - | | | - |' "$WORK/row" || break # several blocks will not do what one does not
      done
    done
  done
}

for part in $PARTS; do
  : >"$WORK/rows"
  $part
  {
    if [ "$part" = overlaps ]; then
      echo "Command: \`PARTS=overlaps${PECLETS:+ PECLETS=\"$PECLETS\"} bench/nras.sh\`. Machine: $(machine). $points points, one process, 1e-6 on |r|/|b|," \
        "zero guess. Iterations of three methods with inner overlap 0, 1 and 2. A dash stands for more than 1000, for a residual of 1e4 times the" \
        "first, or for a true one above 1e-5. Where \`ilu\` fails with all three, blocks were not tried."
      echo
      echo "| Peclet | k | blocks | cut | bcgs, 0 | 1 | 2 | gmres, 0 | 1 | 2 | IDR(8), 0 | 1 | 2 |"
      echo "|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    else
      echo "Command: \`PARTS=$part${settings}bench/nras.sh $n $ranks\`. Machine: $(machine). Processes: $ranks; the tolerance of the first column on" \
        "|r|/|b|, zero guess, warm-up excluded; times are the best and, in brackets, the median of ${REPEATS:-3} fresh solvers."
      echo
      echo "| problem | solver | iterations | true residual | set-up ms | solve ms | total ms | us an iteration | new values ms |"
      echo "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    fi
    cat "$WORK/rows"
  } >"$WORK/table"
  insert "nras-$part-$where" "$WORK/table"
  cat "$WORK/table"
done
