"""yes.py - how likely a "perhaps" is right, by Bayes' rule."""

import math

from svg import Picture

X, Y, W, H = 62, 74, 470, 270
RATES = [(0.01, "rate 1 %", "accent"), (0.001, "rate 0.1 %", "second")]
LEAST = -5


def right(p, f):
    return p / (p + (1 - p) * f)


def draw(build, root):
    def at(p, share):
        return (X + W * (math.log10(p) - LEAST) / -LEAST,
                Y + H * (1 - share))

    p = Picture("reading-a-yes", 560, 424, "How to read a yes",
                "Two curves: the chance that an answer 'perhaps' is right, "
                "against the share of members among the keys that are looked "
                "up, for rates of 1 % and 0.1 %. Where one key in a thousand "
                f"is a member, it is {right(1e-3, 1e-2):.1%} and "
                f"{right(1e-3, 1e-3):.1%}.")
    p.text(16, 28, "How likely is a \"perhaps\" right?", "big")
    p.text(16, 52, "right answers among those that say \"perhaps\"",
           "small quiet")
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = at(1, share)[1]
        p.line([(X, y), (X + W, y)], "s-line", 1)
        p.text(X - 8, y + 5, f"{share:.0%}".replace("%", " %"), "small end")
    for power in range(LEAST, 1):
        x = at(10.0 ** power, 0)[0]
        p.line([(x, Y), (x, Y + H)], "s-line", 1)
        p.text(x if power else x - 10, Y + H + 20,
               f"{100 * 10.0 ** power:g} %", "small mid")
    p.text(X + W / 2, Y + H + 44,
           "members among the keys that are looked up", "small quiet mid")
    for f, words, colour in RATES:
        points = [at(10 ** (LEAST * (1 - i / 80)),
                     right(10 ** (LEAST * (1 - i / 80)), f))
                  for i in range(81)]
        p.line(points, "s-" + colour, 3)
        x, y = at(1e-3, right(1e-3, f))
        p.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{colour}"/>')
        p.text(x - 10, y - 9,
               f"{100 * right(1e-3, f):.1f} %".replace(".0 ", " "),
               f"bold end {colour}")
    p.text(at(0.022, 0)[0], at(1, 0.6)[1], "rate 1 %", "bold accent")
    p.text(at(0.0016, 0)[0], at(1, 0.7)[1], "rate 0.1 %", "bold second end")
    p.text(16, Y + H + 68, "The dots: one key in a thousand is a member.",
           "small quiet")
    return [p]
