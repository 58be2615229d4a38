# Prints the number of processors that a program started here may use. nproc alone would print OMP_NUM_THREADS where that is set
env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2
