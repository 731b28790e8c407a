/* pournaras.c - sums by gossip, with filters that remember who has been told
 * what [Pournaras et al. 2013].
 *
 * Every rank generates all data and keeps its own nodes' part, so rank 0 knows
 * the truth without communication; it alone writes the figures. If fewer ranks
 * are wanted than exist, the others wait. See gossip.h, and essay.html beside
 * this file.
 */
#include "gossip.h"

#include <stdlib.h>
#include <string.h>

/* Series of lab_key. */
enum { SERIES_EVENTS = 2, SERIES_VALUES, SERIES_DRAWS };

static int pournaras_rank, pournaras_ranks;

/* Returns the first `ranks` ranks, as far as they exist, or MPI_COMM_NULL on
 * the others. Collective. */
static MPI_Comm pournaras_some(int ranks)
{
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, pournaras_rank < ranks ? 0 : MPI_UNDEFINED,
                   pournaras_rank, &some);
    return some;
}

/* ---- Ground truth ------------------------------------------------------ */

/* Returns a number below n. */
static uint64_t pournaras_draw(uint64_t series, uint64_t i, uint64_t n)
{
    return lab_key(series, i) % n;
}

static int64_t *pournaras_nobody(uint64_t members)
{
    int64_t *now = lab_allocate(members * sizeof *now);
    for (uint64_t i = 0; i < members; i++)
        now[i] = NODE_GONE;
    return now;
}

static void pournaras_set(gossip *g, int64_t *now, uint64_t i, int64_t value)
{
    now[i] = value;
    gossip_set(g, i, value);
}

static node_sums pournaras_truth(const int64_t *now, uint64_t members)
{
    node_sums t = { 0 };
    for (uint64_t i = 0; i < members; i++)
        if (now[i] != NODE_GONE) {
            t.count++;
            t.sum += now[i];
        }
    return t;
}

static bool pournaras_right(const node_sums *view, const node_sums *truth)
{
    return view->count == truth->count && view->sum == truth->sum;
}

/* Returns the relative error of a sum. */
static double pournaras_error(const node_sums *view, const node_sums *truth)
{
    return fabs((double)(view->sum - truth->sum) / (double)truth->sum);
}

/* ---- Members that join, change, leave and return ------------------------ */

enum { CHURN_EPOCHS = 4, CHURN_NODES = 60 };

typedef struct {
    int         ranks;
    uint64_t    nodes;
    const char *kind;
    unsigned    bits, probes, repeat;
} churn_case;

/* The result of a case: each node's view after each epoch. */
typedef struct {
    node_sums *views, truth[CHURN_EPOCHS];
    node_tally tally;
    uint64_t   refused;
} churn;

static gossip *churn_open(MPI_Comm some, const churn_case *c, uint64_t members)
{
    gossip_plan plan = {
        .plan = { .kind = c->kind, .bits = c->bits, .probes = c->probes,
                  .nodes = c->nodes, .members = members,
                  .rate = sqrt(1e-3 / (double)(members * c->nodes)) },
        .repeat = c->repeat };
    return gossip_open(some, &plan);
}

/* Makes as many events as members, over a growing range of members; in a tenth
 * of them one leaves. */
static void churn_events(gossip *g, int64_t *now, uint64_t members,
                         uint64_t epoch)
{
    uint64_t known = members * (epoch + 1) / CHURN_EPOCHS;
    for (uint64_t i = 0; i < members; i++) {
        uint64_t at = 3 * (epoch * members + i);
        uint64_t who = pournaras_draw(SERIES_EVENTS, at, known);
        bool leaves = pournaras_draw(SERIES_EVENTS, at + 1, 10) == 0;
        int64_t value = (int64_t)pournaras_draw(SERIES_EVENTS, at + 2, 2000);
        pournaras_set(g, now, who, leaves ? NODE_GONE : value - 500);
    }
}

static void churn_gossip(churn *r, gossip *g, uint64_t nodes, uint64_t members)
{
    int64_t *now = pournaras_nobody(members);
    for (uint64_t e = 0; e < CHURN_EPOCHS; e++) {
        churn_events(g, now, members, e);
        for (uint64_t i = 0; i < nodes; i++)
            gossip_round(g);
        gossip_views(g, r->views + e * nodes);
        r->truth[e] = pournaras_truth(now, members);
    }
    r->tally = gossip_tally(g);
    r->refused = gossip_refused(g);
    free(now);
}

