/* gossip.c - the nodes of the aggregation, exchanging messages in rounds.
 *
 * N nodes are spread over P ranks, in order. In a round every node sends one
 * message and gets one; a random permutation, which all ranks draw alike from a
 * shared seed, assigns partners. Permutations come in turns of N, a random ring
 * and its N shifts in random order:
 *
 *      ring      5  0  3  1  4  2        node 5 to node 3, 0 to 1, 3 to 4, …
 *      shift 2   3  1  4  2  5  0
 *
 * After a turn every node has talked to every other once, and to itself, which
 * is how its own members enter its sums. A real network draws partners at
 * random, and needs about ln N times as many rounds to meet all. A round is two
 * exchanges: reports, and answers. The result depends on the number of nodes,
 * not on the ranks that they are spread over.
 */
#include "gossip.h"

#include <stdlib.h>
#include <string.h>

/* The series of lab_key for permutations. */
enum { GOSSIP_SERIES = 16 };

struct gossip {
    gossip_plan plan;
    uint64_t    first;          /* of this rank's nodes                    */
    node       *nodes;
    size_t      n;
    uint64_t    random, round;
    uint64_t   *ring, *place;   /* nodes by order; the place of each       */
    uint64_t   *shifts;
    mail        reports, answers;
    node_tally  tally;
};

/* Returns the first of a rank's nodes; the rank of a node. */
static uint64_t gossip_first(const gossip *g, int rank)
{
    uint64_t ranks = (uint64_t)g->reports.n;
    return (g->plan.plan.nodes * (uint64_t)rank + ranks - 1) / ranks;
}

static int gossip_rank(const gossip *g, uint64_t number)
{
    return (int)(number * (uint64_t)g->reports.n / g->plan.plan.nodes);
}

/* ==== Open and close ==================================================== */

gossip *gossip_open(MPI_Comm ranks, const gossip_plan *plan)
{
    gossip *g = lab_allocate(sizeof *g);
    size_t bytes = plan->plan.nodes * sizeof *g->ring;
    *g = (gossip){ .plan = *plan };
    mail_open(&g->reports, ranks);
    mail_open(&g->answers, ranks);
    g->first = gossip_first(g, g->reports.rank);
    g->n = (size_t)(gossip_first(g, g->reports.rank + 1) - g->first);
    g->ring = lab_allocate(bytes);
    g->place = lab_allocate(bytes);
    g->shifts = lab_allocate(bytes);
    g->nodes = lab_allocate(g->n * sizeof *g->nodes);
    for (size_t i = 0; i < g->n; i++)
        node_open(&g->nodes[i], &plan->plan, g->first + i);
    return g;
}

void gossip_close(gossip *g)
{
    for (size_t i = 0; i < g->n; i++)
        node_close(&g->nodes[i]);
    mail_close(&g->reports);
    mail_close(&g->answers);
    free(g->nodes);
    free(g->ring);
    free(g->place);
    free(g->shifts);
    free(g);
}

void gossip_set(gossip *g, uint64_t i, int64_t value)
{
    uint64_t at = i % g->plan.plan.nodes;
    if (at < g->first || at >= g->first + g->n)
        return;
    node_member *m = &g->nodes[at - g->first].members[i / g->plan.plan.nodes];
    m->selected = value;
    m->there = true;
}

/* ==== Rounds ============================================================ */

static void gossip_shuffle(gossip *g, uint64_t *list)
{
    uint64_t n = g->plan.plan.nodes;
    for (uint64_t i = 0; i < n; i++)
        list[i] = i;
    for (uint64_t i = n - 1; i > 0; i--) {
        uint64_t hash = lab_key(GOSSIP_SERIES + g->plan.seed, g->random++);
        uint64_t j = hash % (i + 1), other = list[j];
        list[j] = list[i];
        list[i] = other;
    }
}

/* Draws a ring, once per turn. */
static void gossip_draw(gossip *g)
{
    gossip_shuffle(g, g->ring);
    gossip_shuffle(g, g->shifts);
    for (uint64_t i = 0; i < g->plan.plan.nodes; i++)
        g->place[g->ring[i]] = i;
}

/* Returns the partner of this rank's node i. */
static uint64_t gossip_partner(const gossip *g, size_t i, uint64_t shift)
{
    return g->ring[(g->place[g->first + i] + shift) % g->plan.plan.nodes];
}

