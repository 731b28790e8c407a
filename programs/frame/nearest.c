/* nearest.c - "did you mean?": the name that is nearest to an unknown word.
 *
 * It is for commands, options and kinds.
 */
#include "frame/nearest.h"

#include <stdbool.h>
#include <string.h>

static size_t nearest_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum { NEAREST_LONGEST = 24, NEAREST_FAR = 3 };

/* Compares letters regardless of case. */
static bool nearest_alike(char a, char b)
{
    int lower = a | 0x20;

    return a == b || (lower == (b | 0x20) && lower >= 'a' && lower <= 'z');
}

/* Returns how many letters to change, add or drop, and neighbours to swap, lie
 * between a word and a name [Damerau 1964]. The table is computed row by row.
 * NEAREST_FAR if one of them is longer than any name. */
static size_t nearest_distance(const char *a, size_t n, const char *b)
{
    size_t rows[3][NEAREST_LONGEST + 1], m = strlen(b);
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    if (n > NEAREST_LONGEST || m > NEAREST_LONGEST)
        return NEAREST_FAR;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *oldest = before;

        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = nearest_least(nearest_least(above[j], row[j - 1]) + 1,
                                   above[j - 1]
                                       + !nearest_alike(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && nearest_alike(a[i - 1], b[j - 2])
                && nearest_alike(a[i - 2], b[j - 1]))
                row[j] = nearest_least(row[j], before[j - 2] + 1);
        }
    }
    return row[m];
}

/* A name is near if at most two letters differ, or half of those of a short
 * word. */
cli_nearest nearest_to(const char *word, size_t length)
{
    return (cli_nearest){ .word = word, .length = length,
                          .distance = nearest_least(NEAREST_FAR,
                                                    length / 2 + 1) };
}

void nearest_try(cli_nearest *nearest, const char *name)
{
    size_t distance = nearest_distance(nearest->word, nearest->length, name);

    if (distance >= nearest->distance)
        return;
    nearest->distance = distance;
    nearest->name = name;
}
