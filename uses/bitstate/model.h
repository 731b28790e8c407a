/* model.h - what a model is that bitstate searches: a shared object with one
 * symbol, `model`. uses/bitstate/puzzle.c and lock.c are two.
 *
 *      cc -O2 -shared -fPIC -I uses/bitstate -o mine.so FILE
 */
#ifndef USES_BITSTATE_MODEL_H
#define USES_BITSTATE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    /* Two states are one if these bytes are equal: leave no padding in them,
     * and nothing that does not matter for what can follow. */
    size_t state_bytes;
    void (*begin)(void *state);
    /* The state after step `which`, 0, 1, …, into `after`; false: there is no
     * such step, nor a later one. */
    bool (*next)(const void *state, unsigned which, void *after);
    /* What is wrong in this state; NULL: nothing. */
    const char *(*wrong)(const void *state);
    /* The state as one line, without the newline. */
    void (*show)(const void *state, char *text, size_t room);
} bitstate_model;

extern const bitstate_model model;

#endif /* USES_BITSTATE_MODEL_H */
