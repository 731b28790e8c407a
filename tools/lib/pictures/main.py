"""main.py - draws pictures into a folder: main.py BUILD FOLDER [NAME...]"""

import importlib
import pathlib
import sys

MODULES = ["header", "choosing", "yes", "ladder", "blocks", "speed", "size",
           "cast",
           "kinds"]


def main(build, folder, *names):
    root = pathlib.Path(__file__).resolve().parents[3]
    for name in names or MODULES:
        module = importlib.import_module(name)
        for picture in module.draw(pathlib.Path(build).resolve(), root):
            path = pathlib.Path(folder) / f"{picture.name}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(picture.svg(), encoding="utf-8")


main(*sys.argv[1:])
