"""Runs the console blocks of pages: see tools/check/transcripts."""
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 300           # after which a page hangs
MARK = "@@transcript@@"
PARTS = {
    "python": "python/venv/bin/python",
    "sqlite": "bloomery_sqlite.so",
    "javascript": "wasm/package.json",
    "mpi": "bloomery-mpi",
    "go": "go/bloomery/go.mod",
}
SHELL = re.compile(r"(\$ |(bloomery|make|cmake|sudo|apt-get|find|seq|printf|curl"
                   r"|pip|python3|redis-cli|mpirun|cc) )")


class Block:
    """A fenced block of a page; `first` is the number of its first inner line."""

    def __init__(self, language, name, marks, first):
        self.language, self.name, self.first = language, name, first
        self.lines = []
        self.numbers = "numbers" in marks
        self.unusual = [m for m in marks if m in ("slow", "server")]
        self.needs = [m[6:] for m in marks if m.startswith("needs ")]
        self.skipped = any(m.startswith("not run, ") for m in marks)
        self.commands = []          # [command, expected lines]

    def parse(self):
        """Splits the lines of a console block into commands and outputs."""
        for line in self.lines:
            if line.startswith("$ "):
                self.commands.append([line[2:], []])
            elif not self.commands:
                raise ValueError("a console block begins with '$ '")
            elif (line == ">" or line.startswith("> ")) and \
                    not self.commands[-1][1]:
                self.commands[-1][0] += "\n" + line[2:]
            else:
                self.commands[-1][1].append(line.rstrip())


def wrong_mark(mark):
    """Returns whether a mark is unknown."""
    if mark in ("numbers", "slow", "server"):
        return False
    if mark.startswith("needs "):
        return mark[6:] not in PARTS
    return not re.match(r"not run, .", mark)


def parse(text):
    """Returns the blocks of a page and what is wrong with it: "LINE: fault"."""
    blocks, faults, block, marks = [], [], None, []
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if fence is not None:
            if bare == fence:
                fence = None
                blocks.append(block)
            else:
                block.lines.append(line)
            continue
        found = re.match(r"\s*(`{3,}|~{3,})\s*(\S*)\s*(\S*)\s*$", line)
        if found:
            fence, language, name = found.groups()
            block = Block(language, name, marks, number + 1)
            marks = []
            continue
        found = re.match(r"<!-- transcript: (.*) -->$", line)
        if found:
            marks = [m.strip() for m in found.group(1).split(";")]
            faults += [f"{number}: unknown mark '{m}'" for m in marks
                       if wrong_mark(m)]
            continue
        if marks:
            faults.append(f"{number}: a mark must be followed by a block")
            marks = []
        if re.match(r"( {4}|\t)\s*\$ ", line):
            faults.append(f"{number}: indented commands are not tested: use a"
                          " ```console block")
    if fence is not None:
        faults.append(f"{block.first - 1}: this block has no end")
    for block in blocks:
        first = next((x for x in block.lines if x.strip()), "")
        if block.language == "console":
            try:
                block.parse()
            except ValueError as fault:
                faults.append(f"{block.first}: {fault}")
        elif block.language in ("sh", "bash", "shell", "text", "") and \
                not block.name and SHELL.match(first.strip()):
            faults.append(f"{block.first}: these commands are not tested: use"
                          " a ```console block")
    return blocks, faults


