#!/bin/sh
# bench/idrs.sh [n]: products of idrs, bcgs and fgmres(100) on reaction, convection and diffusion (appendix A of Gupta's thesis, tables A.2 to A.7), n^3 cells
#   (160 on a GPU as in the thesis, 64 on a host), without a preconditioner, with jacobi and with nras; written into docs/results/idrs.md.
#   CASES="200,1600" takes other pairs of Peclet number and reaction, PARTS=problems makes one of the tables.
# ATMOSMOD="atmosmodd.mtx atmosmodl.mtx" bench/idrs.sh: these matrices of the SuiteSparse collection as well, by examples/readmat
set -e
. "$(dirname "$0")/common.sh"
SOLVE=$BUILD/bench/solve
[ -x "$SOLVE" ] || { echo "$SOLVE is missing: run make benches" >&2; exit 1; }
where=cpu device='' blocks=64 warm=0 n=${1:-64}
gpu && where=gpu device="-vec_type cuda -use_gpu_aware_mpi 0" blocks=1024 warm=1 n=${1:-160}
CASES=${CASES:-500,400 1000,400 200,1600}
PARTS=${PARTS:-problems reductions atmosmod}

# What the thesis has: matrix or problem, preconditioner | products and, in brackets, seconds of bcgs, IDR(1), IDR(8), fgmres(100) on one GPU | on four, where
# IDR is minsync
thesis() {
  cat <<'END'
atmosmodd|none|560 (1.19)|540 (1.72)|493 (3.26)|1072 (5.37)|604 (0.728)|746 (1.08)|494 (1.34)|1072 (2.41)
atmosmodj|none|634 (1.35)|504 (1.6)|493 (3.26)|3005 (15.07)|582 (0.659)|1008 (1.46)|497 (1.34)|3005 (6.73)
atmosmodl|none|354 (0.889)|394 (1.46)|332 (2.7)|368 (2.139)|352 (0.541)|432 (0.82)|323 (1.12)|368 (1.03)
atmosmodm|none|236 (0.595)|248 (0.919)|239 (2.30)|247 (1.434)|234 (0.361)|272 (0.526)|230 (0.81)|247 (0.70)
atmosmodd|MDILU|360 (5.03)|376 (5.75)|284 (5.42)|451 (7.62)|352 (1.72)|442 (2.46)|279 (1.94)|425 (2.52)
atmosmodj|MDILU|398 (5.56)|362 (5.54)|299 (5.69)|676 (11.4)|344 (1.61)|582 (3.24)|295 (2.12)|664 (3.88)
atmosmodl|MDILU|184 (3.17)|182 (3.39)|171 (4.1)|203 (4.18)|186 (1.14)|236 (1.74)|185 (1.74)|207 (1.56)
atmosmodm|MDILU|152 (2.61)|152 (2.83)|126 (3.1)|130 (2.68)|176 (1.07)|196 (1.44)|142 (1.30)|147 (1.12)
atmosmodd|BJAC|538 (2.15)|538 (2.83)|493 (4.31)|1072 (7.38)|574 (1.26)|808 (2.62)|494 (2.19)|1072 (3.58)
atmosmodj|BJAC|554 (2.22)|578 (3.03)|491 (4.27)|3005 (20.6)|518 (1.32)|780 (2.49)|493 (2.18)|3005 (10.36)
atmosmodl|BJAC|354 (1.65)|426 (2.60)|332 (3.5)|368 (2.93)|362 (1.14)|444 (1.99)|323 (2.07)|368 (1.67)
atmosmodm|BJAC|256 (1.19)|240 (1.47)|239 (2.6)|247 (1.97)|246 (0.84)|286 (1.29)|230 (1.39)|247 (1.14)
reaction, convection, diffusion|none|2322|1434|584|never|2610|2612|698|never
reaction, convection, diffusion|MDILU|380|370|126|never|486|188|126|never
reaction, convection, diffusion|BJAC|2282|1814|650|never|2692|2640|441|never
END
}

solvers() { # options of the preconditioner and the matrix: lines 'name | options'
  echo "bcgs | -ksp_type bcgs $1"
  echo "fgmres(100) | -ksp_type fgmres -ksp_gmres_restart 100 $1"
  for s in 1 4 8; do
    for variant in minsync biortho; do echo "IDR($s) $variant | -ksp_type idrs -ksp_idrs_s $s -ksp_idrs_variant $variant $1"; done
  done
}

run() { # options; solvers in $WORK/solvers
  if ! "$@" -dll_append "$LIB" -dim 3 -walls whole -wind 0.436,0.873,0.218 -rhs random -ksp_rtol 1e-8 -ksp_divtol 1e10 -ksp_max_it 5000 -counts \
    -solvers "$WORK/solvers" >"$WORK/log" 2>&1; then
    cat "$WORK/log" >&2
    exit 1
  fi
}

