/* traceback.c - recovers a packet's path from a filter that it carries.
 *
 *   traceback BITS:SET:RESET mark [--ones] <WAYS
 *   traceback BITS:SET:RESET trace LINKS   <PACKETS
 *   traceback BITS:SET:RESET ask NAMES     <PACKETS
 *
 * A router resets RESET bits of the field and sets SET others; a bit in both is
 * reset. With RESET 0 this is a plain filter. A router is in a field if the
 * former are clear and the latter set. A line of WAYS is the routers, then the
 * victim; one of PACKETS the victim and the field in hexadecimal digits; one of
 * LINKS two neighbours.
 */
#include <bloomery.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 512 };                   /* of a field, at most               */

static bly_filter *sets, *resets;       /* empty; resets is NULL for 0       */
static size_t bytes;                    /* of the field                      */

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "traceback: %s: %s\n", what, why);
    return 2;
}

/* ---- Marks --------------------------------------------------------------- */

/* A router's bits; no bit is in both. */
typedef struct { unsigned char set[BYTES], reset[BYTES]; } mark;

static bool one_key(unsigned char *bits, const bly_filter *empty,
                    const char *name)
{
    size_t all;
    bly_filter *one = NULL;
    if (bly_like(&one, empty, NULL) < 0 || bly_add(one, name, strlen(name)) < 0)
        return false;
    const unsigned char *image = bly_image(one, &all);
    memcpy(bits, image + BLY_HEADER_BYTES, bytes);
    bly_free(one);
    return true;
}

static bool make_mark(mark *m, const char *name)
{
    memset(m->reset, 0, bytes);
    if (!one_key(m->set, sets, name) || (resets != NULL &&
                                         !one_key(m->reset, resets, name)))
        return false;
    for (size_t i = 0; i < bytes; i++)
        m->set[i] &= (unsigned char)~m->reset[i];
    return true;
}

static bool is_in(const unsigned char *field, const mark *m)
{
    for (size_t i = 0; i < bytes; i++)
        if ((field[i] & m->set[i]) != m->set[i] || (field[i] & m->reset[i]))
            return false;
    return true;
}

static void put_mark(unsigned char *field, const mark *m)
{
    for (size_t i = 0; i < bytes; i++)
        field[i] = (unsigned char)((field[i] & ~m->reset[i]) | m->set[i]);
}

/* ---- Paths --------------------------------------------------------------- */

static const char blanks[] = " \t\r\n", usage[] = "traceback BITS:SET:RESET "
    "mark [--ones] | trace LINKS | ask NAMES";
static int mark_way(char *line, unsigned char start)
{
    unsigned char field[BYTES];
    mark m;
    char *rest = line, *name = strtok_r(rest, blanks, &rest), *next;
    memset(field, start, bytes);
    if (name == NULL)
        return 0;
    for (; (next = strtok_r(rest, blanks, &rest)) != NULL; name = next) {
        if (!make_mark(&m, name))
            return stop(name, bly_why());
        put_mark(field, &m);
    }
    printf("%s\t", name);
    for (size_t i = 0; i < bytes; i++)
        printf("%02x", field[i]);
    putchar('\n');
    return 0;
}

static int mark_ways(unsigned char start)
{
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    while (failed == 0 && getline(&line, &room, stdin) >= 0)
        failed = mark_way(line, start);
    free(line);
    return failed;
}

/* ---- Links --------------------------------------------------------------- */

/* A link, from either end; or a name. */
typedef struct { char *from, *to; bool visited; } link_of;

static link_of *links;                  /* never freed                       */
static size_t n_links;

static int by_from(const void *a, const void *b)
{
    return strcmp(((const link_of *)a)->from, ((const link_of *)b)->from);
}

static bool add_link(const char *from, const char *to)
{
    link_of *larger = realloc(links, (n_links + 1) * sizeof *links);
    if (larger == NULL)
        return false;
    links = larger;
    links[n_links++] = (link_of){ strdup(from), strdup(to), false };
    return links[n_links - 1].from != NULL && links[n_links - 1].to != NULL;
}

static int read_links(const char *path, bool pairs)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    if (file == NULL)
        return stop(path, strerror(errno));
    while (failed == 0 && getline(&line, &room, file) >= 0) {
        char *rest = line, *a = strtok_r(rest, blanks, &rest);
        char *b = a != NULL && pairs ? strtok_r(rest, blanks, &rest) : a;
        if (a == NULL)
            continue;
        if (b == NULL)
            failed = stop(a, "a link has two ends: who is the other?");
        else if (!add_link(a, b) || (pairs && !add_link(b, a)))
            failed = stop(path, "no memory");
    }
    if (failed == 0 && ferror(file))
        failed = stop(path, "cannot be read");
    free(line);
    fclose(file);
    if (pairs && n_links > 0)
        qsort(links, n_links, sizeof *links, by_from);
    return failed;
}

