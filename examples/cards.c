/* cards.c - a pack of notched cards, as in Calvin Mooers' Zatocoding of 1951:
 * each descriptor is four of forty notches. Put needles through the notches of
 * some descriptors: the cards that have them all drop, and few others.
 *
 *   cc -o cards cards.c $(pkg-config --cflags --libs bloomery) -lm
 */
#define _POSIX_C_SOURCE 200809L         /* mkstemp                           */
#include <bloomery/index.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CARDS = 18, WORDS = 5 };         /* descriptors behind each title     */
static const char *const pack[CARDS][1 + WORDS] = {
    { "Low water",        "mill",   "Kent",    "1860s", "photo",  "river" },
    { "Two millers",      "mill",   "Kent",    "1890s", "photo",  "people" },
    { "Sails mended",     "mill",   "Norfolk", "1890s", "sketch", "work" },
    { "A mill on fire",   "mill",   "Norfolk", "1860s", "print",  "night" },
    { "The ferry",        "boat",   "Kent",    "1870s", "photo",  "river" },
    { "Barges in ice",    "boat",   "Essex",   "1890s", "photo",  "river" },
    { "A launch",         "boat",   "Essex",   "1870s", "print",  "work" },
    { "A wherry",         "boat",   "Norfolk", "1870s", "sketch", "river" },
    { "The ferryman",     "boat",   "Norfolk", "1860s", "photo",  "people" },
    { "The new bridge",   "bridge", "Kent",    "1870s", "sketch", "river" },
    { "A bridge tested",  "bridge", "Essex",   "1890s", "photo",  "work" },
    { "Torches",          "bridge", "Kent",    "1860s", "print",  "night" },
    { "The toll keeper",  "bridge", "Essex",   "1860s", "photo",  "people" },
    { "Harvest moon",     "farm",   "Essex",   "1870s", "print",  "night" },
    { "Hop pickers",      "farm",   "Kent",    "1890s", "photo",  "work" },
    { "The steam plough", "farm",   "Norfolk", "1890s", "photo",  "work" },
    { "A flooded field",  "farm",   "Norfolk", "1870s", "sketch", "river" },
    { "An old shepherd",  "farm",   "Kent",    "1860s", "sketch", "people" },
};
static const bly_index_spec want = { .rate = 0.025, .probes = 4, .extra = 4 };
static double planned, in_vain, missed;

/* Hashes words for an index, or, if NULL, for one being made. */
static bly_status hash_words(uint64_t *hashes, const char *const *words,
                             size_t n, const bly_index *index)
{
    bly_key each[WORDS];
    bly_keys keys = { .n = n, .keys = each };
    for (size_t i = 0; i < n; i++)
        each[i] = (bly_key){ words[i], strlen(words[i]) };
    return index != NULL ? bly_index_hash(hashes, index, &keys)
                         : bly_hash_many(hashes, NULL, NULL, &keys);
}

static bly_status notch(const char *path)
{
    uint64_t hashes[WORDS];
    bly_index_maker *maker = NULL;
    bly_status status = bly_index_begin(&maker, path, &want);
    for (uint32_t i = 0; i < CARDS && status == BLY_OK; i++) {
        bly_document card = { .name = pack[i][0], .extra = &i,
                              .length = strlen(pack[i][0]) };
        status = hash_words(hashes, pack[i] + 1, WORDS, NULL);
        if (status == BLY_OK)
            status = bly_index_add(maker, &card, hashes, WORDS);
    }
    if (status == BLY_OK)
        return bly_index_end(maker);
    bly_index_abort(maker);
    return status;
}

/* Reads a card, whose place in the pack has changed; returns how many of these
 * words it lacks. */
static int lacks(const bly_document *card, const char *const *words, size_t n)
{
    uint32_t at;
    int lacking = (int)n;
    memcpy(&at, card->extra, sizeof at);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 1; j <= WORDS; j++)
            lacking -= strcmp(words[i], pack[at][j]) == 0;
    return lacking;
}

/* Prints which cards drop. A share rate^k of those that lack k of the words
 * does. */
static bly_status ask(const bly_index *index, const char *const *words,
                      size_t n, bool print)
{
    uint64_t hashes[WORDS], drops;      /* a bit for each card               */
    bly_index_stat_t is;
    bly_document card;
    bly_index_stat(&is, index);
    for (size_t i = 0; i < n && print; i++)
        printf("%s%s", words[i], i < n - 1 ? " + " : ":\n");
    bly_status status = hash_words(hashes, words, n, index);
    if (status == BLY_OK)
        status = bly_index_which(&drops, index, hashes, n, n);
    for (uint64_t i = 0; i < is.documents && status == BLY_OK; i++) {
        if ((status = bly_index_document(&card, index, i)) < 0)
            return status;
        int lacking = lacks(&card, words, n);
        bool dropped = drops >> i & 1;
        if (dropped && print)
            printf("  %.*s%s\n", (int)card.length, card.name,
                   lacking ? " (in vain)" : "");
        in_vain += dropped && lacking > 0;
        missed += !dropped && lacking == 0;
        planned += lacking > 0 ? pow(is.rate, lacking) : 0;
    }
    return status;
}

int main(void)
{
    static const char *const words[] = { "photo", "work", "1890s" };
    static const char *const two[] = { "boat", "Essex" };
    char path[] = "/tmp/cards-XXXXXX";
    int file = mkstemp(path);
    bly_index *index = NULL;
    if (file < 0 || close(file) != 0)
        return perror(path), 1;
    bool good = notch(path) == BLY_OK
             && bly_index_open(&index, path, NULL) == BLY_OK
             && ask(index, words, 3, true) == BLY_OK
             && ask(index, two, 2, true) == BLY_OK;
    remove(path);                       /* open files survive removal        */
    for (int i = 0; i < CARDS && good; i++)     /* two descriptors of a card */
        for (int j = 1; j < WORDS && good; j++)
            good = ask(index, pack[i] + j, 2, false) == BLY_OK;
    bly_index_free(index);
    if (!good)
        return fprintf(stderr, "%s\n", bly_why()), 1;
    printf("cards of %.0f bits: %.0f missed, %.0f dropped in vain, "
           "%.1f planned\n", (double)bly_index_bits(&want, WORDS), missed,
           in_vain, planned);
    return missed > 0 || in_vain > planned + 5 * sqrt(planned);
}
