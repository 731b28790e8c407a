/* gossip.c - the nodes of `bloomery-mpi count`, talking round by round.
 *
 * N nodes are spread over P ranks, in their order. In a round every node sends
 * one message and gets one: who talks to whom is a random permutation, which
 * all ranks draw alike from a shared seed. Permutations come in turns of N, a
 * random ring and its N shifts in random order:
 *
 *      ring      5  0  3  1  4  2        node 5 to node 3, 0 to 1, 3 to 4, …
 *      shift 2   3  1  4  2  5  0
 *
 * so that after a turn every node has talked to every one once, itself too,
 * which is how its own members come into its sums. A real network draws
 * partners at random, and needs about ln N times as many rounds to meet all. A
 * round is two exchanges: reports, and answers. What comes out depends on the
 * number of nodes, not on the ranks that they are spread over.
 *
 * Floor 8 (programs); includes count.h and mix.h only.
 */
#include "mpi/count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mix.h"

/* Of a filter, if it is chosen here. */
#define GOSSIP_LEAST_RATE 1e-9

struct gossip {
    gossip_plan  plan;
    uint64_t     first;         /* of this rank's nodes                    */
    node        *nodes;
    size_t       n;
    node_member *members;       /* of all of them, sorted by node and name */
    size_t       members_n;
    size_t       at;            /* of the events, the next one             */
    uint64_t     random, round;
    uint64_t    *ring, *place;  /* nodes in their order; where each is     */
    uint64_t    *shifts;
    part_mail    reports, answers;
    node_tally   tally;
};

uint64_t gossip_first(uint64_t nodes, int rank)
{
    uint64_t ranks = (uint64_t)job_ranks, r = (uint64_t)rank;

    return (nodes * r + ranks - 1) / ranks;
}

int gossip_rank(uint64_t nodes, uint64_t number)
{
    return (int)(number * (uint64_t)job_ranks / nodes);
}

uint64_t gossip_node(uint64_t nodes, uint64_t name)
{
    return name % nodes;
}

/* ==== Members =========================================================== */

static int gossip_order(uint64_t nodes, uint64_t a, uint64_t b)
{
    uint64_t x = gossip_node(nodes, a), y = gossip_node(nodes, b);

    if (x != y)
        return x < y ? -1 : 1;
    return (a > b) - (a < b);
}

/* A name with its node before it, for sorting. */
typedef struct { uint64_t node, name; } gossip_name;

static int gossip_compare(const void *a, const void *b)
{
    const gossip_name *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static void gossip_members(gossip *g, const events *e)
{
    gossip_name *names = job_memory(NULL, e->n * sizeof *names);

    for (size_t i = 0; i < e->n; i++)
        names[i] = (gossip_name){
            gossip_node(g->plan.plan.nodes, e->list[i].name), e->list[i].name };
    if (e->n > 0)
        qsort(names, e->n, sizeof *names, gossip_compare);
    g->members = job_memory(NULL, e->n * sizeof *g->members);
    for (size_t i = 0; i < e->n; i++)
        if (i == 0 || names[i].name != names[i - 1].name)
            g->members[g->members_n++] = (node_member){ .name = names[i].name };
    free(names);
}

static node_member *gossip_find(const gossip *g, uint64_t name)
{
    size_t from = 0, to = g->members_n;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (gossip_order(g->plan.plan.nodes, g->members[middle].name,
                         name) <= 0)
            from = middle;
        else
            to = middle;
    }
    return &g->members[from];
}

void gossip_events(gossip *g, const events *e, uint64_t epoch)
{
    for (; g->at < e->n && e->list[g->at].epoch <= epoch; g->at++) {
        node_member *m = gossip_find(g, e->list[g->at].name);

        m->selected = e->list[g->at].value;
        m->there = true;
    }
}

/* ==== Open and close ==================================================== */

/* A sum of values must fit, and a rate be found for which (1) of node.c, over
 * all nodes and with two filters on each side, is one in a thousand. */