/* Returns the first link from here, or one past all. */
static size_t first_link(const char *from)
{
    size_t low = 0, high = n_links;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(links[middle].from, from) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Packets ------------------------------------------------------------- */

/* Prints and visits the neighbours that are in the field, and recursively
 * theirs. */
static bool trace(const char *victim, const unsigned char *field, size_t *stack)
{
    size_t depth = 1, start = first_link(victim);
    if (start == n_links || strcmp(links[start].from, victim) != 0)
        return true;
    links[start].visited = true;
    *stack = start;
    while (depth > 0) {
        size_t begin = stack[--depth];
        for (size_t i = begin; i < n_links &&
                 strcmp(links[i].from, links[begin].from) == 0; i++) {
            size_t there = first_link(links[i].to);
            mark m;
            if (links[there].visited)
                continue;
            if (!make_mark(&m, links[i].to))
                return false;
            if (!is_in(field, &m))
                continue;
            links[there].visited = true;
            printf("\t%s", links[i].to);
            stack[depth++] = there;
        }
    }
    for (size_t i = 0; i < n_links; i++)
        links[i].visited = false;
    return true;
}

static bool ask(const unsigned char *field)
{
    for (size_t i = 0; i < n_links; i++) {
        mark m;
        if (!make_mark(&m, links[i].from))
            return false;
        if (is_in(field, &m))
            printf("\t%s", links[i].from);
    }
    return true;
}

static bool read_field(unsigned char *field, const char *text)
{
    size_t n = text == NULL ? 0 : strspn(text, "0123456789abcdefABCDEF");
    if (n != 2 * bytes || text[n] != '\0')
        return false;
    for (size_t i = 0; i < bytes; i++)
        sscanf(text + 2 * i, "%2hhx", &field[i]);
    return true;
}

static int read_packets(bool all_names)
{
    unsigned char field[BYTES];
    char *line = NULL;
    size_t room = 0, *stack = malloc((n_links + 1) * sizeof *stack);
    int failed = stack == NULL ? stop("links", "no memory") : 0;
    while (failed == 0 && getline(&line, &room, stdin) >= 0) {
        char *rest = line, *victim = strtok_r(rest, blanks, &rest);
        if (victim == NULL)
            continue;
        if (!read_field(field, strtok_r(rest, blanks, &rest))) {
            failed = stop(victim, "its field is not of so many bits in "
                          "hexadecimal digits");
            continue;
        }
        fputs(victim, stdout);
        if (!(all_names ? ask(field) : trace(victim, field, stack)))
            failed = stop(victim, bly_why());
        putchar('\n');
    }
    free(stack);
    free(line);
    return failed;
}

/* ---- The command line ---------------------------------------------------- */

static bool make_empty(bly_filter **out, unsigned long bits, unsigned long each,
                       uint64_t seed)
{
    char kind[80];
    bly_spec spec = { .capacity = 1, .seed = seed };
    snprintf(kind, sizeof kind, "standard:m=%lu,k=%lu,index=seeds", bits, each);
    return bly_new(out, kind, &spec) == BLY_OK;
}

static int make_field(const char *text)
{
    unsigned long bits = 0, set = 0, reset = 0;
    int end = 0;
    if (sscanf(text, "%4lu:%2lu:%2lu%n", &bits, &set, &reset, &end) != 3 ||
        text[end] != '\0' || bits % 8 != 0 || bits < 8 || bits > 8 * BYTES ||
        set < 1 || set > 64 || reset > 64)
        return stop(text, "BITS:SET:RESET, such as 256:2:2, are wanted: BITS "
                    "are 8 to 4096 in whole bytes, the others 64 at most");
    bytes = bits / 8;
    if (!make_empty(&sets, bits, set, 1) ||
        (reset > 0 && !make_empty(&resets, bits, reset, 2)))
        return stop(text, bly_why());
    return 0;
}

static int work(int argc, char **argv)
{
    bool ones = argc == 4 && strcmp(argv[3], "--ones") == 0;
    if ((argc == 3 || ones) && strcmp(argv[2], "mark") == 0)
        return mark_ways(ones ? 0xFF : 0);
    bool all = argc == 4 && strcmp(argv[2], "ask") == 0;
    if (!all && (argc != 4 || strcmp(argv[2], "trace") != 0))
        return stop("usage", usage);
    return read_links(argv[3], !all) != 0 ? 2 : read_packets(all);
}

int main(int argc, char **argv)
{
    int failed = argc < 3 ? 0 : make_field(argv[1]);
    if (failed == 0)
        failed = work(argc, argv);
    bly_free(sets);
    bly_free(resets);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