def surroundings(build, folder):
    """Returns the environment of a page's commands."""
    include = [f"{ROOT}/{x}" for x in
               ("include", "search", "similar", "programs/redis")]
    venv = f"{build}/python/venv/bin"
    kept = {k: v for k, v in os.environ.items()
            if k in ("ASAN_OPTIONS", "TERM", "USER", "LOGNAME")}
    return {
        **kept, "HOME": folder, "LC_ALL": "C.UTF-8", "TMPDIR": folder,
        "PATH": ":".join([build] + [venv] * os.path.isdir(venv) +
                         ["/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]),
        "CPATH": ":".join(include), "LIBRARY_PATH": build,
        "LD_LIBRARY_PATH": build,
        # Open MPI: run as root in a container, on fewer processors than ranks,
        # without the memory of other processes, which containers forbid.
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "GOCACHE": f"{build}/go-cache", "GOFLAGS": "-mod=mod", "GOPROXY": "off",
    }


def script(blocks):
    """Returns the bash script of the blocks that run, with a mark after each
    command."""
    lines = ["exec 2>&1 </dev/null"]
    for at, block in enumerate(blocks):
        if block.name:
            end = f"end-of-{at}"
            lines += [f"mkdir -p \"$(dirname '{block.name}')\"",
                      f"cat >'{block.name}' <<'{end}'", *block.lines, end]
        for n, (command, _) in enumerate(block.commands):
            lines += [command, f"printf '\\n%s %d\\n' '{MARK} {at} {n}' $?"]
    return "\n".join(lines) + "\n"


def run(blocks, build):
    """Runs the blocks; returns the output of each command by block and number."""
    with tempfile.TemporaryDirectory(prefix="transcript-") as folder:
        page = f"{folder}/page"
        os.mkdir(page)
        if any("javascript" in b.needs for b in blocks):
            os.mkdir(f"{page}/node_modules")
            os.symlink(f"{build}/wasm", f"{page}/node_modules/bloomery")
        if any("go" in b.needs for b in blocks):
            with open(f"{page}/go.mod", "w") as out:
                out.write("module page\ngo 1.19\n"
                          "require bloomery.invalid/bloomery v0.0.0\n"
                          "replace bloomery.invalid/bloomery => "
                          f"{build}/go/bloomery\n")
        with open(f"{folder}/script", "w") as out:
            out.write(script(blocks))
        with open(f"{folder}/output", "wb") as out:
            bash = subprocess.Popen(
                ["bash", f"{folder}/script"], stdout=out, cwd=page,
                stdin=subprocess.DEVNULL, env=surroundings(build, folder),
                start_new_session=True)
            try:
                bash.wait(SECONDS)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(bash.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            bash.wait()
        with open(f"{folder}/output", errors="replace") as out:
            text = out.read()
    outputs, before = {}, 0
    for found in re.finditer(f"\n{MARK} (\\d+) (\\d+) (\\d+)\n", text):
        part = text[before:found.start()]
        before = found.end()
        part = part[:-1] if part.endswith("\n") else part
        at, n, status = map(int, found.groups())
        outputs[at, n] = [x.rstrip() for x in part.split("\n")] if part else \
            [f"(no output, and status {status})"] * (status != 0)
    return outputs


NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)"
                    r"( ?(?:ns|us|µs|ms|s|min|h|thousand|million|billion"
                    r"|[KMG]i?B|bytes)\b)?")
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60,
         "h": 3600, "thousand": 1e3, "million": 1e6, "billion": 1e9, "KB": 1e3,
         "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
FACTOR = 50             # by which a time may differ on another machine
ALARM = re.compile(r"ERROR|Sanitizer|Traceback|Segmentation|core dumped"
                   r"|\berror:")


def alike(expected, got, numbers):
    """Returns whether two lines are equal, but for times if `numbers` says so."""
    if expected == got or not numbers:
        return expected == got
    parts = [" ".join(NUMBER.sub("N", x).split()) for x in (expected, got)]
    if parts[0] != parts[1]:
        return False
    values = [[float(n.replace(",", "")) * UNITS.get(u.strip(), 1)
               for n, u in NUMBER.findall(x)] for x in (expected, got)]
    return all(a == b or min(a, b) * FACTOR >= max(a, b)
               for a, b in zip(*values))


def same(expected, got, numbers):
    """Returns whether the output is the expected one. Lines that "..." matches
    may be anything but a crash."""
    if not expected:
        return not got
    if expected[0] != "...":
        return bool(got) and alike(expected[0], got[0], numbers) \
            and same(expected[1:], got[1:], numbers)
    for i in range(len(got) + 1):
        if same(expected[1:], got[i:], numbers):
            return True
        if i < len(got) and ALARM.search(got[i]):
            return False
    return False


def page(path, build, mode):
    """Runs a page as `mode` says and prints its faults; returns how many of its
    blocks passed and failed."""
    with open(path) as file:
        text = file.read()
    name = os.path.relpath(path, ROOT)
    blocks, faults = parse(text)
    for fault in faults:
        print(f"not ok {name}:{fault}")
    if faults:
        return 0, len(faults)
    console = [b for b in blocks if b.commands]
    lacking = {n for b in console if not b.skipped for n in b.needs
               if not os.path.exists(f"{build}/{PARTS[n]}")}
    if lacking and mode == "--all":
        print(f"not ok {name}: the build lacks {', '.join(sorted(lacking))}")
        return 0, 1
    chosen = [b for b in blocks if b.name or b.commands and not b.skipped and
              (mode != "--quick" or not b.unusual) and
              not lacking.intersection(b.needs)]
    outputs = run(chosen, build) if any(b.commands for b in chosen) else {}
    passed = failed = 0
    fresh = text.split("\n")
    for at in reversed(range(len(chosen))):
        block, bad = chosen[at], False
        if not block.commands:
            continue
        new = []
        for n, (command, expected) in enumerate(block.commands):
            got = outputs.get((at, n))
            new += ["$ " + command.replace("\n", "\n> ")]
            if got is not None and same(expected, got, block.numbers):
                new += expected
                continue
            bad = True
            new += got if got is not None else expected
            if mode != "--write":
                shown = "no output: an earlier command did not end" \
                    if got is None else "\n".join("    " + x for x in got[:40])
                print(f"not ok {name}:{block.first}: {command}\n{shown}")
        if bad and mode == "--write":
            fresh[block.first - 1:block.first - 1 + len(block.lines)] = new
        passed += not bad
        failed += bad
    if mode == "--write" and failed:
        with open(path, "w") as file:
            file.write("\n".join(fresh))
        print(f"wrote {name}: {failed} blocks")
        return passed + failed, 0
    skipped = len(console) - passed - failed
    print(f"{'not ok' if failed else 'ok'} {name}: {passed} of {len(console)}"
          f" blocks{f', {skipped} not run here' if skipped else ''}")
    return passed, failed


def main(mode, build, *pages):
    build = os.path.abspath(build)
    passed = failed = 0
    for path in pages:
        good, bad = page(path, build, mode)
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
