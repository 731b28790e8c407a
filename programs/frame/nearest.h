/* nearest.h - "did you mean?": the name that is nearest to an unknown word. */
#ifndef FRAME_NEAREST_H
#define FRAME_NEAREST_H

#include <stddef.h>

/* The nearest name so far; NULL while none is near. */
typedef struct {
    const char *word, *name;
    size_t      length, distance;
} cli_nearest;

cli_nearest nearest_to(const char *word, size_t length);
void nearest_try(cli_nearest *nearest, const char *name);

#endif
