# module.mk - one module of WebAssembly, of the library and wasm.c: tools/make/wasm.
#
#   make -f bindings/wasm/module.mk OUT=FILE OBJECTS=FOLDER HEADERS=FOLDER \
#        KINDS='PATTERN...' FAST='PATTERN...' TIGHT='PATTERN...' SMALL='FLAG...' \
#        SHRINK='FLAG...'
#
# KINDS: the folders of src/kinds/ that are taken, as sets/%. FAST: the sources that
# are compiled for speed; all others are by SMALL. TIGHT: those of the others in
# which the compiler may call functions that are inlined elsewhere. SHRINK: what
# wasm-opt is told.
flags := --target=wasm32-wasi -msimd128 -std=c11 -Wall -Wextra -Wpedantic \
    -Wconversion -Wshadow -Werror -DNDEBUG -ffp-contract=off -ffunction-sections \
    -fdata-sections -D_GNU_SOURCE -DBLY_STATIC -DBLY_WITHOUT_SYSTEM \
    -DNAMES_JAVASCRIPT -Iinclude -Iprograms/redis -Isrc -isystem $(HEADERS)
features := --enable-simd --enable-bulk-memory --enable-sign-ext \
    --enable-nontrapping-float-to-int --enable-mutable-globals

all := $(shell find src -name '*.c')
kinds := $(filter src/kinds/%,$(all))
without := src/io/% src/base/system.c src/base/threads.c src/kinds/%
sources := $(filter-out $(without),$(all)) bindings/wasm/wasm.c \
    $(filter $(addprefix src/kinds/,$(KINDS)),$(kinds))
objects := $(sources:%.c=$(OBJECTS)/%.o)

# A stack that is below all else ends in a trap, and not in what lies beside it.
$(OUT): $(objects)
	clang --target=wasm32-wasi -mexec-model=reactor -Wl,--gc-sections \
	    -Wl,--strip-all -Wl,-z,stack-size=262144 -Wl,--stack-first $^ \
	    -o $@.linked
	wasm-opt $(features) --strip-producers $(SHRINK) $@.linked -o $@

$(OBJECTS)/%.o: %.c bindings/wasm/module.mk
	@mkdir -p $(@D)
	clang $(flags) $(if $(filter $(FAST),$<),-O2,$(SMALL)) \
	    $(if $(filter $(TIGHT),$<),-DBLY_INLINE_FREELY) -MMD -MP -c $< -o $@

-include $(objects:.o=.d)
