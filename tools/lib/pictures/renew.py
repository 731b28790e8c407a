"""renew.py - puts the medians of a benchmark into docs/pictures/speed.csv:
renew.py MEDIANS SPEED. A row without a name in its column "measured" stays."""

import csv
import os
import re
import sys


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read()).group(1)
    model = re.sub(r"\((R|TM)\)| CPU| Processor| @.*", "", model)
    return f"{model}, {os.cpu_count()} logical cores"


def main(medians, speed):
    with open(medians, encoding="utf-8") as file:
        seconds = {row["command"]: float(row["seconds"])
                   for row in csv.DictReader(file)}
    with open(speed, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    missing = [row["measured"] for row in rows
               if row["measured"] and row["measured"] not in seconds]
    if missing:
        raise SystemExit("not measured: " + "; ".join(missing))
    for row in rows:
        if row["measured"]:
            row["processor"] = processor()
            value = seconds[row["measured"]]
            row["value"] = f"{value:.2f}" if value < 2 else f"{value:.1f}"
    with open(speed, "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


main(*sys.argv[1:])
