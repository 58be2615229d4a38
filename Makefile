# make [BUILD=dir] [OPTFLAGS=...] [PETSC_DIR=... PETSC_ARCH=...] [V=1: show the commands]: see README.md
VERSION  := 0.1.0
BUILD    ?= build
# for this machine; what is installed runs on others as well, see install
OPTFLAGS ?= -O3 -march=native
PREFIX   ?= /usr/local
# machine code for these compute capabilities, and PTX of the last for later ones
CUDA_ARCHS ?= 80 90
GOALS    := $(or $(MAKECMDGOALS),all)
.DEFAULT_GOAL := all

# As many jobs as processors, unless -j says otherwise, here or in a make above
ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS) $(shell printenv MAKEFLAGS))$(filter clean petsc petsc-cuda,$(GOALS)),0)
  MAKEFLAGS += -j$(shell sh config/processors.sh)
endif
# One line a file; V=1 shows the commands instead
Q    := $(if $(V),,@)
SAY  := @$(if $(V),:,printf '  %-4s %s\n')
ifeq ($(MAKELEVEL)$(MAKE_RESTARTS)$(wildcard $(BUILD)/libpolder.so)$(filter-out all demo sea waves tests check,$(GOALS)),0)
  $(info Building in $(BUILD), about half a minute on two processors; V=1 shows the commands)
endif

# Everything about PETSc is in $(BUILD)/petsc.mk, rewritten only when it changes; make starts over when it did
ifneq ($(filter-out clean format petsc petsc-cuda,$(GOALS)),)
  include $(BUILD)/petsc.mk $(BUILD)/examples.mk
endif
$(BUILD)/petsc.mk: FORCE
	@mkdir -p $(@D)
	@sh config/requirements.sh build $(if $(filter check%,$(GOALS)),check) $(filter demo waves sea,$(GOALS)) $(if $(filter check-valgrind,$(GOALS)),valgrind)
	@sh config/petsc.sh >$@.new && echo '# $(OPTFLAGS) $(CPPFLAGS) $(LDFLAGS) $(CUDA_ARCHS)' >>$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/examples.mk: FORCE | $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	@sh config/examples.sh >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

