/* stream.h - puts the segments of TCP streams in order.
 *
 * Each direction of a connection is a stream. A segment that continues it is
 * delivered at once, behind the last bytes before it, so that a text across two
 * segments is seen. A segment ahead of the next byte waits. Of bytes that come
 * twice the first ones count. If more than MOST_WAITING bytes wait, or the
 * capture ends, what is missing is given up: the stream goes on behind it.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WAITING = 1 << 20, STREAM_KEY = 37 };
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4 };

typedef struct {
    unsigned char key[STREAM_KEY];      /* version, addresses, ports         */
    uint32_t      seq;
    unsigned      flags;
} tcp_segment;

typedef struct waiting waiting;
struct waiting {
    waiting      *next;                 /* by rising numbers                 */
    uint32_t      seq;
    size_t        n;
    unsigned char bytes[];
};

typedef struct stream stream;
struct stream {
    stream        *next;                /* in its slot                       */
    unsigned char  key[STREAM_KEY];
    uint32_t       seq;                 /* of the next byte                  */
    uint64_t       place;               /* of the next byte, from 0          */
    unsigned char *tail;                /* the last bytes                    */
    size_t         tail_n, waits;
    waiting       *first;
};

/* Takes n bytes of a stream, of which the first `old` were delivered before;
 * `place` is that of the first one. */
typedef void stream_taker(const unsigned char *bytes, size_t n, size_t old,
                          uint64_t place);

enum { STREAM_SLOTS = 1 << 12 };
static struct {
    stream        *slots[STREAM_SLOTS];
    size_t         tail_most;           /* bytes before a segment to keep    */
    stream_taker  *take;
    unsigned char *room;
    size_t         room_n;
    uint64_t       lost;                /* gaps that were given up           */
    bool           no_memory;
} streams;

/* Reads the TCP header of an IP packet. Returns false if the packet has another
 * protocol, or is a fragment. */
static bool tcp_of(tcp_segment *out, const unsigned char *p, size_t n)
{
    unsigned version = n < 20 ? 0 : p[0] >> 4;
    size_t at = version == 4 ? (p[0] & 15U) * 4 : 40;
    const unsigned char *tcp = p + at;
    if ((version != 4 && version != 6) || at < 20 || n < at + 20
        || (version == 4 ? p[9] : p[6]) != 6
        || (version == 4 && ((unsigned)p[6] << 8 | p[7]) % 0x4000 != 0))
        return false;
    memset(out->key, 0, STREAM_KEY);
    out->key[0] = (unsigned char)version;
    memcpy(out->key + 1, version == 4 ? p + 12 : p + 8, version == 4 ? 8 : 32);
    memcpy(out->key + 33, tcp, 4);
    out->seq = (uint32_t)tcp[4] << 24 | (uint32_t)tcp[5] << 16
             | (uint32_t)tcp[6] << 8 | tcp[7];
    out->flags = tcp[13];
    return true;
}

static stream **stream_find(const unsigned char key[STREAM_KEY])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < STREAM_KEY; i++)
        hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
    stream **at = &streams.slots[(hash ^ hash >> 32) % STREAM_SLOTS];
    while (*at != NULL && memcmp((*at)->key, key, STREAM_KEY) != 0)
        at = &(*at)->next;
    return at;
}

/* Keeps the last bytes of the stream. */
static void stream_keep(stream *s, const unsigned char *bytes, size_t n)
{
    size_t most = streams.tail_most, more = n < most ? n : most;
    size_t old = s->tail_n + more <= most ? s->tail_n : most - more;
    memmove(s->tail, s->tail + s->tail_n - old, old);
    memcpy(s->tail + old, bytes + n - more, more);
    s->tail_n = old + more;
}