static churn churn_run(const churn_case *c, uint64_t members)
{
    churn r = { .views = lab_allocate(CHURN_EPOCHS * c->nodes
                                      * sizeof *r.views) };
    MPI_Comm some = pournaras_some(c->ranks);
    if (some != MPI_COMM_NULL) {
        gossip *g = churn_open(some, c, members);
        churn_gossip(&r, g, c->nodes, members);
        gossip_close(g);
        MPI_Comm_free(&some);
    }
    return r;
}

/* Counts rank 0's wrong sums. */
static uint64_t churn_wrong(const churn *r, uint64_t nodes)
{
    uint64_t wrong = 0;
    for (uint64_t e = 0; e < CHURN_EPOCHS; e++)
        for (uint64_t i = 0; i < nodes; i++)
            wrong += !pournaras_right(&r->views[e * nodes + i], &r->truth[e]);
    return wrong;
}

static void churn_claim_exact(lab *l, uint64_t members)
{
    static const churn_case cases[] = {
        { 1, 1, "counting", 0, 0, 1 }, { 2, 2, "counting", 0, 0, 1 },
        { 3, 3, "counting", 0, 0, 1 }, { 4, 11, "counting", 0, 0, 1 },
        { 8, 8, "counting", 0, 0, 1 }, { 8, 2, "counting", 0, 0, 1 },
        { 4, 4, "cuckoo", 0, 0, 1 },   { 4, 4, "quotient", 0, 0, 1 },
    };
    uint64_t wrong = 0, refused = 0, sums = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        churn r = churn_run(&cases[i], members);
        wrong += pournaras_rank == 0 ? churn_wrong(&r, cases[i].nodes) : 0;
        sums += CHURN_EPOCHS * cases[i].nodes;
        refused += r.refused;
        free(r.views);
    }
    if (pournaras_rank == 0)
        lab_says(l, "ours: so it is with 1 to 11 nodes on 1 to 8 ranks, and "
                    "with counting, cuckoo and quotient filters",
                 wrong == 0 && refused == 0, "%llu of %llu sums are wrong; "
                 "filters refused %llu entries", (unsigned long long)wrong,
                 (unsigned long long)sums, (unsigned long long)refused);
}

/* Uses small filters, to provoke errors that could differ. */
static void churn_claim_ranks(lab *l, uint64_t members)
{
    static const int ranks[] = { 2, 3, 5, 8 };
    churn_case c = { 1, 13, "counting", 5, 4, 1 };
    churn one = churn_run(&c, members);
    size_t bytes = CHURN_EPOCHS * c.nodes * sizeof *one.views;
    unsigned same = 0;
    uint64_t wrong = pournaras_rank == 0 ? churn_wrong(&one, c.nodes) : 0;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        c.ranks = ranks[i];
        churn r = churn_run(&c, members);
        same += pournaras_rank == 0 && memcmp(r.views, one.views, bytes) == 0;
        free(r.views);
    }
    if (pournaras_rank == 0)
        lab_says(l, "ours: errors, too, depend on the nodes and not on the "
                    "ranks that they are spread over",
                 same == 4 && wrong > 0, "13 nodes on 2, 3, 5 and 8 ranks: %u "
                 "times the sums of 1 rank, of which %llu are wrong", same,
                 (unsigned long long)wrong);
    c.repeat = 3;
    churn r = churn_run(&c, members);
    uint64_t messages = CHURN_EPOCHS * c.nodes * c.nodes;
    if (pournaras_rank == 0)
        lab_says(l, "ours: messages that come three times change nothing",
                 memcmp(r.views, one.views, bytes) == 0
                 && r.tally.repeated == 2 * messages
                 && r.tally.messages == 3 * messages,
                 "%s sums; %llu of %llu messages were dropped",
                 memcmp(r.views, one.views, bytes) == 0 ? "the same" : "other",
                 (unsigned long long)r.tally.repeated,
                 (unsigned long long)r.tally.messages);
    free(r.views);
    free(one.views);
}

/* After each round: the nodes' errors, as rows of the figure. */
typedef struct {
    uint64_t ends_wrong;        /* wrong sums after a turn */
    double   fourth_least, fourth_most;     /* members, of all, that a node
                                   has counted after a fourth of the first */
} churn_curve;

