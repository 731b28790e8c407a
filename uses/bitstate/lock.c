/* lock.c - Peterson's lock for N processes, with N - 1 gates.
 *
 * At each gate a process announces itself, then that it came last, and waits
 * until another came later, or none is as far. With -DBROKEN it announces the
 * two in reverse order, and two processes can be inside at once.
 */
#include "model.h"

#include <stdio.h>
#include <string.h>

#ifndef N
#define N 4
#endif

typedef struct {
    unsigned char place[N];     /* 0 begins, 1 announced, 2 waits, 3 is in */
    unsigned char gate[N];      /* its current gate, 1 .. N - 1              */
    unsigned char level[N];     /* and that others know of                   */
    unsigned char last[N];      /* the last arrival at each gate             */
} lock;

static void begin(void *state)
{
    memset(state, 0, sizeof(lock));
}

static bool may_pass(const lock *l, unsigned who)
{
    unsigned gate = l->gate[who];
    if (l->last[gate] != who)
        return true;
    for (unsigned other = 0; other < N; other++)
        if (other != who && l->level[other] >= gate)
            return false;
    return true;
}

static void say(lock *l, unsigned who, bool there)
{
    if (there)
        l->level[who] = l->gate[who];
    else
        l->last[l->gate[who]] = (unsigned char)who;
}

#ifdef BROKEN
static const bool there_first = false;
#else
static const bool there_first = true;
#endif

/* Makes a step of a process; returns false if it must wait. */
static bool step(lock *l, unsigned who)
{
    switch (l->place[who]) {
    case 0:
        l->gate[who]++;
        say(l, who, there_first);
        l->place[who] = 1;
        return true;
    case 1:
        say(l, who, !there_first);
        l->place[who] = 2;
        return true;
    case 2:
        if (!may_pass(l, who))
            return false;
        l->place[who] = l->gate[who] < N - 1 ? 0 : 3;
        return true;
    default:
        l->level[who] = l->gate[who] = l->place[who] = 0;
        return true;
    }
}

static bool next(const void *state, unsigned which, void *after)
{
    for (unsigned who = 0; who < N; who++) {
        memcpy(after, state, sizeof(lock));
        if (step(after, who) && which-- == 0)
            return true;
    }
    return false;
}

static const char *wrong(const void *state)
{
    const lock *l = state;
    unsigned inside = 0;
    for (unsigned who = 0; who < N; who++)
        inside += l->place[who] == 3;
    return inside > 1 ? "two are inside" : NULL;
}

static void show(const void *state, char *text, size_t room)
{
    const lock *l = state;
    size_t n = 0;
    for (unsigned who = 0; who < N; who++)
        n += (size_t)snprintf(text + n, room - n, "%u.%u ", l->gate[who],
                              l->place[who]);
    n += (size_t)snprintf(text + n, room - n, "last");
    for (unsigned gate = 1; gate < N; gate++)
        n += (size_t)snprintf(text + n, room - n, " %u", l->last[gate]);
}

const bitstate_model model = { sizeof(lock), begin, next, wrong, show };
