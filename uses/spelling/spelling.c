/* spelling.c - reports words that are in no dictionary, and what may have been
 * meant.
 *
 *   spelling FILTER [--suggest LIST] TEXT...
 *
 * FILTER holds the words. Its form says which letters ignore case, all
 * (case=fold) or A to Z. A wrong word is missed at its rate; a right one is
 * never reported. With --suggest, words of LIST follow that are one change of a
 * to z away: of hundreds of candidates the filter leaves few to look up.
 *
 * A word is a run of letters, bytes beyond ASCII, and apostrophes inside it.
 */
#include <bloomery.h>
#include <bloomery/form.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest word, and its key; candidates near it. */
enum { WORD = 64, KEY = 3 * WORD, CHANGES = 56 * KEY + 28 };
static const char letters[] = "abcdefghijklmnopqrstuvwxyz'";

static bly_filter *filter;              /* the dictionary                    */
static uint64_t form;                   /* of its keys                       */
static bool beyond;                     /* report words with other letters   */

typedef struct { bly_key word, key; } entry;
static entry *list;                     /* LIST in the order of its keys     */
static size_t entries;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "spelling: %s: %s\n", what, why);
    return 2;
}

/* ---- Keys ---------------------------------------------------------------- */

/* Makes the key of a word, in `room` of KEY bytes. false: it is not text. */
static bool make_key(bly_key *key, void *room, const char *word, size_t n)
{
    const bly_value value = { .type = BLY_WRITTEN, .data = word, .length = n };
    bly_status status = bly_form_key(key, form, &value, room);
    if (status < 0 && status != BLY_EPARAM)
        exit(stop("the dictionary", bly_why()));
    return status >= 0;
}

static int choose_form(const char *path)
{
    form = bly_form_of(filter);
    if (form == BLY_KEYS_UNSTATED)
        form = BLY_KEYS_TEXT;
    if ((form & BLY_FORM_CASE) == 0)
        form |= BLY_FORM_LOWER;
    return (form & BLY_FORM_CLASS) == BLY_KEYS_TEXT ? 0
         : stop(path, "its keys are not text: build it of words");
}

static int order(bly_key a, bly_key b)
{
    int bytes = memcmp(a.data, b.data, a.length < b.length ? a.length
                                                           : b.length);
    return bytes != 0 ? bytes : (a.length > b.length) - (a.length < b.length);
}

/* ---- The list ------------------------------------------------------------ */

static int compare_entries(const void *a, const void *b)
{
    return order(((const entry *)a)->key, ((const entry *)b)->key);
}

static const entry *find_entry(bly_key key)
{
    entry wanted = { .key = key };
    return bsearch(&wanted, list, entries, sizeof *list, compare_entries);
}

static bool add_entry(const char *word, size_t n)
{
    unsigned char room[KEY];
    entry one = { .word = { word, n } };
    if (n == 0 || n > WORD || !make_key(&one.key, room, word, n))
        return true;                    /* nothing is near it                */
    void *copy = malloc(one.key.length + 1);
    if ((entries & (entries - 1)) == 0)
        list = realloc(list, (2 * entries + 1) * sizeof *list);
    if (copy == NULL || list == NULL)
        return false;
    one.key.data = memcpy(copy, one.key.data, one.key.length);
    list[entries++] = one;
    return true;
}

static int read_list(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) < 0)
        return stop(path, strerror(errno));
    size_t bytes = (size_t)about.st_size;
    const char *text = bytes > 0 ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE,
                                        file, 0) : "";
    if (text == MAP_FAILED)
        return stop(path, strerror(errno));
    close(file);
    for (const char *at = text, *end = text + bytes, *next; at < end;
         at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next != NULL ? next : end;
        if (!add_entry(at, (size_t)(next - at) - (next > at &&
                                                  next[-1] == '\r')))
            return stop(path, strerror(ENOMEM));
    }
    if (entries == 0)
        return stop(path, "it has no word");
    qsort(list, entries, sizeof *list, compare_entries);
    return 0;
}

/* ---- Suggestions --------------------------------------------------------- */

/* Candidates that are one change away from a word. */
typedef struct {
    char    text[CHANGES][KEY + 1];
    bly_key keys[CHANGES];
    size_t  n;
} changes;