static void churn_row(lab *l, churn_curve *c, const node_sums *views,
                      const node_sums *truth, uint64_t round)
{
    double sum = 0, most = 0;
    for (uint64_t i = 0; i < CHURN_NODES; i++) {
        double error = pournaras_error(&views[i], truth);
        double known = (double)views[i].count / (double)truth->count;
        sum += error;
        most = fmax(most, error);
        if (round % CHURN_NODES == 0)
            c->ends_wrong += !pournaras_right(&views[i], truth);
        if (4 * round == CHURN_NODES) {
            c->fourth_least = fmin(c->fourth_least, known);
            c->fourth_most = fmax(c->fourth_most, known);
        }
    }
    lab_row(l, "%llu,%.6g,%.6g", (unsigned long long)round,
            100 * sum / CHURN_NODES, 100 * most);
}

/* Each node has a member from the start, so its count is the number of nodes it
 * has heard of. */
static churn_curve churn_draw(lab *l)
{
    churn_case one = { pournaras_ranks, CHURN_NODES, "counting", 0, 0, 1 };
    churn_curve c = { .fourth_least = INFINITY };
    gossip *g = churn_open(MPI_COMM_WORLD, &one, CHURN_NODES);
    int64_t *now = pournaras_nobody(CHURN_NODES);
    node_sums views[CHURN_NODES];
    for (uint64_t i = 0; i < CHURN_NODES; i++)
        pournaras_set(g, now, i, 1 + (int64_t)i);
    for (uint64_t round = 1; round <= CHURN_EPOCHS * CHURN_NODES; round++) {
        gossip_round(g);
        gossip_views(g, views);
        node_sums truth = pournaras_truth(now, CHURN_NODES);
        if (pournaras_rank == 0)
            churn_row(l, &c, views, &truth, round);
        if (round % CHURN_NODES == 0 && round < CHURN_EPOCHS * CHURN_NODES)
            churn_events(g, now, CHURN_NODES, round / CHURN_NODES);
    }
    gossip_close(g);
    free(now);
    return c;
}

static void pournaras_rounds(lab *l)
{
    uint64_t members = lab_pick(l, 300, 3000, 10000);
    if (pournaras_rank == 0)
        lab_figure(l, "rounds", "round,mean error in %,largest error in %");
    churn_curve c = churn_draw(l);
    if (pournaras_rank == 0) {
        lab_says(l, "each node counts each member once, and its present value: "
                    "when all have talked to all every node has the true sum",
                 c.ends_wrong == 0, "after each of %d turns: %llu wrong sums "
                 "in %d nodes", CHURN_EPOCHS,
                 (unsigned long long)c.ends_wrong, CHURN_NODES);
        lab_says(l, "ours: after a fourth of the first turn each node has "
                    "counted a fourth of the members",
                 c.fourth_least == 0.25 && c.fourth_most == 0.25,
                 "%.4g to %.4g of them", c.fourth_least, c.fourth_most);
    }
    churn_claim_exact(l, members);
    churn_claim_ranks(l, members);
}

/* ---- Small filters ------------------------------------------------------ */

enum { SMALL_NODES = 60, SMALL_EPOCHS = 5, SMALL_STATES = 4,
       SMALL_REPORTS = SMALL_EPOCHS * SMALL_NODES * SMALL_NODES };
enum { SMALL_ERROR, SMALL_LARGEST, SMALL_LOST, SMALL_NUMBERS };

static const struct { unsigned bits, probes; } small_filters[] = {
    { 4, 3 }, { 5, 4 }, { 7, 5 }, { 10, 6 }, { 14, 7 }, { 20, 8 },
};
enum { SMALL_FILTERS = sizeof small_filters / sizeof *small_filters };

/* In each epoch but the first, half of the members redraw one of their
 * states. */
static void small_events(gossip *g, int64_t *now, uint64_t epoch)
{
    uint64_t left = epoch == 0 ? SMALL_NODES : SMALL_NODES / 2;
    for (uint64_t i = 0; i < SMALL_NODES; i++) {
        uint64_t at = 2 * (epoch * SMALL_NODES + i);
        if (pournaras_draw(SERIES_DRAWS, at, SMALL_NODES - i) >= left)
            continue;
        uint64_t s = pournaras_draw(SERIES_DRAWS, at + 1, SMALL_STATES);
        left--;
        pournaras_set(g, now, i, (int64_t)
                      pournaras_draw(SERIES_VALUES, SMALL_STATES * i + s,
                                     1000));
    }
}

