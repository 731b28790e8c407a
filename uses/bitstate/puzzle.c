/* puzzle.c - the 8-puzzle: eight tiles and a gap, 0, in a square of nine cells.
 *
 * Half of all boards, 181440, can be reached. With -DWANTED='"867254301"' a
 * board counts as an error, so that the way to it is printed.
 */
#include "model.h"

#include <stdio.h>
#include <string.h>

#ifndef WANTED
#define WANTED ""
#endif

static void begin(void *state)
{
    memcpy(state, "123456780", 9);
}

/* Neighbours of the gap, in rising order of their cells. */
static bool next(const void *state, unsigned which, void *after)
{
    const char *gap = memchr(state, '0', 9);
    int at = (int)(gap - (const char *)state), to[4], n = 0;
    if (at >= 3)
        to[n++] = at - 3;
    if (at % 3 > 0)
        to[n++] = at - 1;
    if (at % 3 < 2)
        to[n++] = at + 1;
    if (at < 6)
        to[n++] = at + 3;
    if (which >= (unsigned)n)
        return false;
    char *board = memcpy(after, state, 9);
    board[at] = board[to[which]];
    board[to[which]] = '0';
    return true;
}

static const char *wrong(const void *state)
{
    return memcmp(state, WANTED "         ", 9) == 0 ? "this is the board"
                                                     : NULL;
}

static void show(const void *state, char *text, size_t room)
{
    snprintf(text, room, "%.9s", (const char *)state);
}

const bitstate_model model = { 9, begin, next, wrong, show };
