/* node.c - one node of the aggregation: its filters and its sums.
 *
 * A node has two roles. It *reports* the values of its own members to other
 * nodes, one after another; and it *adds up* reports of members of all nodes,
 * each counted once with its current value. Both sides remember the reports, in
 * four filters:
 *
 *              reporter                           adder
 *      met     (member, adder)           counted  member
 *      held    (member, value, adder)    inside   (member, value)
 *
 * The upper two are of kind `standard`, as their entries stay. Entries leave
 * the other two: `counting`, or another kind with removal.
 *
 * A report has a member's value, whether the adder is in `met`, and for which
 * values it is in `held`. The adder compares this with its own two filters:
 *
 *      not both `met` and `counted`            FIRST: count the value in
 *      one value is both `held` and `inside`:
 *         another one than the present         REPLACE: take it out, and the
 *                                              present one in
 *         the present one                      SAME: nothing
 *      none, or two and more                   UNSUCCESSFUL: nothing
 *
 * The acknowledgement says which case applies, after which the reporter updates
 * its filters, too. Filters have no false negatives, so if two should agree,
 * one detects the other's error: a sum is wrong only if both are. With n
 * members, N nodes and a rate f, in all nodes together,
 *
 *      n N f^2 members, at most, are not counted when they first come   (1)
 *
 * (both filters say that the adder knows them), and at most as many are not
 * replaced when all have changed (two values seem to be inside). Minimum and
 * maximum only move apart: a value that was once included is never removed from
 * them.
 *
 * LAYOUT. In the paper each member has its own filter of the nodes it has met,
 * and one for each of its possible values. Here a node has one `met` and one
 * `held` for all its members: an entry is the pair or the triple. The entries
 * are as many as in all the small filters together, and once all nodes are met
 * an entry is found by accident with the f of (1) either way. A single filter
 * for all values holds each adder once, not once per possible value, and values
 * need not be known beforehand: the reporter lists those that some node still
 * holds, by counting acknowledgements; in practice one or two.
 *
 * ADDS ARE NOT SKIPPED in the two filters with removal, even if the entry seems
 * to be present: it will be removed one day, and must take only its own traces
 * with it. The paper skips them; figure `filters` has both.
 *
 * REPEATED MESSAGES. A report that says "you do not know me yet" would be
 * counted again. So messages are numbered, and a node keeps the last number of
 * each other node: older ones are dropped, whatever the filters say. MPI loses
 * none; over a lossy network a message must be sent again with its number until
 * it is acknowledged, and the acknowledgement kept.
 *
 *      message  from, to (4 bytes each), number (8), bytes in all (8), reports
 *      report   name (8), value (8), and a byte: 0x80 you have met it, 0x40 you
 *               hold this value, 0x3f so many others that you hold (8 each)
 *      answer   for each report a byte: what became of it (2 bits), and which
 *               of those others was replaced (6 bits)
 *
 *   [Pournaras 2013]  Pournaras, Warnier & Brazier, A generic and adaptive
 *                     aggregation service for large-scale decentralized
 *                     networks, Complex Adaptive Systems Modeling 1:19. DIAS;
 *                     there the filters are AMD, AMS, DMA and SMA
 */
#include "gossip.h"

#include <bloomery/parts.h>

#include <stdlib.h>
#include <string.h>

enum {
    NODE_HEAD = 24,             /* bytes of a message before its reports   */
    NODE_REPORT = 17,           /* of a report without other values        */
    NODE_OTHERS = 63,           /* values in a report, at most             */
    NODE_MET = 0x80, NODE_HELD = 0x40
};

enum { NODE_UNSUCCESSFUL, NODE_FIRST, NODE_SAME, NODE_REPLACE };

/* ==== Entries of filters ================================================ */

/* Derives another hash. */
static uint64_t node_mix(uint64_t hash)
{
    return lab_key(0, hash);
}