/* The results of one order of partners. */
static void small_run(const gossip_plan *plan, double *numbers)
{
    gossip *g = gossip_open(MPI_COMM_SELF, plan);
    int64_t *now = pournaras_nobody(SMALL_NODES);
    node_sums views[SMALL_NODES];
    for (uint64_t e = 0; e < SMALL_EPOCHS; e++) {
        small_events(g, now, e);
        for (uint64_t i = 0; i < SMALL_NODES; i++)
            gossip_round(g);
        gossip_views(g, views);
        node_sums truth = pournaras_truth(now, SMALL_NODES);
        for (uint64_t i = 0; i < SMALL_NODES; i++) {
            double error = pournaras_error(&views[i], &truth);
            numbers[SMALL_ERROR] += error / SMALL_NODES / SMALL_EPOCHS;
            numbers[SMALL_LARGEST] = fmax(numbers[SMALL_LARGEST], error);
        }
    }
    numbers[SMALL_LOST] = (double)gossip_tally(g).unsuccessful;
    gossip_close(g);
    free(now);
}

typedef struct { lab_measure error, lost; double largest; } small_point;

static small_point small_mean(const double *all, size_t orders)
{
    double *error = lab_allocate(2 * orders * sizeof *error);
    double *lost = error + orders;
    small_point p = { 0 };
    for (size_t i = 0; i < orders; i++) {
        error[i] = 100 * all[SMALL_NUMBERS * i + SMALL_ERROR];
        lost[i] = all[SMALL_NUMBERS * i + SMALL_LOST];
        p.largest = fmax(p.largest, 100 * all[SMALL_NUMBERS * i
                                              + SMALL_LARGEST]);
    }
    p.error = lab_mean(error, orders);
    p.lost = lab_mean(lost, orders);
    free(error);
    return p;
}