CC       := $(PETSC_CC)
CFLAGS   := $(OPTFLAGS) -std=gnu11 -Wall -Wextra -Iinclude -Isrc $(CPPFLAGS) $(PETSC_CFLAGS)
TESTFLAGS := -Itests
LDFLAGS  += -Wl,--as-needed
LDLIBS   := $(PETSC_LIBS) -lmetis -llapack -lblas $(CUDA_LIBS) -lpthread -ldl -lm
$(if $(filter 3% 5% 6% 7%,$(CUDA_ARCHS)),$(error CUDA_ARCHS="$(CUDA_ARCHS)": GPUs of compute capability 8.0 (80) or later are supported))
CUDAFLAGS := -O3 -std=c++17 -ccbin $(CUDA_CXX) -cudart shared $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$a,code=sm_$a)
CUDAFLAGS += -gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS)) --extended-lambda
CUDAFLAGS += -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra $(if $(findstring -Werror,$(OPTFLAGS)),-Werror all-warnings)
CUDAFLAGS += -Iinclude -Isrc $(CPPFLAGS) $(PETSC_CFLAGS)
SRC      := $(wildcard src/*.c src/*/*.c src/*/*/*.c)
CUDASRC  := $(if $(CUDAC),$(wildcard cuda/*.cu))
# EMULATED=1: a device that is the host, for tests on machines without a GPU
ifdef EMULATED
  SRC     := $(filter-out src/core/devicecuda%,$(SRC)) $(wildcard tests/emulated/*.c)
  CUDASRC :=
  CFLAGS  := $(filter-out -DPOLDER_HAVE_CUDA=1,$(CFLAGS)) -DPOLDER_HAVE_CUDA=1 -DPOLDER_EMULATED=1
endif
# an example may have more sources, and CUDA ones, in a folder of its name
PARTSRC  := $(wildcard examples/*/*.c)
CUDAPARTSRC := $(if $(CUDAC)$(EMULATED),$(wildcard examples/*/*.cu))
PARTFLAGS := $(NETCDF_CFLAGS) $(if $(CUDAPARTSRC),-DEXAMPLES_HAVE_CUDA=1) $(if $(EMULATED),-DEXAMPLES_EMULATED=1)
PART     := $(PARTSRC:%.c=$(BUILD)/parts/%.o)
# and so may a test
TESTPART := $(patsubst %.c,$(BUILD)/parts/%.o,$(wildcard tests/*/*/*.c))
CUDAPART := $(CUDAPARTSRC:%.cu=$(BUILD)/parts/%.o)
OBJ      := $(SRC:%.c=$(BUILD)/%.o)
CUDAOBJ  := $(CUDASRC:%.cu=$(BUILD)/%.o)
LIB      := $(BUILD)/libpolder.so
PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
BENCHES  := $(patsubst %.c,$(BUILD)/%,$(wildcard bench/*.c))
CUDABENCHES := $(if $(CUDAC),$(patsubst %.cu,$(BUILD)/%,$(wildcard bench/*.cu)))
TESTS    := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/kernels/*.c tests/types/*.c tests/programs/*.c))
# PETSc's own tutorials, as they are
TUTORIALS := $(if $(PETSC_EXAMPLES),$(addprefix $(BUILD)/,$(sort $(shell sed -n 's/^ *program: //p' tests/programs/tutorials.test))))
OPTS     := $(wildcard examples/options/*.opts)
# tests of the inside link the objects themselves, which hide their symbols in the library
INTERNAL := $(patsubst %.c,$(BUILD)/%,$(shell grep -ls '^ *build: internal' $(TESTS:$(BUILD)/%=%.c)))

all: $(LIB) examples

examples: $(PROGRAMS)

$(LIB): $(OBJ) $(CUDAOBJ)
	$(SAY) LD $@
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,--no-undefined -Wl,-soname,$(@F) -o $@ $^ $(LDLIBS)

$(BUILD)/libpolder.a: $(OBJ) $(CUDAOBJ)
	$(SAY) AR $@
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^

$(OBJ): $(BUILD)/%.o: %.c $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(CFLAGS) $(if $(findstring tests/,$<),$(TESTFLAGS)) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(CUDAOBJ): $(BUILD)/%.o: %.cu $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) NVCC $<
	$(Q)$(CUDAC) $(CUDAFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(PART) $(TESTPART): $(BUILD)/parts/%.o: %.c $(BUILD)/petsc.mk $(BUILD)/examples.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(CFLAGS) $(if $(findstring tests/,$<),$(TESTFLAGS),$(PARTFLAGS)) -MMD -MP -c -o $@ $<

$(CUDAPART): $(BUILD)/parts/%.o: %.cu $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(if $(EMULATED),$(or $(CUDA_CXX),mpicxx) -x c++ -std=c++17 $(filter-out -std=%,$(CFLAGS)) $(PARTFLAGS),$(CUDAC) $(CUDAFLAGS)) \
	  -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

ANY := %
.SECONDEXPANSION:
$(PROGRAMS): $(BUILD)/%: %.c $$(filter $$(BUILD)/parts/$$*/$$(ANY),$$(PART) $$(CUDAPART)) $(LIB) $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(CFLAGS) -MMD -MP -MF $@.d -o $@ $(filter %.c %.o,$^) $(LDFLAGS) -L$(BUILD) -Wl,-rpath,'$$ORIGIN/..' -lpolder $(PETSC_LIBS) \
	  $(if $(CUDAPART),$(CUDA_LIBS)) -lm

$(CUDABENCHES): $(BUILD)/%: %.cu $(BUILD)/libpolder.a $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) NVCC $<
	$(Q)$(CUDAC) $(CUDAFLAGS) -MMD -MP -MF $@.d -c -o $@.o $<
	$(Q)$(CC) -o $@ $@.o $(LDFLAGS) $(BUILD)/libpolder.a $(LDLIBS)

$(INTERNAL): $(BUILD)/%: %.c $$(filter $$(BUILD)/parts/$$*/$$(ANY),$$(TESTPART)) $(BUILD)/libpolder.a $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(CFLAGS) $(TESTFLAGS) -MMD -MP -MF $@.d -o $@ $(filter %.c %.o,$^) $(LDFLAGS) $(BUILD)/libpolder.a $(LDLIBS)

# the main of the tests of device kernels
$(filter $(BUILD)/tests/kernels/device%,$(TESTS)): $(BUILD)/parts/tests/kernels/device/main.o

# the parts of an example that a test looks at
$(BUILD)/tests/programs/damaged: $(filter $(BUILD)/parts/examples/readmat/%,$(PART))

$(filter-out $(INTERNAL),$(TESTS) $(BENCHES)): $(BUILD)/%: %.c $$(filter $$(BUILD)/parts/$$*/$$(ANY),$$(TESTPART)) $(LIB) $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(CFLAGS) $(TESTFLAGS) -MMD -MP -MF $@.d -o $@ $(filter %.c %.o,$^) $(LDFLAGS) \
	  -L$(BUILD) -Wl,-rpath,'$$ORIGIN/..' -Wl,-rpath,'$$ORIGIN/../..' -lpolder $(PETSC_LIBS) -lm

$(TUTORIALS): $(BUILD)/tutorials/%: $(PETSC_EXAMPLES)/ksp/ksp/tutorials/%.c $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(OPTFLAGS) $(PETSC_CFLAGS) -o $@ $< $(LDFLAGS) $(PETSC_LIBS) -lm

# what stands for NCCL there
EMULATEDNCCL := $(if $(EMULATED),$(BUILD)/tests/nccl/libnccl-emulated.so)
$(EMULATEDNCCL): tests/emulated/nccl/nccl.c $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(OPTFLAGS) -std=gnu11 -Wall -Wextra -fPIC -shared -o $@ $<

tests: $(LIB) $(TESTS) $(EMULATEDNCCL) $(TUTORIALS) examples

check: tests
	@tests/run --build $(BUILD) --mpiexec "$(MPIEXEC)" $(CHECKFLAGS)

# random cases for so many seconds, each time others: what is wrong comes with the options that show it again
FUZZSECONDS ?= 60
fuzz: $(LIB) $(BUILD)/tests/programs/fuzz
	@BUILD=$(abspath $(BUILD)) MPIEXEC="$(MPIEXEC)" FUZZSECONDS=$(FUZZSECONDS) FUZZSEED=$(FUZZSEED) sh tests/programs/fuzz/fuzz.sh $(FUZZFLAGS)

demo: all
	@BUILD=$(abspath $(BUILD)) MPIEXEC="$(MPIEXEC)" examples/demo.sh $(DEMOSIZE)

# waves in a bay
waves: all
	@BUILD=$(abspath $(BUILD)) MPIEXEC="$(MPIEXEC)" examples/waves.sh

# waves in a real sea, from a relief of the earth
sea: all
	@BUILD=$(abspath $(BUILD)) MPIEXEC="$(MPIEXEC)" examples/sea.sh

benches: $(BENCHES) $(CUDABENCHES)

# the peer hypre, on its own structures: make hypre HYPRE_INCLUDE=<folder> HYPRE_LIB=<folder>, then the options of bench/solve
HYPRE_INCLUDE ?= /usr/include/hypre
hypre: $(BUILD)/bench/hypre/hypre
$(BUILD)/bench/hypre/hypre: $(wildcard bench/hypre/*.c) bench/hypre/hypre.h $(wildcard bench/*.h) $(BUILD)/petsc.mk
	@mkdir -p $(@D)
	$(SAY) CC $@
	$(Q)$(CC) $(CFLAGS) -I$(HYPRE_INCLUDE) -o $@ $(filter %.c,$^) $(LDFLAGS) \
	  $(HYPRE_LIB:%=-L%) $(HYPRE_LIB:%=-Wl,-rpath,%) -lHYPRE $(PETSC_LIBS) $(CUDA_LIBS) -lm

bench: all benches
	@BUILD=$(abspath $(BUILD)) MPIEXEC="$(MPIEXEC)" bench/run.sh

# the tables of docs/results, each minutes long
TABLES := bench-reference bench-floor bench-ranks bench-peers bench-pamg bench-iteration bench-rrb bench-navierstokes bench-waves bench-scale bench-nras bench-idrs \
  bench-contest bench-classical bench-grids
$(TABLES): bench-%: all $(BENCHES)
	@BUILD=$(abspath $(BUILD)) MPIEXEC="$(MPIEXEC)" bench/$*.sh

bench-rrb: $(BUILD)/tests/types/rrbcg
bench-grids: $(BUILD)/bench/hypre/hypre

# the front page of docs/results, from the others
bench-summary: $(BUILD)/petsc.mk
	@bench/summary.sh

# the suite with AddressSanitizer and UBSan; with EMULATED=1 the device side as well
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
check-asan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan OPTFLAGS="-O1 -g -march=native $(SANITIZERS)" LDFLAGS="$(LDFLAGS) $(SANITIZERS)" tests
	@tests/run --build $(BUILD)/asan --mpiexec "$(MPIEXEC)" --asan $(if $(EMULATED),--emulated) $(CHECKFLAGS)

# small tests under valgrind, for the use of uninitialised values; it does not know every instruction of -march=native
check-valgrind:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/valgrind OPTFLAGS="-O1 -g" tests
	@tests/run --build $(BUILD)/valgrind --mpiexec "$(MPIEXEC)" --valgrind --suite valgrind $(CHECKFLAGS)

# the suite with every vector on an emulated device: the device side of the library on a machine without a GPU; PETSc must know of devices
check-emulated:
	@grep -q '^#: HAVE_DEVICE$$' $(BUILD)/petsc.mk || { echo "check-emulated needs a PETSc that was configured for a device, with CUDA for instance" >&2; exit 1; }
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/emulated EMULATED=1 tests
	@tests/run --build $(BUILD)/emulated --mpiexec "$(MPIEXEC)" --emulated $(CHECKFLAGS)

# the same suite with CUDA vectors
check-gpu: tests
	@tests/run --build $(BUILD) --mpiexec "$(MPIEXEC)" --gpu $(CHECKFLAGS)

# small cases on the device under each tool of compute-sanitizer; kernels of other libraries are left out. racecheck slows every access down
# many times, so much that the kernel of rrbcg, whose blocks wait for each other, does not end; initcheck takes what kernels of other
# libraries have written, which are left out, for uninitialised
check-sanitizer: tests
	@for tool in memcheck racecheck initcheck; do echo "== $$tool"; \
	  tests/run --build $(BUILD) --mpiexec "$(MPIEXEC)" --gpu --sanitizer $$tool --sanitizer-flags="--kernel-name kernel_substring=Polder" \
	    --suite $$tool $(CHECKFLAGS) || exit; done

# PETSc for those who want another one than they have, without and with CUDA
PETSC_BUILD_DIR     ?= petsc
PETSC_BUILD_VERSION ?= 3.26.1
PETSC_CUDA_DIR      ?= petsc-cuda
PETSC_CUDA_VERSION  ?= 3.24.6
petsc:
	@sh config/requirements.sh petsc
	@config/petsc-build.sh "$(PETSC_BUILD_DIR)" "$(PETSC_BUILD_VERSION)"
petsc-cuda:
	@sh config/requirements.sh petsc
	@config/petsc-build.sh "$(PETSC_CUDA_DIR)" "$(PETSC_CUDA_VERSION)" "$(CUDA_ARCHS)"

# Built without -march=native, in a folder of its own, so that it runs on any processor of this kind; with OPTFLAGS given, the library of $(BUILD)
install:
	@$(MAKE) --no-print-directory $(if $(filter file,$(origin OPTFLAGS)),BUILD=$(BUILD)/install OPTFLAGS=-O3) install-files

install-files: $(LIB)
	$(Q)install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/polder/options
	$(Q)install -m 644 $(LIB) $(DESTDIR)$(PREFIX)/lib
	$(Q)install -m 644 include/polder.h $(DESTDIR)$(PREFIX)/include
	$(if $(OPTS),$(Q)install -m 644 $(OPTS) $(DESTDIR)$(PREFIX)/share/polder/options)
	$(Q)sed -e 's|@PREFIX@|$(abspath $(PREFIX))|' -e 's|@VERSION@|$(VERSION)|' config/polder.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/polder.pc
	@echo "Installed in $(DESTDIR)$(abspath $(PREFIX)). A PETSc program loads it with"
	@echo "  -dll_append $(abspath $(PREFIX))/lib/libpolder.so"
	@echo "and, for instance, -options_file $(abspath $(PREFIX))/share/polder/options/bubbles3d.opts"

format:
	clang-format -i $(wildcard include/*.h src/*.[ch] src/*/*.[ch] src/*/*/*.[ch] tests/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch] examples/*.[ch] \
	  examples/*/*.[ch] examples/*/*.cu bench/*.[ch] bench/*/*.c cuda/*.h cuda/*.cu cuda/*.cuh bench/*.cu)

clean:
	rm -rf $(BUILD)

-include $(OBJ:.o=.d) $(CUDAOBJ:.o=.d) $(PART:.o=.d) $(TESTPART:.o=.d) $(CUDAPART:.o=.d) $(TESTS:=.d) $(PROGRAMS:=.d) $(BENCHES:=.d) $(CUDABENCHES:=.d)
.PHONY: all examples fuzz demo waves sea bench hypre $(TABLES) bench-summary tests check check-asan check-valgrind check-emulated check-gpu check-sanitizer
.PHONY: benches petsc petsc-cuda install install-files format clean FORCE