static uint64_t node_met_entry(uint64_t name, uint64_t to)
{
    return node_mix(name ^ node_mix(to));
}

static uint64_t node_inside_entry(uint64_t name, int64_t value)
{
    return node_mix(name + node_mix(~(uint64_t)value));
}

static uint64_t node_held_entry(uint64_t name, int64_t value, uint64_t to)
{
    return node_met_entry(node_inside_entry(name, value), to);
}

/* ==== Open and close ==================================================== */

static bly_filter *node_filter(const node_plan *plan, const char *kind,
                               uint64_t capacity)
{
    uint64_t n = capacity > 0 ? capacity : 1;
    if (plan->probes == 0)
        return lab_new(n, plan->rate, "%s", kind);
    return lab_new(n, 0, "%s:m=%llu,k=%u", kind,
                   (unsigned long long)(plan->bits * n), plan->probes);
}

/* Member i belongs to node i % nodes, where it is number i / nodes. */
static void node_members(node *n, const node_plan *plan)
{
    if (plan->members > n->number)
        n->n = (size_t)((plan->members - n->number - 1) / plan->nodes + 1);
    n->members = lab_allocate(n->n * sizeof *n->members);
    for (size_t i = 0; i < n->n; i++)
        n->members[i] = (node_member){
            .name = lab_key(1, i * plan->nodes + n->number) };
}

void node_open(node *n, const node_plan *plan, uint64_t number)
{
    *n = (node){ .number = number, .skip = plan->skip,
                 .sums = { .least = INT64_MAX, .most = INT64_MIN } };
    node_members(n, plan);
    uint64_t pairs = (uint64_t)n->n * plan->nodes;
    n->last = lab_allocate(plan->nodes * sizeof *n->last);
    memset(n->last, 0, plan->nodes * sizeof *n->last);
    n->met = node_filter(plan, "standard", pairs);
    n->held = node_filter(plan, plan->kind, pairs);
    n->counted = node_filter(plan, "standard", plan->members);
    n->inside = node_filter(plan, plan->kind, plan->members);
}

void node_close(node *n)
{
    bly_free(n->met);
    bly_free(n->held);
    bly_free(n->counted);
    bly_free(n->inside);
    for (size_t i = 0; i < n->n; i++)
        free(n->members[i].states);
    free(n->members);
    free(n->last);
}

uint64_t node_memory(const node *n)
{
    const bly_filter *const all[] = { n->met, n->held, n->counted, n->inside };
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t bytes;
        bly_raw(all[i], &bytes);
        sum += bytes;
    }
    return sum;
}

/* ==== Reporting ========================================================= */

static void node_report_member(const node *n, const node_member *m, uint64_t to,
                               mail_bytes *out)
{
    unsigned char *at = mail_extend(out, NODE_REPORT);
    size_t others = 0, place = out->n - 1;
    unsigned flags = 0;

    memcpy(at, &m->name, 8);
    memcpy(at + 8, &m->selected, 8);
    if (bly_contains_hash(n->met, node_met_entry(m->name, to)))
        flags |= NODE_MET;
    for (size_t i = 0; i < m->n && others < NODE_OTHERS; i++) {
        int64_t value = m->states[i].value;

        if (!bly_contains_hash(n->held, node_held_entry(m->name, value, to)))
            continue;
        if (value == m->selected) {
            flags |= NODE_HELD;
        } else {
            memcpy(mail_extend(out, 8), &value, 8);
            others++;
        }
    }
    out->bytes[place] = (unsigned char)(flags | others);
}

void node_report(const node *n, uint64_t to, uint64_t number, mail_bytes *out)
{
    size_t begin = out->n;
    uint32_t from32 = (uint32_t)n->number, to32 = (uint32_t)to;
    uint64_t bytes;
    unsigned char *head = mail_extend(out, NODE_HEAD);

    memcpy(head, &from32, 4);
    memcpy(head + 4, &to32, 4);
    memcpy(head + 8, &number, 8);
    for (size_t i = 0; i < n->n; i++)
        if (n->members[i].there)
            node_report_member(n, &n->members[i], to, out);
    bytes = out->n - begin;
    memcpy(out->bytes + begin + 16, &bytes, 8);
}