static int gossip_settle_plan(node_plan *plan, const events *e)
{
    double pairs = (double)plan->members * (double)plan->nodes;

    if (plan->members > 0 && e->most > (uint64_t)INT64_MAX / plan->members)
        return report_error("the sum of the values may need more than 64 bits: "
                            "give them with fewer digits");
    if (plan->rate == 0)
        plan->rate = fmin(0.01, fmax(GOSSIP_LEAST_RATE,
                                     sqrt(1e-3 / fmax(1, pairs))));
    return CLI_GO;
}

static int gossip_nodes(gossip *g)
{
    uint64_t nodes = g->plan.plan.nodes;
    size_t at = 0;

    for (size_t i = 0; i < g->n; i++) {
        size_t from = at;
        int status;

        while (at < g->members_n
               && gossip_node(nodes, g->members[at].name) == g->first + i)
            at++;
        status = node_open(&g->nodes[i], &g->plan.plan, g->first + i,
                           g->members + from, at - from);
        if (status != CLI_GO)
            return status;
    }
    return CLI_GO;
}

static void gossip_rooms(gossip *g)
{
    size_t bytes = g->plan.plan.nodes * sizeof *g->ring;

    g->ring = job_memory(NULL, bytes);
    g->place = job_memory(NULL, bytes);
    g->shifts = job_memory(NULL, bytes);
    g->nodes = job_memory(NULL, g->n * sizeof *g->nodes);
    memset(g->nodes, 0, g->n * sizeof *g->nodes);
    part_mail_open(&g->reports);
    part_mail_open(&g->answers);
}

gossip *gossip_open(const gossip_plan *plan, const events *e)
{
    gossip *g = job_memory(NULL, sizeof *g);
    uint64_t nodes = plan->plan.nodes;
    int status;

    *g = (gossip){ .plan = *plan, .random = plan->seed };
    g->first = gossip_first(nodes, job_rank);
    g->n = (size_t)(gossip_first(nodes, job_rank + 1) - g->first);
    gossip_members(g, e);
    g->plan.plan.members = job_sum(g->members_n);
    gossip_rooms(g);
    status = gossip_settle_plan(&g->plan.plan, e);
    if (status == CLI_GO)
        status = gossip_nodes(g);
    if (job_agree(status) == CLI_GO)
        return g;
    gossip_close(g);
    return NULL;
}

void gossip_close(gossip *g)
{
    for (size_t i = 0; i < g->n; i++)
        node_close(&g->nodes[i]);
    for (size_t i = 0; i < g->members_n; i++)
        node_forget(&g->members[i]);
    part_mail_close(&g->reports);
    part_mail_close(&g->answers);
    free(g->nodes);
    free(g->members);
    free(g->ring);
    free(g->place);
    free(g->shifts);
    free(g);
}

/* ==== Rounds ============================================================ */

static void gossip_shuffle(gossip *g, uint64_t *list)
{
    uint64_t n = g->plan.plan.nodes;

    for (uint64_t i = 0; i < n; i++)
        list[i] = i;
    for (uint64_t i = n - 1; i > 0; i--) {
        uint64_t j = mix_hash(g->random++) % (i + 1), other = list[j];

        list[j] = list[i];
        list[i] = other;
    }
}

/* Once a turn. */
static void gossip_draw(gossip *g)
{
    gossip_shuffle(g, g->ring);
    gossip_shuffle(g, g->shifts);
    for (uint64_t i = 0; i < g->plan.plan.nodes; i++)
        g->place[g->ring[i]] = i;
}

static void gossip_tell(gossip *g, uint64_t shift)
{
    uint64_t nodes = g->plan.plan.nodes;

    for (size_t i = 0; i < g->n; i++) {
        uint64_t to = g->ring[(g->place[g->first + i] + shift) % nodes];
        job_bytes *out = &g->reports.to[gossip_rank(nodes, to)];
        size_t begin = out->n, bytes;

        node_report(&g->nodes[i], to, g->round, out);
        bytes = out->n - begin;
        for (uint64_t more = 1; more < g->plan.repeat; more++) {
            unsigned char *copy = job_extend(out, bytes);

            memcpy(copy, out->bytes + begin, bytes);
        }
    }
}

