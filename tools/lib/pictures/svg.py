"""svg.py - draws the pictures of the book: one palette for light and dark
pages, boxes, lines and text. Refuses labels that overlap or leave the
picture, and colours that are hard to read."""

import itertools
from xml.sax.saxutils import escape, quoteattr

# name: (on light pages, on dark pages)
COLOURS = {
    "back": ("#fdfcfa", "#171513"),
    "front": ("#24211d", "#e6e1da"),
    "quiet": ("#625b52", "#a89f94"),
    "line": ("#ddd6cc", "#3b3630"),
    "edge": ("#8b8277", "#7d756b"),
    "panel": ("#f4f0ea", "#211e1b"),
    "accent": ("#a8390b", "#ff9466"),
    "second": ("#1d5f8a", "#7dbde8"),
    "third": ("#3f6a1d", "#a5cf7a"),
    "wash": ("#f7ddcf", "#4a2718"),
    "wash2": ("#d6e6f0", "#16384c"),
    "wash3": ("#e0ebd2", "#2b3f1a"),
}
# The colours of text, and those of the areas behind it.
GROUNDS = {"front": ["back", "panel", "wash", "wash2", "wash3"],
           "quiet": ["back", "panel", "line"], "accent": ["back", "panel"],
           "second": ["back", "panel"], "third": ["back", "panel"]}
SIZES = {"big": 17, "text": 14, "small": 12}


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
             for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


for _text, _grounds in GROUNDS.items():
    for _ground, _mode in itertools.product(_grounds, (0, 1)):
        if contrast(COLOURS[_text][_mode], COLOURS[_ground][_mode]) < 4.5:
            raise SystemExit(f"{_text} on {_ground}: too little contrast")


def style(extra):
    """Plain rules for both modes: not all programs know CSS variables."""
    modes = ["text{fill:%s}" % COLOURS["front"][mode]
             + "".join(f".{name}{{fill:{pair[mode]}}}"
                       f".s-{name}{{stroke:{pair[mode]};fill:none}}"
                       for name, pair in COLOURS.items())
             + ".edged{stroke:%s}" % COLOURS["edge"][mode] for mode in (0, 1)]
    return ("text{font:14px system-ui,sans-serif;white-space:pre}"
            ".big{font-size:17px;font-weight:600}.small{font-size:12px}"
            ".mono{font-family:ui-monospace,monospace}.bold{font-weight:600}"
            ".mid{text-anchor:middle}.end{text-anchor:end}"
            f"{modes[0]}@media(prefers-color-scheme:dark){{{modes[1]}}}"
            + extra)


def number(x):
    return f"{x:.1f}".rstrip("0").rstrip(".")


class Picture:
    def __init__(self, name, width, height, title, about, css=""):
        self.name, self.width, self.height = name, width, height
        self.title, self.about, self.css = title, about, css
        self.parts, self.boxes = [], []

    def add(self, part):
        self.parts.append(part)

    def rect(self, x, y, w, h, kind="panel", round=4):
        self.add(f'<rect x="{number(x)}" y="{number(y)}" '
                 f'width="{number(w)}" height="{number(h)}" '
                 f'rx="{number(round)}" class="{kind}"/>')

    def line(self, points, kind="s-edge", width=1.5, extra=""):
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        self.add(f'<path d="{path}" class="{kind}" '
                 f'stroke-width="{number(width)}"{extra}/>')

    def arrow(self, points, kind="edge"):
        """A line with a head at its last point; the last leg is straight."""
        (x0, y0), (x1, y1) = points[-2:]
        dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
        self.line(points[:-1] + [(x1 - 5 * dx, y1 - 5 * dy)], "s-" + kind)
        self.add(f'<path d="M{number(x1)} {number(y1)}'
                 f'l{number(-8 * dx - 4 * dy)} {number(-8 * dy - 4 * dx)}'
                 f'l{number(8 * dy)} {number(8 * dx)}z" class="{kind}"/>')

    def text(self, x, y, words, kind="", wide=None, style=""):
        """Text whose baseline is at y. `wide` is the room that it has."""
        size = next((SIZES[k] for k in kind.split() if k in SIZES), 14)
        each = (0.61 if "mono" in kind else
                0.6 if "bold" in kind or "big" in kind else 0.55)
        w = size * each * len(words)
        left = x - (w / 2 if "mid" in kind.split() else
                    w if "end" in kind.split() else 0)
        box = (left, y - 0.75 * size, left + w, y + 0.2 * size, words)
        if wide is not None and w > wide:
            raise SystemExit(f"{self.name}: '{words}' is too long")
        if box[0] < 0 or box[2] > self.width or box[3] > self.height:
            raise SystemExit(f"{self.name}: '{words}' leaves the picture")
        for other in self.boxes:
            if (box[0] < other[2] and other[0] < box[2]
                    and box[1] < other[3] and other[1] < box[3]):
                raise SystemExit(f"{self.name}: '{words}' is over "
                                 f"'{other[4]}'")
        self.boxes.append(box)
        what = f' class="{kind}"' if kind else ""
        what += f' style="{style}"' if style else ""
        self.add(f'<text x="{number(x)}" y="{number(y)}"{what}>'
                 f"{escape(words)}</text>")
        return w

    def box(self, x, y, w, h, lines, kind="panel"):
        """A box with lines of text in its middle; a line is (words, class)."""
        self.rect(x, y, w, h, kind + " edged", 6)
        gap = 18
        top = y + h / 2 - gap * (len(lines) - 1) / 2 + 5
        for i, (words, how) in enumerate(lines):
            self.text(x + w / 2, top + gap * i, words, ("mid " + how).strip(),
                      w - 6)

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" '
                f'viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" '
                f'aria-labelledby="title desc">\n'
                f'<title id="title">{escape(self.title)}</title>\n'
                f'<desc id="desc">{escape(self.about)}</desc>\n'
                f"<style>{style(self.css)}</style>\n"
                f'<rect width="{self.width}" height="{self.height}" rx="8" '
                f'class="back"/>\n' + "\n".join(self.parts) + "\n</svg>\n")
