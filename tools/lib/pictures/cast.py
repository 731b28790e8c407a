"""cast.py - a session in a terminal, typed before the reader's eyes. The
commands of docs/pictures/cast.txt run in a fresh folder. Readers who want less
motion see all of it at once."""

import os
import subprocess
import tempfile

from svg import Picture

LINE, LEFT, TOP = 18, 16, 58
CSS = ("@media(prefers-reduced-motion:no-preference){"
       ".t,.o{animation:show .1s both}"
       ".t{animation:type 1.6s steps(60) both}"
       "@keyframes show{from{opacity:0}}"
       "@keyframes type{from{clip-path:inset(0 100% 0 0)}"
       "to{clip-path:inset(0 0 0 0)}}}")


def session(build, root):
    """Yields (line, whether it is a command)."""
    path = f"{build}{os.pathsep}{os.environ['PATH']}"
    commands = (root / "docs/pictures/cast.txt").read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            yield "$ " + command, True
            out = subprocess.run(command, shell=True, cwd=folder, check=True,
                                 env={**os.environ, "PATH": path,
                                      "LC_ALL": "C.UTF-8"},
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True).stdout
            for line in out.expandtabs().splitlines():
                yield line, False


def draw(build, root):
    lines = list(session(build, root))
    p = Picture("cast", 640, TOP + LINE * len(lines) + 8,
                "A session with bloomery",
                "\n".join(line for line, _ in lines), CSS)
    p.rect(0, 0, p.width, p.height, "panel", 8)
    p.line([(0, 34), (p.width, 34)], "s-line", 1)
    for i, colour in enumerate(("accent", "second", "third")):
        p.add(f'<circle cx="{22 + 20 * i}" cy="17" r="6" class="{colour}"/>')
    when = 0.5
    for i, (line, command) in enumerate(lines):
        if command and i > 0:
            when += 1.2
        p.text(LEFT, TOP + LINE * i, line,
               "small mono " + ("accent t" if command else "o"),
               style=f"animation-delay:{when:.1f}s")
        when += 1.7 if command else 0.05
    return [p]
