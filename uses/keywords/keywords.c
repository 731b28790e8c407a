/* keywords.c - lets a server search documents that it cannot read.
 *
 *   keywords index SECRET WORDS BITS FOLDER TEXT...
 *   keywords ask SECRET BITS             <WORDS    >TRAPDOORS
 *   keywords search INDEX...             <TRAPDOORS
 *
 * With the secret, a word has BITS trapdoors x = PRF(secret, i, word), and in a
 * document named `name` the numbers PRF(x, name), each a bit of its filter,
 * FOLDER/NAME.bly. A document has WORDS different words, or fewer, padded with
 * random bits. PRF is SipHash-2-4.
 */
#include "fold.h"

#include <bloomery.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { LONGEST = 63, WORD = FOLD_TIMES * LONGEST + 1, BITS = 64, PATH = 4096,
       HALF = 8 };

typedef struct { unsigned char bytes[BLY_SECRET_BYTES]; } secret;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "keywords: %s: %s\n", what, why);
    return 2;
}

/* ---- Words, trapdoors, numbers ------------------------------------------- */

static bool prf(uint64_t *out, const secret *key, const void *text, size_t n)
{
    bly_spec spec = { .hash = "siphash", .secret = key };
    bly_key one = { text, n };
    bly_keys keys = { .n = 1, .keys = &one };
    return bly_hash_many(out, NULL, &spec, &keys) == BLY_OK;
}

static bool make_trapdoor(secret *x, const secret *key, unsigned i,
                          const char *word)
{
    unsigned char text[WORD + 2];
    size_t n = strlen(word);
    memcpy(text + 2, word, n);
    text[0] = (unsigned char)i;
    for (unsigned half = 0; half < 2; half++) {
        uint64_t h;
        text[1] = (unsigned char)half;
        if (!prf(&h, key, text, n + 2))
            return false;
        for (unsigned b = 0; b < HALF; b++)
            x->bytes[HALF * half + b] = (unsigned char)(h >> 8 * b);
    }
    return true;
}

/* Reads the next word of a text, case folded and cut to the maximum length. */
static bool next_word(char *word, FILE *text)
{
    char written[LONGEST];
    size_t n = 0;
    int c;
    while ((c = getc(text)) != EOF && !isalnum(c) && c < 0x80)
        ;
    for (; c != EOF && (isalnum(c) || c >= 0x80); c = getc(text))
        if (n < LONGEST)
            written[n++] = (char)c;
    word[fold_word(word, written, n)] = '\0';
    return n > 0;
}

static int read_secret(secret *key, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return stop(path, strerror(errno));
    size_t n = fread(key->bytes, 1, sizeof key->bytes, file);
    bool more = getc(file) != EOF;
    fclose(file);
    return n < sizeof key->bytes || more
         ? stop(path, "a secret is 16 bytes: head -c 16 /dev/urandom") : 0;
}

/* ---- Index --------------------------------------------------------------- */

/* Inserts the last word into the sorted ones before it; returns false if it is
 * one of them. */
static bool insert(char (*words)[WORD], size_t n)
{
    char word[WORD];
    size_t low = 0, high = n;
    memcpy(word, words[n], sizeof word);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(words[middle], word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < n && strcmp(words[low], word) == 0)
        return false;
    memmove(words[low + 1], words[low], (n - low) * sizeof *words);
    memcpy(words[low], word, sizeof word);
    return true;
}

/* Returns the different words of a text, or NULL, with a message, if `most` is
 * too few, or after another error. */
