/* rhea.c - routing information that becomes less certain with distance [Rhea &
 * Kubiatowicz 2002].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { RHEA_BITS = 512, RHEA_PROBES = 4, RHEA_LEVELS = 5 };

/* The objects of a level, its rate, and the precision of the printed rate. */
static const struct { uint64_t objects; double rate, within; } rhea_table[] = {
    { 10, 3.2e-5, 5e-7 },  { 20, 4.4e-4, 5e-6 },  { 50, 0.0109, 5e-5 },
    { 100, 0.0864, 5e-5 }, { 200, 0.390, 5e-4 },
};

static bly_filter *rhea_new(uint64_t series)
{
    bly_filter *f = lab_new(1000, 0, "attenuated:m=%d,k=%d,depth=%d",
                            RHEA_BITS, RHEA_PROBES, RHEA_LEVELS);
    uint64_t key = 0;
    for (uint64_t level = 0; level < RHEA_LEVELS; level++)
        for (uint64_t i = 0; i < rhea_table[level].objects; i++)
            if (bly_put_hash(f, lab_key(series, key++), level + 1) < 0)
                lab_stop("put", bly_why());
    return f;
}

/* Counts objects reported farther than they are, or nowhere. */
static uint64_t rhea_farther(const bly_filter *f, uint64_t series)
{
    uint64_t key = 0, farther = 0, label;
    for (uint64_t level = 0; level < RHEA_LEVELS; level++)
        for (uint64_t i = 0; i < rhea_table[level].objects; i++)
            farther += !bly_get_hash(f, lab_key(series, key++), &label)
                    || label > level + 1;
    return farther;
}

/* ---- Levels ------------------------------------------------------------ */

typedef struct {
    size_t   filters;
    uint64_t asked, farther;
    double  *said[RHEA_LEVELS];         /* shares of strangers, by filter */
} rhea_shares;

static void rhea_ask(rhea_shares *r)
{
    r->farther = 0;
    for (size_t d = 0; d < RHEA_LEVELS; d++)
        r->said[d] = lab_allocate(r->filters * sizeof *r->said[d]);
    for (size_t i = 0; i < r->filters; i++) {
        bly_filter *f = rhea_new(2 * i);
        uint64_t label, count[RHEA_LEVELS] = { 0 };
        for (uint64_t j = 0; j < r->asked; j++)
            if (bly_get_hash(f, lab_key(2 * i + 1, j), &label))
                count[label - 1]++;
        for (size_t d = 0; d < RHEA_LEVELS; d++)
            r->said[d][i] = (double)count[d] / (double)r->asked;
        r->farther += rhea_farther(f, 2 * i);
        bly_free(f);
    }
}

static void rhea_levels(lab *l)
{
    rhea_shares r = { .filters = lab_pick(l, 5, 300, 3000),
                      .asked = lab_pick(l, 100, 20000, 100000) };
    double left = 1;
    rhea_ask(&r);
    lab_figure(l, "levels", "distance,objects,strangers,low,high,formula");
    for (size_t d = 0; d < RHEA_LEVELS; d++) {
        lab_measure s = lab_shares(r.said[d], r.filters, r.asked);
        lab_row(l, "%zu,%.0f,%.6g,%.6g,%.6g,%.6g", d + 1,
                (double)rhea_table[d].objects, s.value, s.low, s.high,
                left * rhea_table[d].rate);
        char what[96];
        snprintf(what, sizeof what, "rate of a level of %.0f objects, in 512 "
                 "bits", (double)rhea_table[d].objects);
        s = (lab_measure){ s.value / left, s.low / left, s.high / left };
        lab_number(l, what, rhea_table[d].rate, rhea_table[d].within, s);
        left *= 1 - rhea_table[d].rate;
        free(r.said[d]);
    }
    lab_says(l, "no object is said to be farther than it is, or nowhere",
             r.farther == 0, "%.0f of %.0f", (double)r.farther,
             (double)r.filters * 380);
}

/* ---- Four nodes -------------------------------------------------------- */

/* The network of the example: n4 - n1 - n2 - n3. Each link has a filter at
 * either end. [u][v] is u's knowledge of its link to v. */
enum { RHEA_NODES = 4, RHEA_DEPTH = 3 };

static const bool rhea_linked[RHEA_NODES][RHEA_NODES] = {
    { 0, 1, 0, 1 }, { 1, 0, 1, 0 }, { 0, 1, 0, 0 }, { 1, 0, 0, 0 },
};

