/* fuzz_codec.c - bytes that look compressed give the same output in any pieces:
 * all at once, and in sizes chosen by the first bytes.
 */
#include "targets.h"

#include <stdint.h>
#include <stdlib.h>
#include <xxhash.h>
#include "frame/codec.h"

enum { CODEC_MOST = 1 << 20, CODEC_ROOM = 1 << 16 };

typedef struct {
    XXH64_state_t *sum;
    size_t         length;
    codec_step     last;
    bool           over;        /* CODEC_MOST was not enough */
} codec_outcome;

/* Makes a step with limited room and input; returns false if no step makes
 * progress. */
static bool codec_once(const codec *c, void *state, codec_flow *flow,
                       size_t in_piece, size_t out_piece, codec_outcome *o)
{
    static unsigned char room[CODEC_ROOM];
    size_t in = flow->in_left < in_piece ? flow->in_left : in_piece;
    codec_flow part = { flow->in, in, room, out_piece };
    o->last = c->step(state, &part);
    size_t gave = out_piece - part.out_left, took = in - part.in_left;
    XXH64_update(o->sum, room, gave);
    o->length += gave;
    flow->in += took;
    flow->in_left -= took;
    o->over = o->length > CODEC_MOST;
    if (o->last == CODEC_END)
        return codec_follows(c, flow->in, flow->in_left) && !o->over;
    return o->last == CODEC_GO && took + gave > 0 && !o->over;
}

static codec_outcome codec_run(const codec *c, const uint8_t *bytes, size_t n,
                               size_t in_piece, size_t out_piece)
{
    codec_outcome o = { .sum = XXH64_createState(), .last = CODEC_NO_MEMORY };
    codec_flow flow = { .in = bytes, .in_left = n };
    void *state = c->open();
    XXH64_reset(o.sum, 0);
    while (state != NULL
           && codec_once(c, state, &flow, in_piece, out_piece, &o))
        continue;
    if (state != NULL)
        c->close(state);
    return o;
}

static const char *codec_differ(const codec_outcome *a, const codec_outcome *b)
{
    if (a->over || b->over || a->last == CODEC_NO_MEMORY
        || b->last == CODEC_NO_MEMORY)
        return NULL;
    if (a->last != b->last)
        return "in pieces it ends otherwise than at once";
    return a->last != CODEC_BAD && (a->length != b->length
           || XXH64_digest(a->sum) != XXH64_digest(b->sum))
         ? "in pieces other bytes come than at once" : NULL;
}

const char *fuzz_codec(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    size_t in_piece = 1 + (size_t)target_take(&in, 1);
    size_t out_piece = 1 + (size_t)target_take(&in, 2) % CODEC_ROOM;
    bool more;
    const codec *c = codec_find(in.at, target_left(&in), &more);
    if (c == NULL || c->open == NULL)
        return NULL;
    codec_outcome whole = codec_run(c, in.at, target_left(&in), n, CODEC_ROOM);
    codec_outcome parts = codec_run(c, in.at, target_left(&in), in_piece,
                                    out_piece);
    const char *found = codec_differ(&whole, &parts);
    XXH64_freeState(whole.sum);
    XXH64_freeState(parts.sum);
    return found;
}
