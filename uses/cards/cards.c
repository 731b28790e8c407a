/* cards.c - positions of notches on cards, and of needles.
 *
 *   cards [-s SITES] [-n NOTCHES] [-l] FILE.tsv
 *
 * Each line is a card: its title, a TAB, and descriptors separated by commas. A
 * descriptor is a fixed pattern of NOTCHES different sites out of SITES, by
 * default 4 of 40; a card is notched where any of its descriptors is. So a card
 * has all notches of each set of its descriptors; a card that lacks some has
 * those by chance.
 *
 * Prints a row of bits for each card, for `bloomery similar --superset`; a
 * query is a card, too. With -l it prints for people: the title, a TAB, and the
 * sites, from 1.
 */
#define _DEFAULT_SOURCE                 /* getline, getopt, strsep           */
#include <bloomery.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1024 };                   /* sites                             */

static unsigned long sites = 40, notches = 4;
static bool list;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "cards: %s: %s\n", what, why);
    return 2;
}

/* Draws sites by the descriptor's hash, skipping those drawn before. */
static bly_status notch(bool *card, const char *descriptor)
{
    bool drawn[MOST] = { false };
    bly_key key = { descriptor, strlen(descriptor) };
    bly_keys one = { .n = 1, .keys = &key };
    uint64_t hash;
    bly_status status = bly_hash_many(&hash, NULL, NULL, &one);
    for (unsigned long n = 0; n < notches && status == BLY_OK; hash++) {
        uint64_t site = bly_mix64(hash) % sites;
        n += !drawn[site];
        drawn[site] = card[site] = true;
    }
    return status;
}

static void print(const bool *card, const char *title)
{
    const char *before = "\t";
    if (list) {
        printf("%s", title);
        for (unsigned long i = 0; i < sites; i++)
            if (card[i]) {
                printf("%s%lu", before, i + 1);
                before = " ";
            }
        putchar('\n');
        return;
    }
    for (unsigned long i = 0; i < sites; i += 8) {
        unsigned byte = 0;
        for (unsigned long j = i; j < i + 8 && j < sites; j++)
            byte |= (unsigned)card[j] << (j - i);
        printf("%02x", byte);
    }
    printf("\t%s\n", title);
}

/* Trims blanks; returns NULL if nothing is left. */
static char *trimmed(char *text)
{
    if (text == NULL)
        return NULL;
    text += strspn(text, " ");
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    return text;
}

static int read_cards(FILE *file, const char *path)
{
    char *line = NULL, where[32];
    size_t room = 0;
    int failed = 0;
    ssize_t n;
    for (int i = 1; failed == 0 && (n = getline(&line, &room, file)) >= 0;
         i++) {
        bool card[MOST] = { false };
        char *rest = line, *descriptor;
        bool nul = strlen(line) < (size_t)n;
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = '\0';
        snprintf(where, sizeof where, "line %d", i);
        const char *title = strsep(&rest, "\t");
        if (rest == NULL || nul) {
            failed = stop(where, nul ? "it has a NUL byte"
                                     : "no TAB, with descriptors behind it");
            break;
        }
        while ((descriptor = trimmed(strsep(&rest, ","))) != NULL)
            if (*descriptor != '\0' && notch(card, descriptor) < 0)
                failed = stop(where, bly_why());
        print(card, title);
    }
    free(line);
    return failed == 0 && ferror(file) ? stop(path, strerror(errno)) : failed;
}

int main(int argc, char **argv)
{
    int c;
    char *end = "";
    opterr = 0;
    while (*end == '\0' && (c = getopt(argc, argv, "s:n:l")) >= 0 && c != '?')
        if (c == 'l')
            list = true;
        else
            *(c == 's' ? &sites : &notches) = strtoul(optarg, &end, 10);
    if (*end != '\0' || c == '?' || argc != optind + 1 || sites == 0
        || sites > MOST || notches == 0 || notches > sites)
        return stop("usage", "cards [-s SITES] [-n NOTCHES] [-l] FILE.tsv, "
                             "with at most 1024 sites");
    bool input = strcmp(argv[optind], "-") == 0;
    FILE *file = input ? stdin : fopen(argv[optind], "r");
    if (file == NULL)
        return stop(argv[optind], strerror(errno));
    if (!list)
        printf("#FPS1\n#num_bits=%lu\n#type=cards/%lu\n", sites, notches);
    int failed = read_cards(file, argv[optind]);
    fclose(file);
    return failed == 0 && (fflush(stdout) | ferror(stdout)) != 0
           ? stop("standard output", strerror(errno)) : failed;
}