static void gossip_report(gossip *g, uint64_t shift)
{
    for (size_t i = 0; i < g->n; i++) {
        uint64_t to = gossip_partner(g, i, shift);
        mail_bytes *out = &g->reports.to[gossip_rank(g, to)];
        size_t begin = out->n;
        node_report(&g->nodes[i], to, g->round, out);
        size_t bytes = out->n - begin;
        for (unsigned more = 1; more < g->plan.repeat; more++) {
            unsigned char *copy = mail_extend(out, bytes);
            memcpy(copy, out->bytes + begin, bytes);
        }
    }
}

/* Answers in the order of messages. */
static void gossip_answer(gossip *g)
{
    for (int r = 0; r < g->reports.n; r++) {
        const unsigned char *at = g->reports.in.bytes + g->reports.begin[r];
        const unsigned char *end = g->reports.in.bytes
                                 + g->reports.begin[r + 1];
        for (; at < end; at += node_message_bytes(at))
            node_receive(&g->nodes[node_message_to(at) - g->first], at,
                         &g->answers.to[r], &g->tally);
    }
}

/* Each of this rank's nodes has sent a message and its copies. */
static void gossip_acknowledge(gossip *g, uint64_t shift)
{
    size_t ranks = (size_t)g->reports.n;
    size_t *sent = lab_allocate(2 * ranks * sizeof *sent), *got = sent + ranks;
    for (size_t r = 0; r < ranks; r++) {
        sent[r] = 0;
        got[r] = (size_t)g->answers.begin[r];
    }
    for (size_t i = 0; i < g->n; i++) {
        int r = gossip_rank(g, gossip_partner(g, i, shift));
        const unsigned char *message = g->reports.to[r].bytes + sent[r];
        got[r] += node_acknowledge(&g->nodes[i], message,
                                   g->answers.in.bytes + got[r]);
        sent[r] += g->plan.repeat * node_message_bytes(message);
    }
    free(sent);
}

void gossip_round(gossip *g)
{
    uint64_t nodes = g->plan.plan.nodes;
    if (g->round % nodes == 0)
        gossip_draw(g);
    uint64_t shift = g->shifts[g->round++ % nodes];
    mail_empty(&g->reports);
    mail_empty(&g->answers);
    gossip_report(g, shift);
    mail_exchange(&g->reports);
    gossip_answer(g);
    mail_exchange(&g->answers);
    gossip_acknowledge(g, shift);
}

/* ==== ==== Inspection =================================================== */

static uint64_t gossip_sum(const gossip *g, uint64_t n)
{
    uint64_t sum;
    MPI_Allreduce(&n, &sum, 1, MPI_UINT64_T, MPI_SUM, g->reports.ranks);
    return sum;
}

node_tally gossip_tally(const gossip *g)
{
    node_tally t = g->tally;
    uint64_t *const all[] = { &t.first, &t.replaced, &t.same, &t.unsuccessful,
                              &t.repeated, &t.messages };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = gossip_sum(g, *all[i]);
    return t;
}

uint64_t gossip_refused(const gossip *g)
{
    uint64_t entries = 0;
    for (size_t i = 0; i < g->n; i++)
        entries += g->nodes[i].refused;
    return gossip_sum(g, entries);
}

uint64_t gossip_sent(const gossip *g)
{
    return gossip_sum(g, g->reports.sent + g->answers.sent);
}

uint64_t gossip_memory(const gossip *g)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < g->n; i++)
        bytes += node_memory(&g->nodes[i]);
    return gossip_sum(g, bytes);
}

void gossip_views(const gossip *g, node_sums *views)
{
    mail all;
    mail_open(&all, g->reports.ranks);
    for (size_t i = 0; i < g->n; i++)
        memcpy(mail_extend(&all.to[0], sizeof *views), &g->nodes[i].sums,
               sizeof *views);
    mail_exchange(&all);
    if (all.rank == 0)
        memcpy(views, all.in.bytes, all.in.n);
    mail_close(&all);
}

double gossip_away(const gossip *g)
{
    double nodes = (double)g->plan.plan.nodes, near = 0;
    for (int r = 0; r < g->reports.n; r++) {
        double share = (double)(gossip_first(g, r + 1) - gossip_first(g, r))
                     / nodes;
        near += share * share;
    }
    return 1 - near;
}
