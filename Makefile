# Bloomery's front door. Each target installs what it needs (on Debian and its
# kin; elsewhere it says what is missing), builds with CMake, and does its job.
#
#   make run      build, and do the main job on real words
#   make check    every law, kind and format, and quick tests of everything else
#                 (four minutes)
#   make check-sanitized  the same under clang's sanitizers (six minutes)
#   make check-all  everything in full, fuzzing, other systems and processors
#                 (hours); a run that was interrupted goes on where it stopped,
#                 and PART=cross runs the parts of that name (tools/check list)
#   make          build only, into build/
#   make proof    count memberships, measure rates (slow; see bench/proof.c)
#   make bench    speed beside the machine's limits and other tools, all in one
#                 run (a quarter of an hour; best on an idle machine); every
#                 number is in build/bench.csv, and tools/bench-diff compares
#                 two such files
#   make tune     which settings of the library suit this processor: keys ahead,
#                 KiB that are near, vector instructions (a quarter of an hour or
#                 more; best on an idle machine; KINDS=a,b if not all; QUICK=1:
#                 three minutes, a look only)
#   make bench-advise  is the first advice as good as the best kind measured?
#                 (some minutes; best on an idle machine)
#   make bench-large  filters of 10^8, 10^9 and 4 10^9 keys, KINDS=a,b and
#                 KEYS=1e8,1e9 if not all (an hour, 24 GiB)
#   make bench-similar  the most similar of 10^6 rows of 2048 bits, beside a
#                 plain read of them (ROWS=n if not so many; half a minute)
#   make bench-redis  the commands of Redis' module beside PING (two minutes)
#   make bench-serve  the requests that 'bloomery serve' answers in a second,
#                 beside a server that looks at none (a minute)
#   make bench-search  'bloomery index' and 'search' in the source of Linux,
#                 beside ripgrep and codesearch (ten minutes, 2 GB of disk)
#   make bench-python  what Python's package takes beside the library (a minute)
#   make bench-sqlite  a semi-join by SQLite alone, and by a filter (a minute)
#   make bench-peers  install the other tools that bench knows
#   make lab      measure anew what the papers report: build/lab/report.html
#                 (an hour; QUICK=1: two minutes, with wider intervals)
#   make uses     run what filters are used for, on real input, and see that it
#                 comes out right: build/uses/report.html
#   make python   the package of Python, with its tests, in build/python
#   make wasm     the package of npm, with its tests, in build/wasm
#   make bench-wasm  what a lookup takes in Node, beside a Set (a minute)
#   make site     the pages of the project, with a playground, in build/site
#                 (two minutes), and, where npm is, what a browser says of them
#   make sqlite   the extension of SQLite, with its tests: build/bloomery_sqlite.so
#   make postgresql  the extension of PostgreSQL, with its tests against servers
#                 of its own, in build/postgresql
#   make fuzz     run the fuzz targets for SECONDS each (default 60)
#   make soak     random tests in rounds, each with a fresh seed, for HOURS
#                 (default 1, and 0.5 is half an hour), and the fuzz targets;
#                 SEED=n repeats the round of that seed
#   make counts   instructions of a lookup of each kind, against those in
#                 bench/counts.txt (a minute; valgrind)
#   make cross    the same bytes and answers on a big-endian, a 32-bit and an
#                 ARM processor, under qemu, and from other compilers
#                 (a quarter of an hour; Debian only)
#   make systems  other systems' programs, and whether they read the filters
#                 that we write in their formats, and we theirs (Debian only)
#   make redis    a Redis server with the module, and a session with it
#   make coverage which lines and branches the tests go through:
#                 build/coverage/report.txt (half an hour)
#   make mutants  how many of COUNT (default 200) small faults put into src/ the
#                 tests notice (an hour)
#   make reliability  write docs/reliability.md from what check-all, soak,
#                 coverage, mutants and cross have left (some minutes)
#   make docs     make the generated parts of the docs anew
#   make install  into PREFIX (default /usr/local); DESTDIR is honoured
#   make uninstall  remove what the last install from build/ put there
#   make clean    remove build/
#
# OPTIONS are given to CMake: OPTIONS=-DBLY_URING=OFF where there is no liburing,
# OPTIONS=-DBLY_MPI=ON for bloomery-mpi.

BUILD   ?= build
PREFIX  ?= /usr/local
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
SECONDS ?= 60
HOURS   ?= 1
SEED    ?=
COUNT   ?= 200
OPTIONS ?=
# As many as -j says, or as there are processors. What is started gets that
# number, and not make's own flags, with which it would warn of its jobserver.
JOBS    ?= $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),\
                $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))
unexport MAKEFLAGS
export OPTIONS

.PHONY: all build run check check-sanitized check-all proof bench tune \
        bench-advise bench-large \
        bench-similar bench-redis bench-serve bench-search bench-python \
        bench-sqlite bench-peers bench-wasm lab uses python sqlite postgresql \
        wasm site fuzz soak counts cross systems redis coverage mutants \
        reliability docs \
        install uninstall clean

all: build

build:
	@tools/setup build
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX="$(PREFIX)" $(OPTIONS) \
	    >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

run:
	@tools/setup run
	@echo "Configuring the build in $(BUILD)/ ..."
	@cmake -S . -B $(BUILD) $(OPTIONS) >/dev/null
	@echo "Building the library and the command (half a minute at first) ..."
	@cmake --build $(BUILD) -j $(JOBS) --target bloomery_command >/dev/null
	@echo
	@tools/run $(BUILD)/bloomery

