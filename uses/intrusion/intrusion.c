/* intrusion.c - finds texts of many lengths in the packets of a capture.
 *
 *   intrusion [--strict] SIGNATURES PCAP [RATE]
 *
 * Each place of a payload is queried for each length of a signature, longest
 * first, with a rolling hash. Filter hits are compared byte by byte. A line of
 * output is the number of the packet that completes it, the place in the TCP
 * stream or in the packet's payload, and the signature; standard error reports
 * how much was compared in vain. The filter has the first CLIP bytes of longer
 * signatures. PCAP "-": standard input. Segments of TCP are put in order first.
 * Unused options of rules are listed on standard error; with --strict they are
 * refused.
 */
#include "packet.h"
#include "rules.h"
#include "stream.h"

#include <bloomery.h>

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIP = 24, BLOCK = 256 };        /* bytes; places queried at a time   */

/* Windows of one length, at the places of a block, unchanged or in lower
 * case. */
typedef struct {
    size_t      length, first, end;     /* range of its signatures           */
    bool        nocase;
    uint64_t    leaving;                /* the weight of the first byte      */
    uint64_t    rolling;                /* of the next, without its last byte */
    uint8_t     found[BLOCK / 8];
} window;

static bly_filter *filter;              /* of all lengths                    */
static size_t lengths;
static window windows[2 * CLIP];        /* the longest first                 */
static uint64_t weight, of_byte[2][256];        /* [1]: in lower case        */
static struct { unsigned long packets, bytes, windows, compared, vain; } sum;
static size_t   old;                    /* bytes that were searched before   */
static uint64_t place;                  /* of the first byte                 */

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "intrusion: %s: %s\n", what, why);
    return 2;
}

/* ---- Signatures ---------------------------------------------------------- */

static int order(const void *a, const void *b)
{
    const signature *s = a, *t = b;
    size_t n = at_most(s->n, CLIP), m = at_most(t->n, CLIP);
    return n != m ? (n < m) - (n > m)
         : s->nocase != t->nocase ? s->nocase - t->nocase
         : memcmp(s->bytes, t->bytes, n);
}

static int read_signatures(const char *path, bool strict)
{
    char *line = NULL, why[120] = "there is no signature";
    const char *wrong = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return stop(path, strerror(errno));
    ssize_t got;
    for (unsigned long i = 1;
         wrong == NULL && (got = getline(&line, &bytes, file)) >= 0; i++) {
        wrong = strlen(line) < (size_t)got ? "it has a NUL byte"
                                           : read_line(line);
        if (wrong != NULL)
            snprintf(why, sizeof why, "line %lu: %s", i, wrong);
    }
    free(line);
    if (ferror(file) || wrong != NULL || signatures == 0)
        return stop(path, ferror(file) ? "cannot be read" : why);
    fclose(file);
    qsort(list, signatures, sizeof *list, order);
    if (unused_names > 0)
        tell_unused(path, strict);
    return unused_names > 0 && strict ? 2 : 0;
}

/* ---- Hashes and filters -------------------------------------------------- */

/* Hashes bytes as digits of a number, modulo 2^64. */
static uint64_t roll(uint64_t rolling, bool nocase, const unsigned char *next,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        rolling = rolling * weight + of_byte[nocase][next[i]];
    return rolling;
}

/* Returns the key of a window: texts in lower case are separate keys. */
static uint64_t key_of(const window *w, uint64_t rolling)
{
    return bly_mix64(rolling + w->length + 2 * CLIP * w->nocase);
}

static void find_lengths(void)
{
    weight = bly_mix64(256) | 1;
    for (unsigned i = 0; i < 256; i++) {
        of_byte[0][i] = bly_mix64(i);
        of_byte[1][i] = bly_mix64(lower((unsigned char)i));
    }
    for (size_t i = 0; i < signatures; i++) {
        size_t n = at_most(list[i].n, CLIP);
        if (lengths == 0 || windows[lengths - 1].length != n ||
            windows[lengths - 1].nocase != list[i].nocase)
            windows[lengths++] = (window){ .length = n, .first = i,
                                           .nocase = list[i].nocase,
                                           .leaving = 1 };
        windows[lengths - 1].end = i + 1;
    }
    for (size_t i = 0; i < lengths; i++)
        for (size_t n = 1; n < windows[i].length; n++)
            windows[i].leaving *= weight;
}

static int make_filter(double rate)
{
    uint64_t *hashes = malloc(signatures * sizeof *hashes);
    if (hashes == NULL)
        return stop("the filter", "out of memory");
    find_lengths();
    for (window *w = windows; w < windows + lengths; w++)
        for (size_t i = w->first; i < w->end; i++)
            hashes[i] = key_of(w, roll(0, false, list[i].bytes, w->length));
    bly_status status = bly_build(&filter, "fuse", &(bly_spec){ .rate = rate },
                                  &(bly_keys){ .n = signatures,
                                               .hashes = hashes });
    free(hashes);
    return status < 0 ? stop("the filter", bly_why()) : 0;
}

/* ---- Payloads ------------------------------------------------------------ */