typedef struct {
    bly_filter *own[RHEA_NODES];
    bly_filter *link[RHEA_NODES][RHEA_NODES];
    bly_filter *all[RHEA_NODES];        /* one for all links of a node */
} rhea_net;

static bly_filter *rhea_blank(unsigned bits)
{
    return lab_new(1000, 0, "attenuated:m=%u,k=%d,depth=%d", bits, RHEA_PROBES,
                   RHEA_DEPTH);
}

static void rhea_unite(bly_filter *into, const bly_filter *other, uint64_t at)
{
    if (bly_unite_at(into, other, at) < 0)
        lab_stop("unite", bly_why());
}

/* Returns v's message to u: its own objects, and what it knows of its other
 * links. */
static bly_filter *rhea_message(const rhea_net *net, unsigned bits, size_t v,
                                size_t u)
{
    bly_filter *message = rhea_blank(bits);
    rhea_unite(message, net->own[v], 1);
    for (size_t w = 0; w < RHEA_NODES; w++)
        if (w != u && rhea_linked[v][w])
            rhea_unite(message, net->link[v][w], 1);
    return message;
}

static void rhea_exchange(rhea_net *net, unsigned bits)
{
    bly_filter *sent[RHEA_NODES][RHEA_NODES];
    for (size_t u = 0; u < RHEA_NODES; u++)
        for (size_t v = 0; v < RHEA_NODES; v++)
            if (rhea_linked[u][v])
                sent[u][v] = rhea_message(net, bits, v, u);
    for (size_t u = 0; u < RHEA_NODES; u++)
        for (size_t v = 0; v < RHEA_NODES; v++)
            if (rhea_linked[u][v]) {
                bly_free(net->link[u][v]);
                net->link[u][v] = sent[u][v];
            }
}

/* Builds the network; each node has `objects` of its own series, series + its
 * number. */
static rhea_net rhea_build(unsigned bits, uint64_t series, uint64_t objects)
{
    rhea_net net = { .own = { NULL } };
    for (size_t u = 0; u < RHEA_NODES; u++) {
        net.own[u] = lab_new(1000, 0, "standard:m=%u,k=%d", bits, RHEA_PROBES);
        lab_fill(net.own[u], series + u, 0, objects);
        for (size_t v = 0; v < RHEA_NODES; v++)
            net.link[u][v] = rhea_blank(bits);
    }
    for (unsigned round = 0; round < RHEA_DEPTH; round++)
        rhea_exchange(&net, bits);
    for (size_t u = 0; u < RHEA_NODES; u++) {
        net.all[u] = rhea_blank(bits);
        for (size_t v = 0; v < RHEA_NODES; v++)
            if (rhea_linked[u][v] && bly_unite(net.all[u], net.link[u][v]) < 0)
                lab_stop("unite", bly_why());
    }
    return net;
}

static void rhea_free(rhea_net *net)
{
    for (size_t u = 0; u < RHEA_NODES; u++) {
        bly_free(net->own[u]);
        bly_free(net->all[u]);
        for (size_t v = 0; v < RHEA_NODES; v++)
            bly_free(net->link[u][v]);
    }
}

/* Returns the distance in hops, or 0 if unknown. */
static unsigned rhea_hops(const bly_filter *f, uint64_t key)
{
    uint64_t label = 0;
    return bly_get_hash(f, key, &label) ? (unsigned)label : 0;
}

/* Returns the link over which a key seems nearest, or RHEA_NODES. */
static size_t rhea_way(const rhea_net *net, size_t u, uint64_t key)
{
    size_t best = RHEA_NODES;
    unsigned least = RHEA_DEPTH + 1;
    for (size_t v = 0; v < RHEA_NODES; v++) {
        unsigned hops = rhea_linked[u][v] ? rhea_hops(net->link[u][v], key) : 0;
        if (hops > 0 && hops < least) {
            least = hops;
            best = v;
        }
    }
    return best;
}

/* The example: n1 looks for an object of n3 that n1, n2 and n4 neither have nor
 * seem to have, although n2 and n4 combined seem to. */
enum { RHEA_N1, RHEA_N2, RHEA_N3, RHEA_N4 };

static bool rhea_fits(const rhea_net *net, uint64_t key)
{
    return !bly_contains_hash(net->own[RHEA_N1], key)
        && !bly_contains_hash(net->own[RHEA_N2], key)
        && !bly_contains_hash(net->own[RHEA_N4], key)
        && rhea_hops(net->all[RHEA_N1], key) == 1;
}

