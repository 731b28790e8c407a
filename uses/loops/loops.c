/* loops.c - packets that carry a filter of the interfaces passed.
 *
 *   loops BITS EACH PATHS... loops BITS EACH --hops N
 *
 * An interface has EACH different bits out of BITS. Each line of PATHS is the
 * path of a packet, interfaces separated by blanks. Prints the first interface
 * whose bits are all set, and whether it had been passed ("loop") or not
 * ("mistake").
 *
 * With --hops it prints, for hops 1 to N of a path without a circle, the chance
 * that a packet is stopped by mistake at this hop, and at any so far.
 */
#include <bloomery.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 4096, EACH = 16 };       /* maxima                           */

static bly_filter *empty;               /* a new packet's field              */
static unsigned long bits, each;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "loops: %s: %s\n", what, why);
    return 2;
}

/* ---- Packets ------------------------------------------------------------- */

static unsigned long ones(const bly_filter *filter)
{
    size_t bytes;
    const unsigned char *image = bly_image(filter, &bytes);
    unsigned long n = 0;
    for (size_t i = BLY_HEADER_BYTES; i < bytes; i++)
        n += (unsigned long)__builtin_popcount(image[i]);
    return n;
}

/* An interface's key: its name, followed by the first number that gives it EACH
 * different bits. */
enum { KEY = 256, NAME = KEY - sizeof(uint32_t) };
typedef struct { unsigned char bytes[KEY]; size_t n; } tag;

static void make_tag(tag *t, const char *name, uint32_t number)
{
    size_t n = strnlen(name, NAME);
    memcpy(t->bytes, name, n);
    memcpy(t->bytes + n, &number, sizeof number);
    t->n = n + sizeof number;
}

static bly_status has_all_bits(bool *all, const tag *t)
{
    bly_filter *one = NULL;
    bly_status status = bly_like(&one, empty, NULL);
    if (status == BLY_OK)
        status = bly_add(one, t->bytes, t->n);
    *all = status == BLY_OK && ones(one) == each;
    bly_free(one);
    return status;
}

/* Returns BLY_SEEN if the packet may have been there. */
static bly_status enter(bly_filter *packet, const char *name)
{
    tag t;
    bool all = false;
    for (uint32_t number = 0; !all; number++) {
        make_tag(&t, name, number);
        bly_status status = has_all_bits(&all, &t);
        if (status < 0)
            return status;
    }
    return bly_add(packet, t.bytes, t.n);
}

/* ---- Paths --------------------------------------------------------------- */

static bool is_among(char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Cuts a line into names; returns how many. */
static size_t cut(char *line, char ***names, size_t *room)
{
    size_t n = 0;
    char *rest = line;
    for (char *name; (name = strtok_r(rest, " \t\r\n", &rest)) != NULL; ) {
        if (n == *room) {
            size_t more = *room == 0 ? 64 : 2 * *room;
            char **larger = realloc(*names, more * sizeof *larger);
            if (larger == NULL)
                return SIZE_MAX;
            *names = larger;
            *room = more;
        }
        (*names)[n++] = name;
    }
    return n;
}

static int send_packet(const char *path, unsigned long line, char *const *names,
                       size_t n)
{
    bly_filter *packet = NULL;
    if (bly_like(&packet, empty, NULL) < 0)
        return stop(path, bly_why());
    bly_status status = BLY_OK;
    size_t hop = 0;
    while (status == BLY_OK && hop < n)
        status = enter(packet, names[hop++]);
    bly_free(packet);
    if (status < 0)
        return stop(path, bly_strerror(status));
    if (status == BLY_SEEN)
        printf("%s:%lu: hop %zu: %s: %s\n", path, line, hop,
               is_among(names, hop - 1, names[hop - 1]) ? "loop" : "mistake",
               names[hop - 1]);
    return 0;
}

static int send_all(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL, **names = NULL;
    size_t line_room = 0, room = 0;
    unsigned long number = 0;
    int failed = 0;
    if (file == NULL)
        return stop(path, strerror(errno));
    while (failed == 0 && getline(&line, &line_room, file) >= 0) {
        size_t n = cut(line, &names, &room);
        failed = n == SIZE_MAX ? stop(path, "no memory")
                               : send_packet(path, ++number, names, n);
    }
    if (failed == 0 && ferror(file))
        failed = stop(path, "cannot be read");
    free(names);
    free(line);
    fclose(file);
    return failed;
}

/* ---- Prediction ---------------------------------------------------------- */

static double log_choose(double n, double k)
{
    return k < 0 || k > n ? -HUGE_VAL
         : lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Updates the chances in `at` of each number of set bits by one more hop;
 * returns the chance that it stops the packet. */
static double one_hop(double *at)
{
    static double next[BITS + 1];
    double stopped = 0, m = (double)bits, k = (double)each;
    memset(next, 0, sizeof next);
    for (unsigned long z = 0; z <= bits; z++) {
        for (unsigned long j = 0; at[z] > 0 && j <= each; j++) {
            double new_bits = log_choose(m - (double)z, (double)j) +
                log_choose((double)z, k - (double)j) - log_choose(m, k);
            double chance = at[z] * exp(new_bits);
            if (j == 0)
                stopped += chance;
            else if (chance > 0)
                next[z + j] += chance;
        }
    }
    memcpy(at, next, sizeof next);
    return stopped;
}

static int tell_hops(unsigned long hops)
{
    static double at[BITS + 1];         /* packets still on their way        */
    double left = 1;
    at[0] = 1;
    puts("hop\tmistake there\tmistake so far");
    for (unsigned long hop = 1; hop <= hops; hop++) {
        double stopped = one_hop(at);
        printf("%lu\t%.6g\t%.6g\n", hop, left > 0 ? stopped / left : 1,
               1 - (left - stopped));
        left -= stopped;
    }
    return 0;
}

/* ---- The command line ---------------------------------------------------- */

/* Returns a number in 1 .. most, or 0 if it is invalid. */
static unsigned long number_of(const char *text, unsigned long most)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    return *text < '0' || *text > '9' || *end != '\0' || errno != 0 || n > most
         ? 0 : n;
}

static int make_field(void)
{
    char kind[80];
    snprintf(kind, sizeof kind, "standard:m=%lu,k=%lu,index=seeds", bits,
             each);
    bly_spec spec = { .capacity = 1 };
    return bly_new(&empty, kind, &spec) < 0 ? stop(kind, bly_why()) : 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return stop("usage", "loops BITS EACH PATHS... | --hops N");
    bits = number_of(argv[1], BITS);
    each = number_of(argv[2], EACH);
    if (bits == 0 || each == 0 || each > bits / 4)
        return stop(argv[bits == 0 ? 1 : 2], "BITS are 4 to 4096, and EACH is "
                    "1 to 16, at most a fourth of them");
    int failed = 0;
    if (strcmp(argv[3], "--hops") == 0) {
        unsigned long hops = argc == 5 ? number_of(argv[4], 10000) : 0;
        if (hops == 0)
            return stop("--hops", "how many? 1 to 10000");
        failed = tell_hops(hops);
    } else {
        failed = make_field();
        for (int i = 3; i < argc && failed == 0; i++)
            failed = send_all(argv[i]);
        bly_free(empty);
    }
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