static char (*read_words(const char *path, size_t most, size_t *n))[WORD]
{
    char (*words)[WORD] = malloc((most + 2) * sizeof *words);
    FILE *text = fopen(path, "r");
    *n = 0;
    if (words == NULL || text == NULL) {
        stop(path, strerror(errno));
        if (text != NULL)
            fclose(text);
        free(words);
        return NULL;
    }
    while (*n <= most && next_word(words[*n], text))
        *n += insert(words, *n);
    bool failed = ferror(text) != 0;
    fclose(text);
    if (!failed && *n <= most)
        return words;
    stop(path, failed ? "cannot be read" : "it has more words: index all "
         "documents for as many");
    free(words);
    return NULL;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static bool fill(bly_filter *index, const secret *key, unsigned bits,
                 const char *name, char (*words)[WORD], size_t n, size_t most)
{
    for (size_t w = 0; w < most; w++) {
        for (unsigned i = 0; i < bits; i++) {
            secret x;
            uint64_t y;
            bool made = w < n
                ? make_trapdoor(&x, key, i, words[w]) &&
                  prf(&y, &x, name, strlen(name))
                : getrandom(&y, sizeof y, 0) == (ssize_t)sizeof y;
            if (!made || bly_add_hash(index, y) < 0)
                return false;
        }
    }
    return true;
}

static int index_text(const secret *key, size_t most, unsigned bits,
                      const char *folder, const char *path)
{
    char to[PATH], kind[80];
    const char *name = name_of(path);
    bly_filter *index = NULL;
    bly_spec spec = { .capacity = most * bits };
    size_t n;
    if (snprintf(to, sizeof to, "%s/%s.bly", folder, name) >= (int)sizeof to)
        return stop(path, "its name is too long");
    if (access(to, F_OK) == 0)
        return stop(to, "it is there already: remove it, or take another name");
    char (*words)[WORD] = read_words(path, most, &n);
    if (words == NULL)
        return 2;
    snprintf(kind, sizeof kind, "standard:m=%.0f,k=1",
             ceil((double)most * bits / log(2)));
    bool made = bly_new(&index, kind, &spec) == BLY_OK &&
                fill(index, key, bits, name, words, n, most) &&
                bly_save(index, to) == BLY_OK;
    bly_free(index);
    free(words);
    return made ? 0 : stop(to, bly_why());
}

/* ---- Query and search ---------------------------------------------------- */

static int ask(const secret *key, unsigned bits)
{
    char word[WORD];
    while (next_word(word, stdin)) {
        for (unsigned i = 0; i < bits; i++) {
            secret x;
            if (!make_trapdoor(&x, key, i, word))
                return stop(word, bly_why());
            for (size_t b = 0; b < sizeof x.bytes; b++)
                printf("%02x", x.bytes[b]);
        }
        putchar('\n');
    }
    return ferror(stdin) ? stop("standard input", "cannot be read") : 0;
}

static bool perhaps(const bly_filter *index, const char *name,
                    const char *trapdoor, size_t digits)
{
    for (size_t at = 0; at < digits; at += 2 * sizeof(secret)) {
        secret x;
        uint64_t y;
        for (size_t b = 0; b < sizeof x.bytes; b++)
            sscanf(trapdoor + at + 2 * b, "%2hhx", &x.bytes[b]);
        if (prf(&y, &x, name, strlen(name)) && !bly_contains_hash(index, y))
            return false;
    }
    return true;
}

static int search(char **paths, size_t n)
{
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    bly_filter **index = calloc(n, sizeof *index);
    for (size_t i = 0; i < n && failed == 0; i++) {
        if (index == NULL || bly_open(&index[i], paths[i], BLY_MAP, NULL) < 0)
            failed = stop(paths[i], index == NULL ? "no memory" : bly_why());
        else if (strlen(name_of(paths[i])) < 5 || strcmp(paths[i] +
                 strlen(paths[i]) - 4, ".bly") != 0)
            failed = stop(paths[i], "an index is NAME.bly");
        else
            paths[i][strlen(paths[i]) - 4] = '\0';
    }
    for (unsigned long number = 1;
         failed == 0 && getline(&line, &room, stdin) >= 0; number++) {
        size_t digits = strspn(line, "0123456789abcdef");
        if (digits == 0 || digits % (2 * sizeof(secret)) != 0 ||
            (line[digits] != '\n' && line[digits] != '\0'))
            failed = stop("a trapdoor", "it is 32 digits for each bit");
        for (size_t i = 0; i < n && failed == 0; i++)
            if (perhaps(index[i], name_of(paths[i]), line, digits))
                printf("%lu\t%s\n", number, name_of(paths[i]));
    }
    for (size_t i = 0; i < n && index != NULL; i++)
        bly_free(index[i]);
    free(index);
    free(line);
    return failed;
}

/* ---- The command line ---------------------------------------------------- */

/* Returns a number in 1 .. most, or 0 if it is invalid. */
static unsigned long number_of(const char *text, unsigned long most)
{
    char *end;
    unsigned long n = *text < '0' || *text > '9' ? 0 : strtoul(text, &end, 10);
    return n == 0 || *end != '\0' || n > most ? 0 : n;
}

static int work(int argc, char **argv)
{
    secret key;
    if (argc > 2 && strcmp(argv[1], "search") == 0)
        return search(argv + 2, (size_t)argc - 2);
    bool asks = argc == 4 && strcmp(argv[1], "ask") == 0;
    if (!asks && (argc < 7 || strcmp(argv[1], "index") != 0))
        return stop("usage", "keywords index SECRET WORDS BITS FOLDER TEXT... "
                    "| ask SECRET BITS | search INDEX...");
    unsigned long words = asks ? 1 : number_of(argv[3], 10000000);
    unsigned bits = (unsigned)number_of(argv[asks ? 3 : 4], BITS);
    if (words == 0 || bits == 0)
        return stop(argv[words == 0 || asks ? 3 : 4], "a number is wanted: at "
                    "most 10,000,000 words and 64 bits");
    int failed = read_secret(&key, argv[2]);
    if (asks && failed == 0)
        return ask(&key, bits);
    for (int i = 6; i < argc && failed == 0; i++)
        failed = index_text(&key, words, bits, argv[5], argv[i]);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = work(argc, argv);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