static void stream_deliver(stream *s, const unsigned char *bytes, size_t n)
{
    if (s->tail_n + n > streams.room_n) {
        unsigned char *more = realloc(streams.room, s->tail_n + n);
        streams.no_memory |= more == NULL;
        if (more == NULL)
            return;
        streams.room = more;
        streams.room_n = s->tail_n + n;
    }
    if (s->tail_n > 0)
        memcpy(streams.room, s->tail, s->tail_n);
    memcpy(streams.room + s->tail_n, bytes, n);
    streams.take(streams.room, s->tail_n + n, s->tail_n,
                 s->place - s->tail_n);
    stream_keep(s, bytes, n);
    s->seq += (uint32_t)n;
    s->place += n;
}

/* Delivers what is new of a segment that does not begin too late. */
static void stream_continue(stream *s, uint32_t seq, const unsigned char *bytes,
                            size_t n)
{
    uint32_t known = s->seq - seq;
    if (n > known)
        stream_deliver(s, bytes + known, n - known);
}

/* Delivers segments that wait no longer; with `all`, also those behind gaps. */
static void stream_drain(stream *s, bool all)
{
    while (s->first != NULL
           && (all || (int32_t)(s->first->seq - s->seq) <= 0)) {
        waiting *w = s->first;
        int32_t gap = (int32_t)(w->seq - s->seq);
        if (gap > 0) {
            streams.lost++;
            s->place += (uint32_t)gap;
            s->seq = w->seq;
            s->tail_n = 0;
        }
        s->first = w->next;
        s->waits -= w->n;
        stream_continue(s, w->seq, w->bytes, w->n);
        free(w);
    }
}

static void stream_wait(stream *s, uint32_t seq, const unsigned char *bytes,
                        size_t n)
{
    waiting *w = malloc(sizeof *w + n), **at = &s->first;
    streams.no_memory |= w == NULL;
    if (w == NULL)
        return;
    *w = (waiting){ .seq = seq, .n = n };
    memcpy(w->bytes, bytes, n);
    while (*at != NULL && (int32_t)((*at)->seq - seq) <= 0)
        at = &(*at)->next;
    w->next = *at;
    *at = w;
    s->waits += n;
    if (s->waits > MOST_WAITING)
        stream_drain(s, true);
}

static void stream_end(stream **at)
{
    stream *s = *at;
    stream_drain(s, true);
    *at = s->next;
    free(s->tail);
    free(s);
}

/* Begins a stream with this segment. */
static stream *stream_begin(stream **at, const tcp_segment *segment)
{
    stream *s = calloc(1, sizeof *s);
    unsigned char *tail = malloc(streams.tail_most + 1);
    streams.no_memory |= s == NULL || tail == NULL;
    if (s == NULL || tail == NULL) {
        free(s);
        free(tail);
        return NULL;
    }
    memcpy(s->key, segment->key, STREAM_KEY);
    s->tail = tail;
    s->seq = segment->seq + ((segment->flags & TCP_SYN) != 0);
    s->next = *at;
    *at = s;
    return s;
}

/* Takes the payload of a segment. */
static void stream_segment(const tcp_segment *segment,
                           const unsigned char *bytes, size_t n)
{
    bool begins = (segment->flags & TCP_SYN) != 0;
    stream **at = stream_find(segment->key), *s = *at;
    if (s != NULL && begins && segment->seq + 1 != s->seq) {
        stream_end(at);                 /* another connection, of these ports */
        at = stream_find(segment->key);
        s = NULL;
    }
    if (s == NULL && (n > 0 || begins))
        s = stream_begin(at, segment);
    if (s == NULL)
        return;
    uint32_t seq = segment->seq + begins;
    if ((int32_t)(seq - s->seq) > 0 && n > 0)
        stream_wait(s, seq, bytes, n);
    else if (n > 0)
        stream_continue(s, seq, bytes, n);
    stream_drain(s, (segment->flags & TCP_RST) != 0);
    if ((segment->flags & TCP_RST) != 0
        || ((segment->flags & TCP_FIN) != 0 && s->first == NULL))
        stream_end(stream_find(segment->key));
}

/* Ends all streams, with the capture. */
static void streams_end(void)
{
    for (size_t i = 0; i < STREAM_SLOTS; i++)
        while (streams.slots[i] != NULL)
            stream_end(&streams.slots[i]);
    free(streams.room);
}

#endif
