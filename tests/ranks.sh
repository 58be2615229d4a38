#!/bin/sh
# ranks.sh FOLDER PROGRAM ARGUMENTS...: what each process of mpiexec says goes into FOLDER, into a file of its rank: no line lands within another's
folder=$1
shift
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-x$$}}}}
exec "$@" >"$folder/$rank" 2>&1
