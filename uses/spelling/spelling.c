/* spelling.c - words of texts that are in no dictionary, and what was perhaps
 * meant.
 *
 *   spelling FILTER [--suggest LIST] TEXT...
 *
 * FILTER holds the words in small letters. A wrong word is passed over with the
 * filter's rate; a right one is never told. With --suggest, words of LIST that
 * are one change away follow: hundreds of texts are one change away from a
 * word, of which the filter leaves few to look up in LIST, one word a line in
 * the order of their bytes (LC_ALL=C sort).
 *
 * A word is a run of letters, bytes beyond ASCII and apostrophes within it.
 */
#include <bloomery.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 64, CHANGES = 56 * WORD + 28 };   /* longest; texts near it    */
static const char letters[] = "abcdefghijklmnopqrstuvwxyz'";

static bly_filter *filter;              /* the dictionary                    */
static const char *list;                /* all of LIST, or NULL              */
static size_t list_bytes;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "spelling: %s: %s\n", what, why);
    return 2;
}

/* ---- The list ------------------------------------------------------------ */

/* The word that holds this place, or begins there. */
static bly_key word_at(size_t at)
{
    size_t from = at, end = at;
    while (from > 0 && list[from - 1] != '\n')
        from--;
    while (end < list_bytes && list[end] != '\n')
        end++;
    return (bly_key){ list + from, end - from };
}

static int order(bly_key a, bly_key b)
{
    int bytes = memcmp(a.data, b.data, a.length < b.length ? a.length
                                                           : b.length);
    return bytes != 0 ? bytes : (a.length > b.length) - (a.length < b.length);
}

static bool is_listed(bly_key word)
{
    size_t low = 0, high = list_bytes;
    while (low < high) {
        bly_key there = word_at(low + (high - low) / 2);
        size_t begin = (size_t)((const char *)there.data - list);
        int before = order(there, word);
        if (before == 0)
            return true;
        if (before < 0)
            low = begin + there.length + 1;
        else
            high = begin;
    }
    return false;
}

static int map_list(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) < 0)
        return stop(path, strerror(errno));
    list_bytes = (size_t)about.st_size;
    void *bytes = list_bytes > 0 ? mmap(NULL, list_bytes, PROT_READ,
                                        MAP_PRIVATE, file, 0) : "";
    if (bytes == MAP_FAILED)
        return stop(path, strerror(errno));
    list = bytes;
    close(file);
    return 0;
}

/* ---- Suggestions --------------------------------------------------------- */

/* Texts that are one change away from a word. */
typedef struct {
    char    text[CHANGES][WORD + 1];
    bly_key keys[CHANGES];
    size_t  n;
} changes;

/* The first `from` bytes of the word, a letter or none, and what follows from
 * its byte `to` on. */
static void change(changes *c, const char *word, size_t n, size_t from,
                   char letter, size_t to)
{
    char *text = c->text[c->n];
    size_t at = from;
    memcpy(text, word, from);
    if (letter != '\0')
        text[at++] = letter;
    memcpy(text + at, word + to, n - to);
    c->keys[c->n++] = (bly_key){ text, at + n - to };
}

static void find_changes(changes *c, const char *word, size_t n)
{
    c->n = 0;
    for (size_t i = 0; i <= n; i++) {
        for (const char *letter = letters; *letter != '\0'; letter++) {
            change(c, word, n, i, *letter, i);          /* one too few       */
            if (i < n && *letter != word[i])
                change(c, word, n, i, *letter, i + 1);  /* another one       */
        }
        if (i < n)
            change(c, word, n, i, '\0', i + 1);         /* one too many      */
        if (i + 1 < n && word[i] != word[i + 1]) {      /* two exchanged     */
            change(c, word, n, i + 1, word[i], i + 2);
            c->text[c->n - 1][i] = word[i + 1];
        }
    }
}

static int compare(const void *a, const void *b)
{
    return order(*(const bly_key *)a, *(const bly_key *)b);
}

static void suggest(const char *word, size_t n)
{
    static changes c;
    static bool perhaps[CHANGES];
    const char *between = ": ";
    size_t some = 0;
    find_changes(&c, word, n);
    bly_keys all = { .n = c.n, .keys = c.keys };
    if (bly_contains_keys(filter, &all, perhaps) < 0)
        return;
    for (size_t i = 0; i < c.n; i++)
        if (perhaps[i] && is_listed(c.keys[i]))
            c.keys[some++] = c.keys[i];
    qsort(c.keys, some, sizeof *c.keys, compare);
    for (size_t i = 0; i < some; i++)
        if (i == 0 || order(c.keys[i - 1], c.keys[i]) != 0) {
            printf("%s%.*s", between, (int)c.keys[i].length,
                   (const char *)c.keys[i].data);
            between = ", ";
        }
}

/* ---- Texts --------------------------------------------------------------- */

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

/* Words of a line are asked for together. */
enum { LINE = 512 };
typedef struct { char text[LINE][WORD]; bly_key keys[LINE]; size_t n; } words;

static void tell(words *w, const char *file, unsigned long number)
{
    bool known[LINE];
    bly_keys all = { .n = w->n, .keys = w->keys };
    if (bly_contains_keys(filter, &all, known) < 0)
        exit(stop("the dictionary", bly_why()));
    for (size_t i = 0; i < w->n; i++) {
        if (known[i])
            continue;
        printf("%s:%lu: %.*s", file, number, (int)w->keys[i].length,
               w->text[i]);
        if (list != NULL)
            suggest(w->text[i], w->keys[i].length);
        putchar('\n');
    }
    w->n = 0;
}

static void end_word(words *w, size_t n)
{
    while (n > 0 && w->text[w->n][n - 1] == '\'')
        n--;
    if (n == 0 || n == WORD)            /* what is longer is no word         */
        return;
    w->keys[w->n] = (bly_key){ w->text[w->n], n };
    w->n++;
}

static void read_text(FILE *text, const char *file)
{
    static words w;
    unsigned long number = 1;
    size_t n = 0;
    for (int c; (c = getc_unlocked(text)) != EOF; ) {
        if (is_letter(c) || (c == '\'' && n > 0)) {
            if (n < WORD)
                w.text[w.n][n++] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
            continue;
        }
        end_word(&w, n);
        n = 0;
        if (c == '\n' || w.n == LINE)
            tell(&w, file, number);
        number += c == '\n';
    }
    end_word(&w, n);
    tell(&w, file, number);
}

static int check(const char *path)
{
    FILE *text = fopen(path, "r");
    if (text == NULL)
        return stop(path, strerror(errno));
    read_text(text, path);
    int failed = ferror(text) ? stop(path, "cannot be read") : 0;
    fclose(text);
    return failed;
}

int main(int argc, char **argv)
{
    int first = 2, failed = 0;
    if (argc > 3 && strcmp(argv[2], "--suggest") == 0)
        first = 4;
    if (argc <= first)
        return stop("usage", "spelling FILTER [--suggest LIST] TEXT...");
    if (first == 4 && map_list(argv[3]) != 0)
        return 2;
    if (bly_open(&filter, argv[1], BLY_MAP, NULL) < 0)
        return stop("the dictionary", bly_why());
    if ((bly_can(filter) & BLY_CAN_CONTAINS) == 0)
        return stop(argv[1], "it cannot be asked: build another kind of the "
                             "words");
    for (int i = first; i < argc && failed == 0; i++)
        failed = check(argv[i]);
    bly_free(filter);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
