/* nearest.c - "did you mean?": of the names there are the one that is nearest
 * to a word that is none of them.
 *
 * For commands, options and kinds. Floor 8; includes frame.h only.
 */
#include "frame/frame.h"

#include <string.h>

static size_t nearest_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum { NEAREST_LONGEST = 24, NEAREST_FAR = 3 };

/* But for their case. */
static bool nearest_alike(char a, char b)
{
    int lower = a | 0x20;

    return a == b || (lower == (b | 0x20) && lower >= 'a' && lower <= 'z');
}

/* Letters to change, add or drop, and neighbours to swap, between a word and a
 * name [Damerau 1964], row by row of the table; NEAREST_FAR where one is longer
 * than any name. */
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

/* At most two letters away, or half of a short word. */
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