/* ==== Reading a message ================================================= */

static uint64_t node_from(const unsigned char *message)
{
    uint32_t from;

    memcpy(&from, message, sizeof from);
    return from;
}

uint64_t node_message_to(const unsigned char *message)
{
    uint32_t to;

    memcpy(&to, message + 4, sizeof to);
    return to;
}

size_t node_message_bytes(const unsigned char *message)
{
    uint64_t bytes;

    memcpy(&bytes, message + 16, sizeof bytes);
    return (size_t)bytes;
}

/* A report in a message. */
typedef struct {
    uint64_t name;
    int64_t  value;
    bool     met, held;
    size_t   others;
    const unsigned char *other;
} node_heard;

/* Reads the report at `at`; returns where the next one begins. */
static const unsigned char *node_read(const unsigned char *at,
                                      node_heard *heard)
{
    memcpy(&heard->name, at, 8);
    memcpy(&heard->value, at + 8, 8);
    heard->met = (at[16] & NODE_MET) != 0;
    heard->held = (at[16] & NODE_HELD) != 0;
    heard->others = at[16] & NODE_OTHERS;
    heard->other = at + NODE_REPORT;
    return heard->other + 8 * heard->others;
}

static int64_t node_other(const node_heard *heard, size_t i)
{
    int64_t value;

    memcpy(&value, heard->other + 8 * i, sizeof value);
    return value;
}

/* ==== Adding up ========================================================= */

static void node_range(node_sums *sums, int64_t value)
{
    if (value == NODE_GONE)
        return;
    sums->least = value < sums->least ? value : sums->least;
    sums->most = value > sums->most ? value : sums->most;
}

/* A kind with exactly enough room may refuse this entry: it is then not found,
 * and its reports fail. */
static void node_enter(node *n, bly_filter *f, uint64_t entry)
{
    if (n->skip && bly_contains_hash(f, entry))
        return;
    n->refused += bly_add_hash(f, entry) < 0;
}

static void node_count_in(node *n, uint64_t name, int64_t value)
{
    node_enter(n, n->inside, node_inside_entry(name, value));
    node_range(&n->sums, value);
    if (value == NODE_GONE)
        return;
    n->sums.count++;
    n->sums.sum += value;
}

/* If an entry cannot be removed, its trace stays as one more accidental
 * entry. */
static void node_leave(node *n, bly_filter *f, uint64_t entry)
{
    n->refused += bly_remove_hash(f, entry) < 0;
}

static void node_count_out(node *n, uint64_t name, int64_t value)
{
    node_leave(n, n->inside, node_inside_entry(name, value));
    if (value == NODE_GONE)
        return;
    n->sums.count--;
    n->sums.sum -= value;
}

/* Returns whether the value is in this node's sums, according to its own
 * filter. */
static bool node_inside(const node *n, uint64_t name, int64_t value)
{
    return bly_contains_hash(n->inside, node_inside_entry(name, value));
}

/* Returns the action, and the other value it concerns. */
static unsigned node_judge(const node *n, const node_heard *heard,
                           size_t *which)
{
    unsigned agreed = 0;

    *which = heard->others;
    if (!heard->met || !bly_contains_hash(n->counted, heard->name))
        return NODE_FIRST;
    if (heard->held && node_inside(n, heard->name, heard->value))
        agreed++;
    for (size_t i = 0; i < heard->others; i++)
        if (node_inside(n, heard->name, node_other(heard, i))) {
            agreed++;
            *which = i;
        }
    if (agreed != 1)
        return NODE_UNSUCCESSFUL;
    return *which < heard->others ? NODE_REPLACE : NODE_SAME;
}

