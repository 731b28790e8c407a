/* events.c - lines of a name and a value, each to the rank that has the name.
 *
 * A value is a decimal number: 42, -7, 0.25; or "-", the member has left. It
 * is kept as a whole number of units, where a unit is the last decimal of the
 * value that has the most of them: so sums are exact, in any order, and what is
 * taken out of one again leaves nothing behind. A member is known by the 64-bit
 * hash of its name: two of n have the same one with chance n^2 / 2^65.
 *
 * All values of a member go to one rank, and keep the order of their lines: a
 * rank sends its lines in order, and what came from lower ranks, which read
 * what stands before, comes first. Floor 8 (programs); includes count.h and
 * <bloomery.h> only.
 */
#include "mpi/count.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS_DIGITS = 18 };            /* behind the point, at most */

/* What is wrong with a value, as the end of a sentence. */
static const char events_no_number[] =
    "is no value: give a number such as 42, -7 or 0.25, or - for a member that "
    "has left";
static const char events_too_long[] =
    "has more digits than 64 bits hold: give at most 18, beside the sign "
    "and the point";

/* ==== Values ============================================================ */

/* *value / 10^*digits. NULL, or what is wrong. */
static const char *events_value(const char *text, size_t n, int64_t *value,
                                unsigned *digits)
{
    bool minus = n > 0 && text[0] == '-', point = false;
    size_t from = n > 0 && (text[0] == '-' || text[0] == '+'), figures = 0;

    *value = 0;
    *digits = 0;
    for (size_t i = from; i < n; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            return events_no_number;
        figures++;
        if (*value >= INT64_C(100000000000000000) || *digits == EVENTS_DIGITS)
            return events_too_long;
        *value = 10 * *value + (text[i] - '0');
        *digits += point;
    }
    if (minus && n == 1)
        *value = EVENTS_GONE;
    else if (figures == 0)
        return events_no_number;
    else if (minus)
        *value = -*value;
    return NULL;
}

/* With trailing zeros, so that there are `more` decimals more. */
static bool events_scale(int64_t *value, unsigned more)
{
    if (*value == EVENTS_GONE || *value == 0)
        return true;
    for (; more > 0; more--) {
        if (*value > INT64_MAX / 10 || *value < -(INT64_MAX / 10))
            return false;
        *value *= 10;
    }
    return true;
}

/* ==== This rank's lines ================================================= */

static int events_refuse(const share *s, const share_reader *r, bly_key label,
                         const char *why)
{
    const char *text = label.data;
    int n = (int)(label.length < 40 ? label.length : 40);

    if (label.length > 0 && text[label.length - 1] == '\r')
        return report_error("%s: the lines end with CR LF: take the CR out of "
                            "them, with tr -d '\\r'", r->chunk.path);
    return report_error("%s, after %llu bytes: '%.*s' %s", r->chunk.path,
                        (unsigned long long)share_place(s, r, text), n, text,
                        why);
}

/* Until all ranks know how many decimals there are, an event's epoch is the
 * number of its decimals. */
static int events_add(events *e, const share *s, const share_reader *r,
                      size_t i, const bly_filter *hasher)
{
    bly_key key = r->batch.keys[i], label = r->batch.labels[i];
    unsigned digits;
    event *at;
    const char *why;

    if (e->n == e->room) {
        e->room = 2 * e->room + LINES_MOST;
        e->list = job_memory(e->list, e->room * sizeof *e->list);
    }
    at = &e->list[e->n];
    why = events_value(label.data, label.length, &at->value, &digits);
    if (why != NULL)
        return events_refuse(s, r, label, why);
    at->name = bly_hash(hasher, key.data, key.length);
    at->epoch = digits;
    e->digits = digits > e->digits ? digits : e->digits;
    e->n++;
    return CLI_GO;
}

