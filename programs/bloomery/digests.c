/* digests.c - notices keys that were not found because they were made in
 * another way than the keys of the filter.
 *
 * Lists of known files hold hashes as hexadecimal digits: CIRCL's are in upper
 * case, while sha1sum prints lower case. Such keys are never found, and nothing
 * looks wrong. The first keys of each batch are therefore looked at, up to the
 * first one that is not a hash; other keys cost one comparison per batch.
 *
 * Filters of other systems do not record the form of their keys. A key that a
 * Java program put as a long is not found by its text, and nothing looks wrong
 * either.
 */
#include "bloomery/command.h"
#include "frame/mix.h"

#include <math.h>
#include <string.h>

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

    if (key.length > 0 && *text == '\\') {     /* sha1sum escaped a name */
        text++;
        key.length--;
    }
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

/* ==== Groups ============================================================ */

enum { DIGESTS_GROUPING = 3 };          /* its field of the geometry */

void digests_find_groups(ask_job *job)
{
    for (size_t i = 0; i < job->n && job->grouped == NULL; i++) {
        bly_header header;

        if (job->filters[i] == NULL
            || strcmp(bly_kind_of(job->filters[i]), "clubcard") != 0)
            continue;
        bly_header_of(&header, job->filters[i]);
        job->grouped = &job->places[i];
        job->grouping = header.geometry[DIGESTS_GROUPING];
    }
}

/* Returns whether a clubcard's key begins with a group: 32 bytes, or all that
 * is in front of a TAB or comma. */
static bool digests_has_group(uint64_t grouping, bly_key key)
{
    return grouping == 0 ? key.length >= 32
         : memchr(key.data, grouping == 1 ? '\t' : ',', key.length) != NULL;
}

uint64_t digests_groupless(const ask_job *job, const cli_batch *b)
{
    uint64_t n = 0;

    for (size_t i = 0; job->grouped != NULL && i < b->n; i++)
        n += b->keys[i].data != NULL
          && !digests_has_group(job->grouping, b->keys[i]);
    return n;
}

static void digests_note_groups(const ask_job *job)
{
    if (job->tally.groupless > 0)
        report_note("note: keys without the group in front that '%s' needs, "
                    "which count as present: %s of %s (see 'bloomery kinds "
                    "clubcard')", job->grouped->path,
                    report_count(job->tally.groupless).text,
                    report_count(job->tally.keys.asked).text);
}

/* ==== The note ========================================================== */
/* ==== Chance ============================================================ */

enum {
    DIGESTS_BATCH = 256,                /* random keys at a time             */
    DIGESTS_WORDS = 2,                  /* of each, of 64 bits               */
    DIGESTS_LEAST = 10000,              /* limit of their number, unless more
                                           keys were asked                   */
    DIGESTS_ENOUGH = 1000               /* found ones that measure a rate    */
};

/* Looks up a batch of random keys. Returns how many are in some filter. */
static uint64_t digests_random(const ask_job *job, uint64_t batch)
{
    uint64_t words[DIGESTS_BATCH * DIGESTS_WORDS], found = 0;
    bool there[DIGESTS_BATCH], somewhere[DIGESTS_BATCH] = { false };
    const bly_keys keys = { .n = DIGESTS_BATCH, .data = words,
                            .width = DIGESTS_WORDS * sizeof *words };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = mix_hash((batch * (sizeof words / sizeof *words) + i)
                            * MIX_STEP);
    for (size_t f = 0; f < job->n; f++)
        if (bly_contains_many(job->filters[f], &keys, there) == BLY_OK)
            for (size_t i = 0; i < DIGESTS_BATCH; i++)
                somewhere[i] |= there[i];
    for (size_t i = 0; i < DIGESTS_BATCH; i++)
        found += somewhere[i];
    return found;
}

/* Returns how many random keys tell whether the keys were found by chance: so
 * many that enough of them are then found, too. */
static uint64_t digests_sample(const cli_asked *keys)
{
    uint64_t most = keys->asked > DIGESTS_LEAST ? keys->asked : DIGESTS_LEAST;
    double enough = DIGESTS_ENOUGH * (double)keys->asked / (double)keys->there;

    return enough < (double)most ? (uint64_t)enough : most;
}