static unsigned char node_receive_report(node *n, const node_heard *heard,
                                         node_tally *tally)
{
    size_t which;
    unsigned what = node_judge(n, heard, &which);

    switch (what) {
    case NODE_FIRST:
        n->refused += bly_add_hash(n->counted, heard->name) < 0;
        node_count_in(n, heard->name, heard->value);
        tally->first++;
        return NODE_FIRST;
    case NODE_REPLACE:
        node_count_out(n, heard->name, node_other(heard, which));
        node_count_in(n, heard->name, heard->value);
        tally->replaced++;
        return (unsigned char)(NODE_REPLACE | which << 2);
    case NODE_SAME:
        node_range(&n->sums, heard->value);
        tally->same++;
        return NODE_SAME;
    default:
        tally->unsuccessful++;
        return NODE_UNSUCCESSFUL;
    }
}

/* Returns whether it is newer than all others from that node. */
static bool node_is_new(node *n, const unsigned char *message)
{
    uint64_t *last = &n->last[node_from(message)], number;

    memcpy(&number, message + 8, sizeof number);
    if (number <= *last)
        return false;
    *last = number;
    return true;
}

void node_receive(node *n, const unsigned char *message, mail_bytes *answer,
                  node_tally *tally)
{
    const unsigned char *end = message + node_message_bytes(message);
    const unsigned char *at = message + NODE_HEAD;

    tally->messages++;
    if (!node_is_new(n, message)) {
        tally->repeated++;
        return;
    }
    while (at < end) {
        node_heard heard;

        at = node_read(at, &heard);
        *mail_extend(answer, 1) = node_receive_report(n, &heard, tally);
    }
}

/* ==== ==== Acknowledgements ============================================= */

/* Returns the index of the value among those some node holds, or m->n. */
static size_t node_state_at(const node_member *m, int64_t value)
{
    size_t i = 0;

    while (i < m->n && m->states[i].value != value)
        i++;
    return i;
}

static void node_holds(node *n, node_member *m, int64_t value, uint64_t to)
{
    size_t i = node_state_at(m, value);

    node_enter(n, n->held, node_held_entry(m->name, value, to));
    if (i < m->n) {
        m->states[i].holders++;
        return;
    }
    if (m->n == m->room) {
        m->room += m->room + 1;
        m->states = realloc(m->states, m->room * sizeof *m->states);
        if (m->states == NULL)
            lab_stop("memory", "not enough; try QUICK=1");
    }
    m->states[m->n++] = (node_state){ value, 1 };
}

static void node_holds_no_more(node *n, node_member *m, int64_t value,
                               uint64_t to)
{
    size_t i = node_state_at(m, value);

    node_leave(n, n->held, node_held_entry(m->name, value, to));
    if (i < m->n && --m->states[i].holders == 0)
        m->states[i] = m->states[--m->n];
}

static void node_acknowledge_report(node *n, node_member *m, uint64_t to,
                                    const node_heard *heard,
                                    unsigned char answer)
{
    switch (answer & 3) {
    case NODE_FIRST:
        n->refused += bly_add_hash(n->met, node_met_entry(m->name, to)) < 0;
        node_holds(n, m, heard->value, to);
        break;
    case NODE_REPLACE:
        node_holds_no_more(n, m, node_other(heard, answer >> 2), to);
        node_holds(n, m, heard->value, to);
        break;
    default:
        break;
    }
}

size_t node_acknowledge(node *n, const unsigned char *message,
                   const unsigned char *answer)
{
    const unsigned char *end = message + node_message_bytes(message);
    const unsigned char *at = message + NODE_HEAD;
    uint64_t to = node_message_to(message);
    node_member *m = n->members;
    size_t used = 0;

    for (; at < end; m++) {             /* reports are in members' order */
        node_heard heard;

        if (!m->there)
            continue;
        at = node_read(at, &heard);
        node_acknowledge_report(n, m, to, &heard, answer[used++]);
    }
    return used;
}
