BUILD ?= build
OPTFLAGS ?= -O3 -march=native
PETSC_PC := $(shell for d in "$(PETSC_DIR)/$(PETSC_ARCH)" "$(PETSC_DIR)"; do [ -n "$(PETSC_DIR)" ] && [ -f "$$d/lib/pkgconfig/PETSc.pc" ] && { echo "$$d/lib/pkgconfig/PETSc.pc"; exit; }; done; echo PETSc)
CC := $(shell pkg-config --variable=ccompiler $(PETSC_PC))
CFLAGS := $(OPTFLAGS) -std=gnu11 -Wall -Wextra -fPIC -fvisibility=hidden -Iinclude $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PETSC_PC)))
LDLIBS := $(shell pkg-config --libs $(PETSC_PC)) -lmetis -lm
SRC := $(wildcard src/*.c src/*/*.c)
OBJ := $(SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/libpolder.so

$(BUILD)/libpolder.so: $(OBJ)
	$(CC) -shared -Wl,--no-undefined -o $@ $^ $(LDLIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

examples: $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))

$(BUILD)/examples/%: examples/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $< $(filter-out -lmetis,$(LDLIBS))

-include $(OBJ:.o=.d)
.PHONY: all examples
