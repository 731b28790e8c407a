# Bloomery's front door. Each target installs the packages it needs with apt-get
# on Debian and Ubuntu (elsewhere it lists them), builds with CMake, and runs its
# job. `make help` prints the lines that begin with `##`.
#
## build
##   build            build the library and all programs, into BUILD (default build/)
##   run              build, and show the main job on real words;
##                    WHAT=redis: a session with a Redis server and the module
##   bindings         build and test the bindings; WHAT=python, sqlite, postgresql,
##                    wasm, rust or go: that one
##   install          install into PREFIX (default /usr/local); DESTDIR is honoured;
##                    STRIP=0: with the symbols for debuggers
##   uninstall        remove what the last install from BUILD put there
##   deb              make the Debian packages, in BUILD/deb
##   dist             make the tarball of a release, its checksums and the list
##                    of its parts, in BUILD
##   clean            remove BUILD
##
## test
##   check            the tests that every change must pass (4 minutes);
##                    WHAT=index: tests whose name matches; WHAT=counts, systems,
##                    cross, coverage, mutants, ...: that job; WHAT=list: all jobs
##   check-sanitized  the same tests under clang's sanitizers (6 minutes)
##   check-all        everything, in parts that are resumed (hours); PART=cross:
##                    the parts of that name
##   fuzz             run each fuzz target for SECONDS (default 60)
##   soak             random tests with fresh seeds, for HOURS (default 1); SEED=n
##                    repeats a round
##
## measure
##   bench            speed beside the machine's limits and other tools (15
##                    minutes); WHAT=list: the other benchmarks
##   lab              repeat the experiments of the papers (an hour; QUICK=1: five
##                    minutes of processor time)
##   uses             run what filters are used for, on real input (QUICK=1: less
##                    input)
##
## write
##   docs             generate the documentation; WHAT=reliability: the figures of
##                    docs/reliability.md, after check-all, soak, coverage, mutants
##   site             generate the site in BUILD/site (2 minutes after a build);
##                    make check WHAT=site checks it in a browser
##   help             print this list
##
## OPTIONS are passed to CMake: OPTIONS=-DBLY_URING=OFF where liburing is missing,
## OPTIONS=-DBLY_MPI=ON for bloomery-mpi.

BUILD   ?= build
PREFIX  ?= /usr/local
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
STRIP   ?= 1
SECONDS ?= 60
HOURS   ?= 1
SEED    ?=
OPTIONS ?=
# As many jobs as -j says, or as there are processors. Tools get that number, not
# make's own flags, which would make them warn about its jobserver.
JOBS    ?= $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),\
                $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))
unexport MAKEFLAGS
export OPTIONS
export BLY_BUILD := $(BUILD)
export BLY_JOBS  := $(JOBS)

amount    = $(if $(filter-out 0,$(QUICK)),quick,full)
configure = cmake -S . -B $(BUILD) $(OPTIONS) >/dev/null
compile   = cmake --build $(BUILD) -j $(JOBS)

.PHONY: all build run bindings install uninstall deb dist clean check \
        check-sanitized check-all fuzz soak bench lab uses docs site help

all: build

build:
	@tools/make/setup build
	@$(configure) -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	@$(compile)

# $(call one-of,NAMES): refuses a WHAT that is not one of the names.
one-of = $(if $(filter-out $(1),$(WHAT)),@echo "make $@: unknown \
    WHAT='$(WHAT)'; it is one of: $(1)" >&2; exit 2)

run:
	$(call one-of,redis)
ifeq ($(WHAT),redis)
	@$(MAKE) --no-print-directory build
	@tools/make/setup redis
	@tools/make/redis $(BUILD)
else
	@tools/make/setup run
	@echo "Configuring the build in $(BUILD)/ ..."
	@$(configure)
	@echo "Building the library and the command (half a minute at first) ..."
	@$(compile) --target bloomery_command >/dev/null
	@echo
	@tools/make/run $(BUILD)/bloomery
endif

# The packages come first: the build looks for the headers of SQLite.
bindings:
	$(call one-of,python sqlite postgresql wasm rust go)
	@for one in $(or $(WHAT),python sqlite postgresql wasm rust go); do \
	    tools/make/setup $$one && \
	    $(MAKE) --no-print-directory build && \
	    tools/make/$$one $(BUILD) || exit 1; \
	done

check:
	@tools/make/setup check
	@tools/check/run $(if $(WHAT),what "$(WHAT)")

check-sanitized:
	@tools/make/setup sanitized
	@tools/check/run sanitized

check-all:
	@tools/check/run all $(PART)

fuzz:
	@tools/make/setup sanitized
	@tools/check/fuzz $(BUILD)/fuzz $(SECONDS)

soak:
	@tools/make/setup sanitized
	@tools/check/soak $(BUILD) $(HOURS) $(SEED)

bench:
	@tools/bench/run $(WHAT)

lab:
	@tools/make/setup lab
	@$(configure) -DBLY_MPI=ON
	@$(compile) --target lab >/dev/null
	@tools/make/lab $(BUILD) $(amount)

uses:
	@tools/make/setup uses
	@$(configure) -DBLY_MPI=ON
	@$(compile) >/dev/null
	@$(compile) --target uses >/dev/null
	@tools/make/uses $(BUILD) $(amount)

docs:
	$(call one-of,reliability)
	@$(MAKE) --no-print-directory build
ifeq ($(WHAT),reliability)
	@tools/make/setup bench
	@tools/make/reliability $(BUILD)
else
	@tools/make/docs --write $(BUILD)
endif

site: build
	@tools/make/setup site
	@tools/make/site $(BUILD)

install: build
	@cmake --install $(BUILD) --prefix "$(PREFIX)" $(if $(filter-out 0,$(STRIP)),--strip)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

uninstall:
	@tools/make/uninstall $(BUILD) "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

deb:
	@tools/make/setup deb
	@echo "Building the packages (some minutes) ..."
	@tools/make/deb $(BUILD)

dist: build
	@tools/make/setup site
	@tools/make/dist $(BUILD)

clean:
	rm -rf $(BUILD)

help:
	@sed -n 's/^## \{0,1\}//p' Makefile