/* Measures many orders of partners, which the ranks take in turns. */
static small_point small_measure(size_t filter, bool skip, size_t orders)
{
    gossip_plan plan = {
        .plan = { .kind = "counting", .bits = small_filters[filter].bits,
                  .probes = small_filters[filter].probes, .skip = skip,
                  .nodes = SMALL_NODES, .members = SMALL_NODES },
        .repeat = 1 };
    size_t n = SMALL_NUMBERS * orders;
    double *mine = lab_allocate(2 * n * sizeof *mine), *all = mine + n;
    memset(mine, 0, 2 * n * sizeof *mine);
    for (size_t i = (size_t)pournaras_rank; i < orders;
         i += (size_t)pournaras_ranks) {
        plan.seed = 1 + i;
        small_run(&plan, mine + SMALL_NUMBERS * i);
    }
    MPI_Reduce(mine, all, (int)n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    small_point p = small_mean(all, orders);
    free(mine);
    return p;
}

static void small_claims(lab *l, const small_point *all, const small_point *no)
{
    size_t last = SMALL_FILTERS - 1;
    lab_says(l, "ours: with 20 bits an entry no sum is ever wrong",
             all[last].largest == 0 && all[last].error.value == 0,
             "%.3g %% at most; %.3g of %d reports without success",
             all[last].largest, all[last].lost.value, SMALL_REPORTS);
    lab_says(l, "ours: with 5 bits an entry sums are wrong, by less than one "
                "per cent in the mean",
             all[1].error.low > 0 && all[1].error.high < 1,
             "%.3g %% (%.3g … %.3g), %.2g %% at most; %.3g of %d reports "
             "without success", all[1].error.value, all[1].error.low,
             all[1].error.high, all[1].largest, all[1].lost.value,
             SMALL_REPORTS);
    lab_says(l, "ours: what is skipped since a filter seems to have it makes "
                "errors larger by far", no[1].error.low > all[1].error.high
             && no[3].error.low > all[3].error.high,
             "with 5 bits %.3g %% instead of %.3g %%, with 10 bits %.3g %% "
             "instead of %.3g %%", no[1].error.value, all[1].error.value,
             no[3].error.value, all[3].error.value);
}

static void pournaras_filters(lab *l)
{
    size_t orders = (size_t)lab_pick(l, 2, 16, 400);
    small_point all[SMALL_FILTERS], no[SMALL_FILTERS];
    for (size_t i = 0; i < SMALL_FILTERS; i++) {
        all[i] = small_measure(i, false, orders);
        no[i] = small_measure(i, true, orders);
    }
    if (pournaras_rank != 0)
        return;
    lab_figure(l, "filters", "bits an entry,probes,mean error in %,low,high,"
                             "largest,unsuccessful,with skipped adds,low,high,"
                             "largest,unsuccessful");
    for (size_t i = 0; i < SMALL_FILTERS; i++)
        lab_row(l, "%u,%u,%.5g,%.5g,%.5g,%.4g,%.5g,%.5g,%.5g,%.5g,%.4g,%.5g",
                small_filters[i].bits, small_filters[i].probes,
                all[i].error.value, all[i].error.low, all[i].error.high,
                all[i].largest, all[i].lost.value, no[i].error.value,
                no[i].error.low, no[i].error.high, no[i].largest,
                no[i].lost.value);
    small_claims(l, all, no);
}

/* ---- Many members ------------------------------------------------------- */

/* All members have their first value; then one of `part` changes it. */
enum { LARGE_TURNS = 2 };

typedef struct {
    node_tally tally[LARGE_TURNS];      /* per turn                        */
    uint64_t   sent[LARGE_TURNS], memory;
    double     away;
} large;

static node_tally large_since(node_tally now, const node_tally *before)
{
    now.first -= before->first;
    now.replaced -= before->replaced;
    now.same -= before->same;
    now.unsuccessful -= before->unsuccessful;
    now.messages -= before->messages;
    return now;
}

static void large_turn(gossip *g, large *r, const gossip_plan *plan,
                       unsigned turn, uint64_t part)
{
    node_tally before = gossip_tally(g);
    uint64_t sent = gossip_sent(g);
    for (uint64_t i = 0; i < plan->plan.members; i++) {
        int64_t value = (int64_t)pournaras_draw(SERIES_VALUES, i, 1000);
        bool changed = turn > 0 && pournaras_draw(SERIES_DRAWS, i, part) == 0;
        gossip_set(g, i, changed ? value + 1000 : value);
    }
    for (uint64_t i = 0; i < plan->plan.nodes; i++)
        gossip_round(g);
    r->tally[turn] = large_since(gossip_tally(g), &before);
    r->sent[turn] = gossip_sent(g) - sent;
}

static large large_run(int ranks, uint64_t members, const char *kind,
                       double rate, uint64_t part)
{
    gossip_plan plan = { .plan = { .kind = kind, .rate = rate,
                                   .nodes = (uint64_t)ranks,
                                   .members = members }, .repeat = 1 };
    large r = { 0 };
    MPI_Comm some = pournaras_some(ranks);
    if (some == MPI_COMM_NULL)
        return r;
    gossip *g = gossip_open(some, &plan);
    for (unsigned turn = 0; turn < LARGE_TURNS; turn++)
        large_turn(g, &r, &plan, turn, part);
    r.memory = gossip_memory(g);
    r.away = gossip_away(g);
    gossip_close(g);
    MPI_Comm_free(&some);
    return r;
}

/* Returns the expected bytes of a turn: 17 per report and 1 for its answer, 8
 * for a previous value, 24 for a message. */
static double large_formula(const large *r, unsigned turn)
{
    const node_tally *t = &r->tally[turn];
    uint64_t reports = t->first + t->replaced + t->same + t->unsuccessful;
    return r->away * (double)(18 * reports + 8 * t->replaced
                              + 24 * t->messages);
}

static void pournaras_sent(lab *l)
{
    uint64_t members = lab_pick(l, 300, 10000, 100000);
    if (pournaras_rank == 0)
        lab_figure(l, "sent", "ranks,bytes for each member and node,formula,"
                              "with a tenth changed,formula");
    double off = 0;
    for (int ranks = 2; ranks <= pournaras_ranks; ranks++) {
        double rate = sqrt(1e-3 / (double)members / ranks);
        large r = large_run(ranks, members, "counting", rate, 10);
        double all = (double)members * ranks, by[LARGE_TURNS];
        for (unsigned i = 0; i < LARGE_TURNS; i++) {
            by[i] = large_formula(&r, i);
            off = fmax(off, fabs((double)r.sent[i] - by[i]));
        }
        if (pournaras_rank == 0)
            lab_row(l, "%d,%.6g,%.6g,%.6g,%.6g", ranks, (double)r.sent[0] / all,
                    by[0] / all, (double)r.sent[1] / all, by[1] / all);
    }
    if (pournaras_rank == 0)
        lab_says(l, "ours: R reports, C of them of changed values, in M "
                    "messages take 18 R + 8 C + 24 M bytes, of which what "
                    "stays with its rank is not sent", off < 0.01 * (double)
                 members, "on 2 to %d ranks: at most %.3g bytes off, of "
                 "%llu members", pournaras_ranks, off,
                 (unsigned long long)members);
}

static const char *const large_kinds[] = { "counting", "cuckoo", "quotient" };
static const double large_rates[] = { 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05 };
enum { LARGE_KINDS = 3, LARGE_RATES = sizeof large_rates
                                    / sizeof *large_rates };

/* Returns the bytes of a node's filters per member of all nodes. */
static double large_bytes(const large *r, uint64_t members)
{
    return (double)r->memory / pournaras_ranks / (double)members;
}

static void large_bound(lab *l, large (*r)[LARGE_KINDS], uint64_t members)
{
    uint64_t trials = members * (uint64_t)pournaras_ranks;
    bool holds = true;
    lab_figure(l, "bound", "rate,bound,counting,cuckoo,quotient");
    for (size_t i = 0; i < LARGE_RATES; i++) {
        uint64_t lost[LARGE_KINDS];
        double f2 = large_rates[i] * large_rates[i];
        for (size_t k = 0; k < LARGE_KINDS; k++) {
            lost[k] = r[i][k].tally[1].unsuccessful;
            holds = holds && lab_wilson(lost[k], trials).low <= 2 * f2;
        }
        lab_row(l, "%g,%.5g,%llu,%llu,%llu", large_rates[i],
                2 * f2 * (double)trials, (unsigned long long)lost[0],
                (unsigned long long)lost[1], (unsigned long long)lost[2]);
    }
    lab_says(l, "ours: of n members and N nodes at most 2 n N f² are missing "
                "or old when all have changed their value, f being the rate of "
                "filters", holds,
             "with counting filters %llu of %llu at 1 %%, %llu at 5 %%",
             (unsigned long long)r[2][0].tally[1].unsuccessful,
             (unsigned long long)trials, (unsigned long long)
             r[LARGE_RATES - 1][0].tally[1].unsuccessful);
}

static void large_memory(lab *l, large (*r)[LARGE_KINDS], uint64_t members)
{
    double most = 0;
    lab_figure(l, "memory", "rate,counting,cuckoo,quotient");
    for (size_t i = 0; i < LARGE_RATES; i++) {
        double bytes[LARGE_KINDS];
        for (size_t k = 0; k < LARGE_KINDS; k++)
            bytes[k] = large_bytes(&r[i][k], members);
        most = fmax(most, fmax(bytes[1], bytes[2]) / bytes[0]);
        lab_row(l, "%g,%.4g,%.4g,%.4g", large_rates[i], bytes[0], bytes[1],
                bytes[2]);
    }
    lab_says(l, "ours: filters of kind cuckoo or quotient take less than half "
                "of the memory", most < 0.5, "at most %.2f times as much",
             most);
}

static void pournaras_large(lab *l)
{
    uint64_t members = lab_pick(l, 300, 10000, 100000);
    large r[LARGE_RATES][LARGE_KINDS];
    for (size_t i = 0; i < LARGE_RATES; i++)
        for (size_t k = 0; k < LARGE_KINDS; k++)
            r[i][k] = large_run(pournaras_ranks, members, large_kinds[k],
                                large_rates[i], 1);
    if (pournaras_rank != 0)
        return;
    large_bound(l, r, members);
    large_memory(l, r, members);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &pournaras_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &pournaras_ranks);
    lab l = lab_open(argc, argv);
    pournaras_rounds(&l);
    pournaras_filters(&l);
    pournaras_sent(&l);
    pournaras_large(&l);
    int status = lab_close(&l);
    MPI_Finalize();
    return status;
}
