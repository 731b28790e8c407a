/* digests.c - notices hashes that were asked for in the wrong case.
 *
 * Lists of known files hold hashes as hexadecimal digits: CIRCL's are in upper
 * case, while sha1sum prints lower case. Such keys are never found, and nothing
 * looks wrong. The first keys of each batch are therefore looked at, up to the
 * first one that is not a hash; other keys cost one comparison per batch.
 */
#include "bloomery/command.h"

#include <math.h>

/* ==== Keys ============================================================== */

/* The digits of MD5, SHA-1 and SHA-256. */
static bool digests_is_length(size_t n)
{
    return n == 32 || n == 40 || n == 64;
}

static unsigned digests_letters_of(bly_key key)
{
    const unsigned char *text = key.data;
    unsigned letters = 0;

    if (!digests_is_length(key.length))
        return DIGESTS_OTHER;
    for (size_t i = 0; i < key.length; i++)
        if (text[i] >= 'a' && text[i] <= 'f')
            letters |= DIGESTS_LOWER;
        else if (text[i] >= 'A' && text[i] <= 'F')
            letters |= DIGESTS_UPPER;
        else if (text[i] < '0' || text[i] > '9')
            return DIGESTS_OTHER;
    return letters;
}

unsigned digests_letters(const cli_batch *b)
{
    enum { FIRST = 64 };
    unsigned letters = 0;

    for (size_t i = 0; i < b->n && i < FIRST && letters < DIGESTS_OTHER; i++)
        if (b->keys[i].data != NULL)
            letters |= digests_letters_of(b->keys[i]);
    return letters;
}

/* ==== The note ========================================================== */

/* Returns whether a filter with this rate that holds none of the keys would
 * find so many of them. */
static bool digests_is_chance(const cli_asked *keys, double rate)
{
    double n = (double)keys->asked, found = (double)keys->there;

    return found <= n * rate + 3 * sqrt(n * rate * (1 - rate)) + 1;
}

void digests_note(const ask_job *job)
{
    enum { LEAST = 1000 };
    const cli_asked *keys = &job->tally.keys;
    unsigned letters = job->tally.letters;
    bly_stat_t stat;

    if ((letters != DIGESTS_LOWER && letters != DIGESTS_UPPER)
        || job->n != 1 || job->filters[0] == NULL || job->want.quiet
        || keys->asked < LEAST || job->want.how.lower || job->want.how.upper
        || bly_stat(&stat, job->filters[0]) < 0
        || !digests_is_chance(keys, stat.rate))
        return;
    report_note("note: no more keys were found than by chance, and the keys "
                "are hashes in %s case: if '%s' holds hashes in %s case, use "
                "%s",
                letters == DIGESTS_LOWER ? "lower" : "upper",
                job->want.asked.names[0],
                letters == DIGESTS_LOWER ? "upper" : "lower",
                letters == DIGESTS_LOWER ? "--upper" : "--ignore-case");
}
