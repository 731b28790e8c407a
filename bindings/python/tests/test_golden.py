"""The golden images of the library (tests/golden): made and read byte for byte."""
import os
import pathlib

import pytest

from bloomery import Filter

FOLDER = pathlib.Path(os.environ.get("BLOOMERY_GOLDEN", "golden"))
FILES = sorted(FOLDER.glob("*.hex"))
pytestmark = pytest.mark.skipif(not FILES, reason="no golden images here")


def golden(path):
    """The kind, its keys, and the image."""
    first, *lines = path.read_text().splitlines()
    kind = first[2:].split(": ")[0]
    packed = kind.startswith("packed ")
    kind = kind[7:] if packed else kind
    n = 10 if kind.startswith("egh") else 100
    keys = [str(i) if kind.startswith("egh") else f"key-{i}" for i in range(n)]
    return kind, keys, packed, bytes.fromhex("".join(lines))


def without_rates(image):
    """The planned rate is the mathematics library's, and the checksums go by
    it; in images within an image too, which begin on multiples of 64."""
    image = bytearray(image)
    for at in range(0, len(image) - 127, 64):
        if at == 0 or image[at:at + 8] == b"bloomery":
            image[at + 56:at + 64] = bytes(8)
            image[at + 112:at + 128] = bytes(16)
    return image


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden(path):
    kind, keys, packed, image = golden(path)
    old = Filter.from_bytes(image)
    assert (old.pack() if packed else bytes(old)) == image
    if kind.startswith(("egh", "twin", "cascade")):
        return                          # of hashes alone, or some are lost
    assert all(old.contains_many(keys))
    sized = kind
    if kind == "rehash:key=whole":
        sized = kind + ",by=xxh64"
    elif kind.startswith(("standard:index=", "rehash:by=murmur2")) \
            and kind != "standard:index=seeds":
        m, k = Filter.plan("standard", items=100).geometry[:2]
        sized = f"{kind},m={m},k={k}"
    new = Filter.build(sized, keys, items=100, rate=0.01, seed=7,
                       keys="any")
    assert without_rates(new.pack() if packed else bytes(new)) \
        == without_rates(image)
