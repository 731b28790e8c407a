"""cells.py - the cells of a grid for maps in GeoJSON and for positions.

    cells.py zones GRID <MAP >CELLS             lines of zone, TAB, cell
    cells.py positions GRID <POSITIONS >CELLS   lines of cells

GRID is the width of a cell in degrees, such as 0.001, some 110 m to the north.
MAP is a FeatureCollection of Polygons and MultiPolygons with a property "zone",
1 for the outermost. A cell belongs to each zone that touches it, so that no
position of a zone is in a cell outside it. POSITIONS are lines of CSV that begin
with a longitude and a latitude in degrees (a header is skipped), or a
FeatureCollection of Points. A cell has the name of its south-west corner,
latitude and longitude. Areas must not cross the 180th meridian.
"""
import json
import sys
from decimal import ROUND_FLOOR, Decimal, InvalidOperation


def stop(why):
    sys.exit("cells.py: " + why)


def index(degrees, grid):
    """The number of the cell that a coordinate is in."""
    return int((Decimal(repr(degrees)) / grid).to_integral_value(ROUND_FLOOR))


def name(x, y, grid):
    return "%s,%s" % (y * grid, x * grid)


def within(x, y, rings):
    """Whether a point is inside: a line to the east leaves an odd number of
    times."""
    inside = False
    for ring in rings:
        for (ax, ay), (bx, by) in zip(ring, ring[1:]):
            if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
                inside = not inside
    return inside


def crosses(a, b, low, high):
    """Whether a line touches a square: it is cut at each of its four sides."""
    begin, end = 0.0, 1.0
    for i in 0, 1:
        step = b[i] - a[i]
        if step == 0:
            if not low[i] <= a[i] <= high[i]:
                return False
            continue
        one, other = (low[i] - a[i]) / step, (high[i] - a[i]) / step
        begin, end = max(begin, min(one, other)), min(end, max(one, other))
    return begin <= end


def touched(rings, grid):
    """The cells that an area touches: those its edges pass, and those within."""
    width = float(grid)
    cells = set()
    for ring in rings:
        for a, b in zip(ring, ring[1:]):
            xs = sorted((index(a[0], grid), index(b[0], grid)))
            ys = sorted((index(a[1], grid), index(b[1], grid)))
            for x in range(xs[0] - 1, xs[1] + 2):
                for y in range(ys[0] - 1, ys[1] + 2):
                    low = (x * width, y * width)
                    if crosses(a, b, low, (low[0] + width, low[1] + width)):
                        cells.add((x, y))
    xs = [x for x, _ in cells]
    ys = [y for _, y in cells]
    for x in range(min(xs), max(xs) + 1):
        for y in range(min(ys), max(ys) + 1):
            if within((x + 0.5) * width, (y + 0.5) * width, rings):
                cells.add((x, y))
    return cells


def features(text):
    try:
        return json.loads(text)["features"]
    except (ValueError, KeyError, TypeError):
        stop("this is not a FeatureCollection of GeoJSON")


def zones(text, grid):
    for number, feature in enumerate(features(text), 1):
        zone = (feature.get("properties") or {}).get("zone")
        shape = feature.get("geometry") or {}
        if not isinstance(zone, int) or zone < 1:
            stop("feature %d has no property \"zone\" from 1 on" % number)
        if shape.get("type") not in ("Polygon", "MultiPolygon"):
            stop("feature %d is neither a Polygon nor a MultiPolygon" % number)
        areas = shape["coordinates"]
        for rings in [areas] if shape["type"] == "Polygon" else areas:
            rings = [[p[:2] for p in ring] for ring in rings]
            for x, y in sorted(touched(rings, grid)):
                print(zone, name(x, y, grid), sep="\t")


def rows(text):
    """Longitudes and latitudes of CSV."""
    for number, line in enumerate(text.splitlines(), 1):
        part = line.split(",")
        try:
            yield float(part[0]), float(part[1])
        except (IndexError, ValueError):
            if number > 1:
                stop("line %d does not begin with a longitude and a latitude"
                     % number)


def positions(text, grid):
    if text.lstrip().startswith("{"):
        found = [f["geometry"]["coordinates"][:2] for f in features(text)]
    else:
        found = rows(text)
    for x, y in found:
        if not (-180 <= x <= 180 and -90 <= y <= 90):
            stop("%s,%s is no position: the longitude comes first" % (x, y))
        print(name(index(x, grid), index(y, grid), grid))


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("zones", "positions"):
        stop("usage: cells.py zones|positions GRID")
    try:
        grid = Decimal(sys.argv[2])
    except InvalidOperation:
        grid = Decimal(0)
    if not grid > 0:
        stop("'%s' is not a width in degrees" % sys.argv[2])
    (zones if sys.argv[1] == "zones" else positions)(sys.stdin.read(), grid)


main()