/* Compares a signature with the text here, like memcmp. */
static int differ(const signature *s, const unsigned char *here, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int c = s->nocase ? lower(here[i]) : here[i];
        if (s->bytes[i] != c)
            return s->bytes[i] - c;
    }
    return 0;
}

/* Compares the signatures that may begin here. */
static void compare(const window *w, const unsigned char *here, size_t n,
                    size_t at)
{
    size_t low = w->first, high = w->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (differ(&list[middle], here, w->length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    sum.compared++;
    if (low == w->end || differ(&list[low], here, w->length) != 0)
        sum.vain++;
    for (; low < w->end && differ(&list[low], here, w->length) == 0; low++)
        if (list[low].n <= n && at + list[low].n > old
            && differ(&list[low], here, list[low].n) == 0)
            printf("%lu\t%" PRIu64 "\t%s\n", sum.packets, place + at,
                   list[low].text);
}

/* Queries the windows that begin in a block. */
static void ask(window *w, const unsigned char *bytes, size_t n, size_t from)
{
    uint64_t hashes[BLOCK], rolling = w->rolling;
    size_t places = n < from + w->length ? 0
                  : at_most(n - from - w->length + 1, BLOCK);
    memset(w->found, 0, sizeof w->found);
    for (size_t i = from; i < from + places; i++) {
        rolling = roll(rolling, w->nocase, bytes + i + w->length - 1, 1);
        hashes[i - from] = key_of(w, rolling);
        rolling -= of_byte[w->nocase][bytes[i]] * w->leaving;
    }
    w->rolling = rolling;
    sum.windows += places;
    bly_contains_mask(filter, hashes, places, w->found);
}

static void scan(const unsigned char *bytes, size_t n)
{
    for (window *w = windows; w < windows + lengths; w++)
        w->rolling = roll(0, w->nocase, bytes, at_most(w->length - 1, n));
    for (size_t from = 0; from < n; from += BLOCK) {
        uint8_t any[BLOCK / 8] = { 0 };
        for (window *w = windows; w < windows + lengths; w++) {
            ask(w, bytes, n, from);
            for (size_t i = 0; i < sizeof any; i++)
                any[i] |= w->found[i];
        }
        for (size_t i = 0; i < BLOCK; i++)
            for (size_t k = 0; k < lengths && any[i / 8] >> i % 8 & 1; k++)
                if (windows[k].found[i / 8] >> i % 8 & 1)
                    compare(&windows[k], bytes + from + i, n - from - i,
                            from + i);
    }
    sum.bytes += n;
}

/* ---- Packets ------------------------------------------------------------- */

static void scan_stream(const unsigned char *bytes, size_t n, size_t searched,
                        uint64_t from)
{
    old = searched;
    place = from;
    scan(bytes, n);
    old = 0;
    place = 0;
}

static void read_packet(int type, const unsigned char *p, size_t caplen)
{
    bool ip;
    size_t frame = behind_frame(type, p, caplen, &ip), n = caplen - frame;
    size_t at = ip ? behind_ip(p + frame, &n) : 0;
    tcp_segment segment;
    sum.packets++;
    if (ip && tcp_of(&segment, p + frame, n))
        stream_segment(&segment, p + frame + at, n - at);
    else
        scan(p + frame + at, n - at);
}

static int read_packets(const char *path)
{
    char why[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *about;
    const unsigned char *p;
    pcap_t *capture = pcap_open_offline(path, why);
    int got;
    if (capture == NULL)
        return stop("the capture", why);
    int type = pcap_datalink(capture);
    for (size_t i = 0; i < signatures; i++)
        if (list[i].n > streams.tail_most + 1)
            streams.tail_most = list[i].n - 1;
    streams.take = scan_stream;
    while ((got = pcap_next_ex(capture, &about, &p)) == 1)
        read_packet(type, p, about->caplen);
    streams_end();
    int failed = got == PCAP_ERROR ? stop(path, pcap_geterr(capture))
               : streams.no_memory ? stop("streams", "out of memory") : 0;
    if (streams.lost > 0)
        fprintf(stderr, "intrusion: %s: %" PRIu64 " gaps in TCP streams: texts "
                "across them are not found\n", path, streams.lost);
    pcap_close(capture);
    return failed;
}

int main(int argc, char **argv)
{
    char *end = "";
    bool strict = argc > 1 && strcmp(argv[1], "--strict") == 0;
    argv += strict, argc -= strict;
    double rate = argc == 4 ? strtod(argv[3], &end) : 0.001;
    if (argc < 3 || argc > 4 || *end != '\0')
        return stop("usage", "intrusion [--strict] SIGNATURES PCAP [RATE]");
    int failed = read_signatures(argv[1], strict) != 0 || make_filter(rate) != 0
               ? 2 : read_packets(argv[2]);
    bly_free(filter);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    if (failed == 0)
        fprintf(stderr, "%lu packets, %lu bytes, %lu windows, %lu compared, "
                "%lu in vain\n", sum.packets, sum.bytes, sum.windows,
                sum.compared, sum.vain);
    return failed;
}