problems() {
  {
    echo "Command: \`bench/idrs.sh $n\`. Machine: $(machine). $n^3 cells, one process, \`aijdia\`, \`nras\` with $blocks blocks, a random right-hand side," \
      "zero guess, 1e-8 on |r|/|b|, at most 5000 iterations; one solve$([ $warm = 0 ] || echo " after a warm-up")."
    echo
    echo "| Peclet, reaction | preconditioner | solver | products | those of bcgs | true residual | set-up ms | solve ms |"
    echo "|---|---|---|---:|---:|---:|---:|---:|"
  } >"$WORK/table"
  for case in $CASES; do
    for pc in none jacobi "nras -pc_nras_blocks $blocks"; do
      solvers "-mat_type aijdia -pc_type $pc" >"$WORK/solvers"
      # shellcheck disable=SC2086
      run "$SOLVE" $device -n "$n" -peclet "${case%,*}" -reaction "${case#*,}" -repeats 1 -warm $warm
      grep '^|' "$WORK/log" | awk -F ' *[|] *' -v head="| ${case%,*}, ${case#*,} | ${pc%% *}" '{
        reason = $3 ~ /DIVERGED/ ? substr($3, index($3, " ")) : ""
        if (!bcgs) {bcgs = $9; failed = reason}
        printf "%s | %s | %s%s | %s | %s | %.0f | %.0f |\n", head, $2, $9, reason, failed || reason ? "" : sprintf("%.2f", $9 / bcgs), $4, $5, $6}' |
        tee -a "$WORK/table" >&2
    done
  done
  insert "idrs-problems-$where" "$WORK/table"
}

reductions() { # of all processes, on the host
  {
    echo "Command: \`PARTS=reductions bench/idrs.sh\`. 32^3 cells, Peclet 500, reaction 400, no preconditioner, two processes, otherwise as above." \
      "Computing the true residual at the end of \`idrs\` counts as well."
    echo
    echo "| solver | products | reductions | a product |"
    echo "|---|---:|---:|---:|"
  } >"$WORK/table"
  solvers "-mat_type aijdia -pc_type none" >"$WORK/solvers"
  run $MPIEXEC -n 2 "$SOLVE" -n 32 -peclet 500 -reaction 400 -repeats 1 -warm 0
  grep '^|' "$WORK/log" | awk -F ' *[|] *' '{printf "| %s | %s | %s | %.2f |\n", $2, $9, $10, $10 / $9}' | tee -a "$WORK/table" >&2
  insert idrs-reductions "$WORK/table"
}

atmosmod() {
  {
    echo "| thesis: matrix | preconditioner | bcgs | IDR(1) | IDR(8) | fgmres(100) | bcgs, four GPUs | IDR(1) minsync | IDR(8) minsync | fgmres(100) |"
    echo "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    thesis | sed 's/^/| /; s/|/ | /2g; s/$/ |/'
    echo
    if [ -z "$ATMOSMOD" ]; then echo "The matrices were not at hand. \`ATMOSMOD=\"atmosmodd.mtx atmosmodl.mtx\" bench/idrs.sh\` adds them to this page."
    else
      echo "Command: \`ATMOSMOD=\"$(for file in $ATMOSMOD; do basename "$file"; done | xargs)\" bench/idrs.sh\`. Machine: $(machine). 1e-8 on |r|/|b|." \
        "Products are twice the iterations of \`bcgs\` and one more than those of \`idrs\` and \`fgmres\`, without what a restart takes."
      echo
      echo "| matrix | preconditioner | solver | products | true residual | set-up s | solve s |"
      echo "|---|---|---|---:|---:|---:|---:|"
      for file in $ATMOSMOD; do
        for pc in none jacobi "nras -pc_nras_blocks $blocks"; do
          solvers "-mat_type aijicrs -ksp_max_it 5000 -ksp_divtol 1e10 -pc_type $pc" | sed 's/ |/:/' >"$WORK/solvers"
          name=$(basename "$file")
          # shellcheck disable=SC2086
          "$BUILD/examples/readmat" $device -A "$file" -solvers "$WORK/solvers" -rtol 1e-8 </dev/null >"$WORK/log"
          awk -v head="| ${name%%.*} | ${pc%% *}" '/VERGED/ {
            for (k = 1; $k !~ /VERGED/; ++k) name = k > 1 ? name " " $k : $k
            printf "%s | %s | %d%s | %s | %s | %s |\n", head, name, name == "bcgs" ? 2 * $(k + 1) : $(k + 1) + 1, $k ~ /^DI/ ? " (" $k ")" : "", $(k + 2),
              $(NF - 1), $NF}' "$WORK/log"
        done
      done
    fi
  } >"$WORK/table"
  cat "$WORK/table" >&2
  insert "idrs-atmosmod" "$WORK/table"
}

for part in $PARTS; do $part; done
