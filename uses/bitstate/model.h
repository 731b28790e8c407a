/* model.h - the models that bitstate searches: a shared object with one symbol,
 * `model`. uses/bitstate/puzzle.c and lock.c are examples.
 *
 *      cc -O2 -shared -fPIC -I uses/bitstate -o mine.so FILE
 */
#ifndef USES_BITSTATE_MODEL_H
#define USES_BITSTATE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    /* States are equal if these bytes are: leave no padding in them, and
     * nothing that cannot affect later steps. */
    size_t state_bytes;
    void (*begin)(void *state);
    /* Writes the state after step `which`, 0, 1, …, to `after`; returns false
     * if neither this step nor a later one exists. */
    bool (*next)(const void *state, unsigned which, void *after);
    /* Returns the error in this state, or NULL. */
    const char *(*wrong)(const void *state);
    /* Writes the state as one line, without the newline. */
    void (*show)(const void *state, char *text, size_t room);
} bitstate_model;

extern const bitstate_model model;

#endif /* USES_BITSTATE_MODEL_H */