/* Returns whether false positives explain the number of found keys, or `spare`
 * fewer. A found key is taken for a member if none was to be expected. The rate
 * is measured by random keys, so that the time does not grow with the filters,
 * of which bly_info reads every byte. */
static bool digests_explained(const ask_job *job, unsigned spare)
{
    const cli_asked *keys = &job->tally.keys;
    double asked = (double)keys->asked, batches, expected, sd;
    uint64_t found = 0;

    if (keys->there <= spare)
        return true;
    batches = ceil((double)digests_sample(keys) / DIGESTS_BATCH);
    for (uint64_t i = 0; i < (uint64_t)batches; i++)
        found += digests_random(job, i);
    expected = asked * (double)found / (batches * DIGESTS_BATCH);
    sd = sqrt(expected * (1 - expected / asked)
              * (1 + asked / (batches * DIGESTS_BATCH)));
    return expected >= 0.5 && expected < asked
        && (double)(keys->there - spare) <= expected + 3 * sd;
}

/* ==== The note ========================================================== */

/* Prints a note if the keys are hashes in one case. Returns whether it did. */
static bool digests_note_case(const ask_job *job)
{
    enum { LEAST = 1000 };
    unsigned letters = job->tally.letters;

    if ((letters != DIGESTS_LOWER && letters != DIGESTS_UPPER)
        || job->n != 1 || job->filters[0] == NULL || job->want.quiet
        || job->tally.keys.asked < LEAST || job->want.how.lower
        || job->want.how.upper || !digests_explained(job, 1))
        return false;
    report_note("note: no more keys were found than by chance, and the keys "
                "are hashes in %s case: if '%s' holds hashes in %s case, use "
                "%s",
                letters == DIGESTS_LOWER ? "lower" : "upper",
                job->want.asked.names[0],
                letters == DIGESTS_LOWER ? "upper" : "lower",
                letters == DIGESTS_LOWER ? "--upper" : "--ignore-case");
    return true;
}

/* Returns the first filter whose format has options that its file does not
 * record, or NULL. */
static const ask_place *digests_untold(const ask_job *job)
{
    for (size_t i = 0; i < job->n; i++)
        if (job->filters[i] != NULL
            && typed_is_told(bly_kind_of(job->filters[i])))
            return &job->places[i];
    return NULL;
}

/* Returns whether an option says how keys are made, perhaps one of the format
 * ("clubcard:keys=tab"). Where the format needs such options, others say
 * nothing. */
static bool digests_told(const ask_job *job)
{
    const ask_settings *want = &job->want;
    const cli_how *how = &want->how;

    if (want->format != NULL && strchr(want->format, '=') != NULL)
        return true;
    return digests_untold(job) != NULL ? job->inside : how->as != FORMS_UNSAID
        || how->lower || how->upper || how->trim || how->crlf || how->keep_cr;
}

/* Returns whether all filters are there, and of other systems. */
static bool digests_foreign(const ask_job *job)
{
    for (size_t i = 0; i < job->n; i++)
        if (job->filters[i] == NULL
            || !filter_kind_of_family(bly_kind_of(job->filters[i]), "foreign"))
            return false;
    return true;
}

void digests_note(const ask_job *job)
{
    const ask_place *untold = digests_untold(job);

    digests_note_groups(job);
    if (digests_note_case(job) || job->form != BLY_KEYS_UNSTATED
        || job->tally.keys.asked == 0 || job->n == 0
        || (job->n > 1 && job->want.all) || digests_told(job)
        || !digests_foreign(job) || !digests_explained(job, 0))
        return;
    if (untold != NULL)
        report_note("note: no more keys were found than false positives "
                    "explain, and '%s' does not record options of its format "
                    "that decide where keys are: 'bloomery kinds %s' explains "
                    "them and what its keys are", untold->path,
                    bly_kind_of(job->filters[untold - job->places]));
    else if (job->tally.letters == DIGESTS_LOWER)
        report_note("note: no more keys were found than false positives "
                    "explain, and the keys are hashes in lower case: if '%s' "
                    "holds hashes in upper case, use --upper; otherwise try "
                    "--as hex", job->form_of);
    else
        report_note("note: no more keys were found than false positives "
                    "explain, and '%s' does not record how its keys were made: "
                    "try --as int64, int32, utf16 or hex (see 'bloomery help "
                    "keys')", job->form_of);
}
