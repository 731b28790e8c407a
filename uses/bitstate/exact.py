# exact.py - an independent 8-puzzle: all boards with their distance or, with
# "known", the numbers of boards found with the probes of the catalogue's table.
import sys

WORD = (1 << 64) - 1
FIRST = "123456780"


# For each cell of the gap, the pairs of cells that are swapped, in rising order
# of the other one.
PAIRS = [[(min(gap, to), max(gap, to)) for to, there in (
    (gap - 3, gap >= 3), (gap - 1, gap % 3 > 0), (gap + 1, gap % 3 < 2),
    (gap + 3, gap < 6)) if there] for gap in range(9)]


def after(board):
    return [board[:i] + board[j] + board[i + 1:j] + board[i] + board[j + 1:]
            for i, j in PAIRS[board.index("0")]]


def search(is_new):
    """Yields each new board once, breadth-first."""
    is_new(FIRST)
    queue = [FIRST]
    for board in queue:
        queue.extend(b for b in after(board) if is_new(b))
    return queue


def mix(h):
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd & WORD
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53 & WORD
    return h ^ h >> 33


def probing(k, m):
    """A set of m bits, with double hashing in 64-bit words."""
    bits = bytearray(m)

    def is_new(board):
        a = mix(int(board, 9) + 1)
        b = mix(a) | 1
        found = False
        for i in range(k):
            at = (a + i * b & WORD) * m >> 64
            found |= not bits[at]
            bits[at] = 1
        return found
    return is_new


def exact():
    """Returns all boards, with their distance."""
    found, level, far = {}, {FIRST}, 0
    while level:
        found.update(dict.fromkeys(level, far))
        level = {b for board in level for b in after(board)} - found.keys()
        far += 1
    return found


if sys.argv[1:] == ["known"]:
    for k in 3, 2:
        for share in 2, 5, 10, 20, 50, 100:
            print(k, share, len(search(probing(k, share * 181440))))
else:
    sys.stdout.writelines(f"{b} {far}\n" for b, far in exact().items())