check:
	@tools/setup check
	@BLY_BUILD=$(BUILD) BLY_JOBS=$(JOBS) tools/check

check-sanitized:
	@tools/setup sanitized
	@BLY_BUILD=$(BUILD) BLY_JOBS=$(JOBS) tools/check sanitized

check-all:
	@BLY_BUILD=$(BUILD) BLY_JOBS=$(JOBS) tools/check all $(PART)

systems: build
	@tools/setup systems
	tools/check-systems $(BUILD)/bloomery $(BUILD)/systems

redis: build
	@tools/setup redis
	@tools/redis $(BUILD)

bench-redis: build
	@tools/setup redis
	@tools/bench-redis $(BUILD)

proof: build
	@tools/setup bench
	$(BUILD)/proof memberships 3500000
	$(BUILD)/proof rates 1000000

bench: build
	@cmake --build $(BUILD) -j $(JOBS) --target bench
	$(BUILD)/bench --csv $(BUILD)/bench.csv --commit \
	    "$$(git describe --always --dirty 2>/dev/null || echo unknown)"
	$(BUILD)/paged $(BUILD)
	$(BUILD)/cancel
	tools/bench-command $(BUILD)
	tools/bench-sketch $(BUILD)

tune:
	@tools/setup build
	@cmake -S . -B $(BUILD) $(OPTIONS) >/dev/null
	@[ ! -t 2 ] || echo "Building $(BUILD)/tune ..." >&2
	@cmake --build $(BUILD) -j $(JOBS) --target bench_tune >/dev/null
	$(BUILD)/tune $(if $(filter-out 0,$(QUICK)),--quick) \
	    $(if $(KINDS),--kinds $(KINDS)) \
	    --csv $(BUILD)/tune.csv --commit \
	    "$$(git describe --always --dirty 2>/dev/null || echo unknown)"

bench-advise: build
	@cmake --build $(BUILD) -j $(JOBS) --target bench_advise
	XDG_CACHE_HOME="$(abspath $(BUILD))/cache" $(BUILD)/bloomery advise --measure
	$(BUILD)/advise $(BUILD)/cache/bloomery/costs

bench-large: build
	@cmake --build $(BUILD) -j $(JOBS) --target bench_large
	$(BUILD)/large $(KINDS) $(KEYS)

bench-similar: build
	@cmake --build $(BUILD) -j $(JOBS) --target bench_similar
	$(BUILD)/similar $(or $(ROWS),1e6) $(JOBS)

bench-serve: build
	@cmake --build $(BUILD) -j $(JOBS) --target bench_serve
	@tools/bench-serve $(BUILD)

bench-search: build
	@tools/setup search
	@cmake --build $(BUILD) -j $(JOBS) --target bench_run
	@tools/bench-search $(BUILD)

bench-peers:
	@tools/setup bench-peers

uses:
	@tools/setup uses
	@cmake -S . -B $(BUILD) -DBLY_MPI=ON $(OPTIONS) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target uses >/dev/null
	@tools/uses $(BUILD) $(if $(filter-out 0,$(QUICK)),quick,full)

python: build
	@tools/setup python
	@tools/python $(BUILD)

postgresql: build
	@tools/setup postgresql
	@tools/postgresql $(BUILD) full

bench-python: python
	@$(BUILD)/python/venv/bin/python bindings/python/bench.py

wasm: build
	@tools/setup wasm
	@tools/wasm $(BUILD)

bench-wasm: build
	@tools/setup wasm
	@tools/wasm --build $(BUILD)
	@node $(BUILD)/wasm/bench.js

site: build
	@tools/setup site
	@tools/site $(BUILD)
	@tools/check-site $(BUILD)

# libsqlite3-dev before the build is configured, which looks for it.
sqlite:
	@tools/setup sqlite
	@$(MAKE) --no-print-directory build
	@tools/sqlite $(BUILD)

bench-sqlite:
	@tools/setup sqlite
	@$(MAKE) --no-print-directory build
	@PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 bindings/sqlite/bench.py $(BUILD)

lab:
	@tools/setup lab
	@cmake -S . -B $(BUILD) -DBLY_MPI=ON $(OPTIONS) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target lab >/dev/null
	@tools/lab $(BUILD) $(if $(filter-out 0,$(QUICK)),quick,full)

fuzz:
	@tools/setup sanitized
	@tools/fuzz $(BUILD)/fuzz $(SECONDS)

soak:
	@tools/setup sanitized
	@tools/soak $(BUILD) $(HOURS) $(SEED)

counts:
	@tools/setup counts
	@tools/counts $(BUILD)/counts

cross:
	@tools/setup cross
	@for arch in native s390x i386 aarch64 wasm32; do \
	    tools/cross $$arch $(BUILD)/cross || exit 1; \
	done

coverage:
	@tools/setup check
	@tools/coverage $(BUILD)/coverage

mutants:
	@tools/setup check
	@tools/mutate $(BUILD)/mutants $(COUNT)

reliability: build
	@tools/setup bench
	@tools/reliability $(BUILD)

docs: build
	@tools/docs --write $(BUILD)

install: build
	@cmake --install $(BUILD) --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

uninstall:
	@tools/uninstall $(BUILD) "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

clean:
	rm -rf $(BUILD)