/* Joins the first `from` bytes of the word, a letter or none, and the bytes
 * from `to` on. */
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
            change(c, word, n, i, *letter, i);          /* one missing       */
            if (i < n && *letter != word[i])
                change(c, word, n, i, *letter, i + 1);  /* one wrong         */
        }
        if (i < n)
            change(c, word, n, i, '\0', i + 1);         /* one too many      */
        if (i + 1 < n && word[i] != word[i + 1]) {      /* two are swapped   */
            change(c, word, n, i + 1, word[i], i + 2);
            c->text[c->n - 1][i] = word[i + 1];
        }
    }
}

static int compare(const void *a, const void *b)
{
    return order(*(const bly_key *)a, *(const bly_key *)b);
}

static void suggest(bly_key word)
{
    static changes c;
    static bool perhaps[CHANGES];
    const char *between = ": ";
    size_t some = 0;
    find_changes(&c, word.data, word.length);
    bly_keys all = { .n = c.n, .keys = c.keys };
    if (bly_contains_many(filter, &all, perhaps) < 0)
        return;
    for (size_t i = 0; i < c.n; i++)
        if (perhaps[i] && find_entry(c.keys[i]) != NULL)
            c.keys[some++] = c.keys[i];
    qsort(c.keys, some, sizeof *c.keys, compare);
    for (size_t i = 0; i < some; i++)
        if (i == 0 || order(c.keys[i - 1], c.keys[i]) != 0) {
            bly_key listed = find_entry(c.keys[i])->word;
            printf("%s%.*s", between, (int)listed.length,
                   (const char *)listed.data);
            between = ", ";
        }
}

/* ---- Texts --------------------------------------------------------------- */

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

/* The words of a line are looked up together. */
enum { LINE = 512 };
typedef struct {
    char          text[LINE][WORD];
    unsigned char room[LINE][KEY];
    size_t        length[LINE], n;
    bly_key       keys[LINE];
    bool          readable[LINE];
} words;

static void tell(words *w, const char *file, unsigned long number)
{
    bool known[LINE];
    bly_keys all = { .n = w->n, .keys = w->keys };
    if (bly_contains_many(filter, &all, known) < 0)
        exit(stop("the dictionary", bly_why()));
    for (size_t i = 0; i < w->n; i++) {
        if (known[i] && w->readable[i])
            continue;
        printf("%s:%lu: %.*s", file, number, (int)w->length[i], w->text[i]);
        for (size_t b = 0; b < w->length[i]; b++)
            beyond = beyond || (unsigned char)w->text[i][b] >= 0x80;
        if (list != NULL && w->readable[i])
            suggest(w->keys[i]);
        putchar('\n');
    }
    w->n = 0;
}

static void end_word(words *w, size_t n)
{
    while (n > 0 && w->text[w->n][n - 1] == '\'')
        n--;
    if (n == 0 || n == WORD)            /* a longer run is not a word        */
        return;
    w->length[w->n] = n;
    w->keys[w->n] = (bly_key){ "", 0 };
    w->readable[w->n] = make_key(&w->keys[w->n], w->room[w->n], w->text[w->n],
                                 n);
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
                w.text[w.n][n++] = (char)c;
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
    bool suggests = argc > 3 && strcmp(argv[2], "--suggest") == 0;
    int first = suggests ? 4 : 2, failed = 0;
    if (argc <= first)
        return stop("usage", "spelling FILTER [--suggest LIST] TEXT...");
    if (bly_open(&filter, argv[1], BLY_MAP, NULL) < 0)
        return stop("the dictionary", bly_why());
    if ((bly_can(filter) & BLY_CAN_CONTAINS) == 0)
        return stop(argv[1], "it cannot be asked: build another kind of the "
                             "words");
    if (choose_form(argv[1]) != 0 || (suggests && read_list(argv[3]) != 0))
        return 2;
    for (int i = first; i < argc && failed == 0; i++)
        failed = check(argv[i]);
    bly_free(filter);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    if (beyond && (form & BLY_FORM_CASE) != BLY_FORM_FOLD)
        fprintf(stderr, "spelling: '%s' ignores the case of A to Z only: for "
                "other letters, build it with -i --unicode\n", argv[1]);
    return failed;
}
