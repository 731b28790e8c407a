"""model.py - a map of zones and positions on it, and the exact zone of each.

    model.py map                prints GeoJSON: a star of two zones with a hole,
                                and far away a triangle of a third zone
    model.py positions N        prints N positions, as CSV with a header
    model.py exact <POSITIONS   prints the zone of each, 0 outside, by winding
                                numbers
"""
import json
import math
import random
import sys

PARIS = (2.3522, 48.8566)


def star(radius, points, turn):
    ring = []
    for i in range(2 * points):
        r = radius * (1 if i % 2 == 0 else 0.5)
        a = turn + math.pi * i / points
        ring.append([round(PARIS[0] + r * math.cos(a), 6),
                     round(PARIS[1] + r * math.sin(a), 6)])
    return ring + ring[:1]


AREAS = [
    (1, [star(0.05, 7, 0.1), star(0.004, 5, 0.3)]),
    (2, [star(0.02, 5, 0.7)]),
    (3, [[[-0.1337, 51.5], [-0.12, 51.52], [-0.11, 51.495], [-0.1337, 51.5]]]),
]


def winding(x, y, ring):
    turns = 0.0
    for (ax, ay), (bx, by) in zip(ring, ring[1:]):
        turns += math.remainder(math.atan2(by - y, bx - x)
                                - math.atan2(ay - y, ax - x), 2 * math.pi)
    return round(turns / (2 * math.pi))


def exact(x, y):
    return max([zone for zone, rings in AREAS
                if sum(winding(x, y, ring) % 2 for ring in rings) % 2], default=0)


if sys.argv[1] == "map":
    print(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"zone": zone},
         "geometry": {"type": "Polygon", "coordinates": rings}}
        for zone, rings in AREAS]}))
elif sys.argv[1] == "positions":
    draw = random.Random(5)
    print("lon,lat,name")
    for i in range(int(sys.argv[2])):
        x, y = PARIS if i % 3 else (-0.12, 51.505)
        print("%.6f,%.6f,p%d" % (x + draw.uniform(-0.06, 0.06),
                                 y + draw.uniform(-0.06, 0.06), i))
else:
    for line in list(sys.stdin)[1:]:
        lon, lat, _ = line.split(",")
        print(exact(float(lon), float(lat)))