static void rhea_tell(lab *l, const rhea_net *net, uint64_t key, unsigned tried)
{
    unsigned over2 = rhea_hops(net->link[RHEA_N1][RHEA_N2], key);
    unsigned over4 = rhea_hops(net->link[RHEA_N1][RHEA_N4], key);
    unsigned next = rhea_hops(net->link[RHEA_N2][RHEA_N3], key);
    size_t a = rhea_way(net, RHEA_N1, key), b = rhea_way(net, RHEA_N2, key);
    lab_says(l, "example: n1 finds an object of n3 at level 2 of its link to "
                "n2, and nowhere in that to n4", over2 == 2 && over4 == 0,
             "link to n2: level %u; link to n4: %s", over2,
             over4 == 0 ? "no level" : "some level");
    lab_says(l, "example: n2 finds it at level 1 of its link to n3", next == 1,
             "level %u", next);
    lab_says(l, "example: so the way is n1, n2, n3",
             a == RHEA_N2 && b == RHEA_N3
             && bly_contains_hash(net->own[RHEA_N3], key),
             "n1, n%zu, n%zu", a + 1, b + 1);
    unsigned all = rhea_hops(net->all[RHEA_N1], key);
    lab_says(l, "ours: an example of it: one filter for all links of n1 has an "
                "object of n3 at level 1, where it is not", all == 1,
             "level %u, where it seems to be at neither neighbour: the first "
             "such object of %u", all, tried);
}

/* Uses small filters and many objects, so that one is found soon. */
static void rhea_example(lab *l)
{
    enum { BITS = 64, OBJECTS = 8, SERIES = 8, NETS = 1000 };
    unsigned tried = 0;
    for (uint64_t net = 0; net < NETS; net++) {
        uint64_t series = SERIES + RHEA_NODES * net;
        rhea_net nodes = rhea_build(BITS, series, OBJECTS);
        for (uint64_t i = 0; i < OBJECTS; i++) {
            uint64_t key = lab_key(series + RHEA_N3, i);
            tried++;
            if (!rhea_fits(&nodes, key))
                continue;
            rhea_tell(l, &nodes, key, tried);
            rhea_free(&nodes);
            return;
        }
        rhea_free(&nodes);
    }
    lab_says(l, "ours: there is an example of it", false, "none of %u objects",
             tried);
}

/* Counts the strangers that n1 attributes to a neighbour. */
static void rhea_ways(lab *l)
{
    enum { NETS = 400 };
    size_t nets = lab_pick(l, 2, 60, NETS);
    uint64_t asked = lab_pick(l, 100, 20000, 100000);
    bool fewer = true;
    double times = INFINITY;
    lab_figure(l, "ways", "objects,a link,low,high,all links,low,high,"
                          "formula,formula");
    for (uint64_t objects = 10; objects <= 160; objects *= 2) {
        double apart[NETS], together[NETS];
        for (uint64_t i = 0; i < nets; i++) {
            uint64_t series = 8 * i, one = 0, all = 0;
            rhea_net net = rhea_build(RHEA_BITS, series, objects);
            for (uint64_t j = 0; j < asked; j++) {
                uint64_t key = lab_key(series + RHEA_NODES, j);
                one += rhea_hops(net.link[0][1], key) == 1
                    || rhea_hops(net.link[0][3], key) == 1;
                all += rhea_hops(net.all[0], key) == 1;
            }
            rhea_free(&net);
            apart[i] = (double)one / (double)asked;
            together[i] = (double)all / (double)asked;
        }
        lab_measure a = lab_shares(apart, nets, asked);
        lab_measure b = lab_shares(together, nets, asked);
        double n = (double)objects, p = lab_classic(RHEA_BITS, n, RHEA_PROBES);
        lab_row(l, "%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", n, a.value,
                a.low, a.high, b.value, b.low, b.high, 1 - (1 - p) * (1 - p),
                lab_classic(RHEA_BITS, 2 * n, RHEA_PROBES));
        fewer = fewer && a.high < b.low;
        times = fmin(times, b.value / a.value);
    }
    lab_says(l, "a filter for each link sends fewer astray than one for all "
                "links of a node", fewer,
             "%.2f times as many at least with one for all", times);
    rhea_example(l);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    rhea_levels(&l);
    rhea_ways(&l);
    return lab_close(&l);
}