/* Answers are in the order of messages. */
static void gossip_hear(gossip *g)
{
    for (int r = 0; r < job_ranks; r++) {
        const unsigned char *in = g->reports.in.bytes;

        for (size_t at = g->reports.begin[r]; at < g->reports.begin[r + 1]; ) {
            uint64_t to = node_message_to(in + at);

            node_take(&g->nodes[to - g->first], in + at, &g->answers.to[r],
                      &g->tally);
            at += node_message_bytes(in + at);
        }
    }
}

/* Each of this rank's nodes has sent one message, and copies of it. */
static void gossip_settle(gossip *g, uint64_t shift)
{
    uint64_t nodes = g->plan.plan.nodes;
    size_t *sent = job_memory(NULL, 2 * (size_t)job_ranks * sizeof *sent);
    size_t *got = sent + job_ranks;

    memset(sent, 0, (size_t)job_ranks * sizeof *sent);
    memcpy(got, g->answers.begin, (size_t)job_ranks * sizeof *got);
    for (size_t i = 0; i < g->n; i++) {
        uint64_t to = g->ring[(g->place[g->first + i] + shift) % nodes];
        int r = gossip_rank(nodes, to);
        const unsigned char *message = g->reports.to[r].bytes + sent[r];

        got[r] += node_settle(&g->nodes[i], message,
                              g->answers.in.bytes + got[r]);
        sent[r] += (size_t)g->plan.repeat * node_message_bytes(message);
    }
    free(sent);
}

void gossip_round(gossip *g)
{
    uint64_t nodes = g->plan.plan.nodes, shift;

    if (g->round % nodes == 0)
        gossip_draw(g);
    shift = g->shifts[g->round % nodes];
    g->round++;
    part_mail_empty(&g->reports);
    part_mail_empty(&g->answers);
    gossip_tell(g, shift);
    exchange_all(g->reports.to, &g->reports.in, g->reports.begin);
    gossip_hear(g);
    exchange_all(g->answers.to, &g->answers.in, g->answers.begin);
    gossip_settle(g, shift);
}

/* ==== Looking at it ===================================================== */

node_sums gossip_truth(const gossip *g)
{
    node_sums truth = { .least = INT64_MAX, .most = INT64_MIN };

    for (size_t i = 0; i < g->members_n; i++) {
        const node_member *m = &g->members[i];

        if (!m->there || m->selected == EVENTS_GONE)
            continue;
        truth.count++;
        truth.sum += (uint64_t)m->selected;
        truth.least = m->selected < truth.least ? m->selected : truth.least;
        truth.most = m->selected > truth.most ? m->selected : truth.most;
    }
    return truth;
}

node_tally gossip_tally(const gossip *g)
{
    return g->tally;
}

uint64_t gossip_memory(const gossip *g)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < g->n; i++)
        bytes += node_memory(&g->nodes[i]);
    return bytes;
}

uint64_t gossip_refused(const gossip *g)
{
    uint64_t entries = 0;

    for (size_t i = 0; i < g->n; i++)
        entries += g->nodes[i].refused;
    return entries;
}

uint64_t gossip_stuck(const gossip *g)
{
    uint64_t entries = 0;

    for (size_t i = 0; i < g->n; i++)
        entries += g->nodes[i].stuck;
    return entries;
}

const node_plan *gossip_settled(const gossip *g)
{
    return &g->plan.plan;
}

node_sums *gossip_views(const gossip *g)
{
    part_mail mail;
    node_sums *views = NULL;

    part_mail_open(&mail);
    for (size_t i = 0; i < g->n; i++)
        memcpy(job_extend(&mail.to[0], sizeof(node_sums)), &g->nodes[i].sums,
               sizeof(node_sums));
    exchange_all(mail.to, &mail.in, mail.begin);
    if (job_rank == 0) {
        views = job_memory(NULL, mail.in.n);
        memcpy(views, mail.in.bytes, mail.in.n);
    }
    part_mail_close(&mail);
    return views;
}