static int events_lines(events *e, share *s, share_reader *r,
                        const bly_filter *hasher)
{
    int status = share_begin_mine(s);

    while (status == CLI_GO
           && (status = share_batch(s, r)) == CLI_GO) {
        e->keyless += r->batch.keyless;
        for (size_t i = 0; i < r->batch.n && status == CLI_GO; i++)
            status = events_add(e, s, r, i, hasher);
    }
    return status == CLI_OK ? CLI_GO : status;
}

static int events_collect(events *e, share *s)
{
    bly_spec any = { .capacity = 1 };
    share_reader *reader = job_memory(NULL, sizeof *reader);
    bly_filter *hasher;
    int status;

    memset(reader, 0, sizeof *reader);
    if (bly_new(&hasher, "standard", &any) < 0) {
        free(reader);
        return filter_error();
    }
    status = events_lines(e, s, reader, hasher);
    bly_free(hasher);
    free(reader->chunk.block);
    free(reader);
    return status;
}

/* ==== To their ranks ==================================================== */

/* How many lines lower ranks have. */
static uint64_t events_before(uint64_t mine, job_bytes *to, job_bytes *in,
                              size_t *begin)
{
    uint64_t before = 0, n;

    for (int r = 0; r < job_ranks; r++)
        memcpy(job_extend(&to[r], sizeof mine), &mine, sizeof mine);
    exchange_all(to, in, begin);
    for (int r = 0; r < job_ranks; r++) {
        memcpy(&n, in->bytes + begin[r], sizeof n);
        before += r < job_rank ? n : 0;
        to[r].n = 0;
    }
    return before;
}

static void events_note(events *e, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

    if (value != EVENTS_GONE && size > e->most)
        e->most = size;
}

/* All values in one unit, and each event in its epoch. */
static int events_finish(events *e, uint64_t before, uint64_t epochs)
{
    for (size_t i = 0; i < e->n; i++) {
        event *at = &e->list[i];

        if (!events_scale(&at->value, e->digits - (unsigned)at->epoch))
            return report_error("some values have %u decimals and others are "
                                "too large to have so many too, in 64 bits: "
                                "give values of about the same length",
                                e->digits);
        events_note(e, at->value);
        at->epoch = (before + i) * epochs / e->lines;
    }
    return CLI_GO;
}

static void events_deliver(events *e, uint64_t nodes, job_bytes *to,
                           job_bytes *in, size_t *begin)
{
    for (size_t i = 0; i < e->n; i++) {
        int r = gossip_rank(nodes, gossip_node(nodes, e->list[i].name));

        memcpy(job_extend(&to[r], sizeof(event)), &e->list[i], sizeof(event));
    }
    exchange_all(to, in, begin);
    e->n = e->room = in->n / sizeof(event);
    e->list = job_memory(e->list, in->n);
    if (in->n > 0)
        memcpy(e->list, in->bytes, in->n);
}

static int events_share(events *e, uint64_t nodes, uint64_t epochs,
                        job_bytes *to, job_bytes *in, size_t *begin)
{
    uint64_t before = events_before(e->n, to, in, begin);
    int status;

    e->lines = job_sum(e->n);
    e->keyless = job_sum(e->keyless);
    e->digits = (unsigned)job_most(e->digits);
    status = job_agree(events_finish(e, before, epochs));
    e->most = job_most(e->most);
    if (status == CLI_GO)
        events_deliver(e, nodes, to, in, begin);
    return status;
}

int events_read(events *e, share *s, uint64_t nodes, uint64_t epochs)
{
    uint64_t sent = exchange_sent;
    part_mail mail;
    int status;

    memset(e, 0, sizeof *e);
    status = job_agree(events_collect(e, s));
    if (status != CLI_GO)
        return status;
    part_mail_open(&mail);
    status = events_share(e, nodes, epochs, mail.to, &mail.in, mail.begin);
    part_mail_close(&mail);
    e->sent = job_sum(exchange_sent - sent);
    return status;
}

void events_free(events *e)
{
    free(e->list);
    memset(e, 0, sizeof *e);
}
