/* routing.c - finds the nearest copy of an object in a network without a map.
 *
 *   routing [--rates] GRAPH [DEPTH [REACH [RATE]]]
 *
 * GRAPH has lines "edge U V", "object U NAME" and "find U NAME"; nodes are
 * numbered from 0. Each node has a filter for each of its links that tells what
 * is beyond it, and in how many hops, up to DEPTH (4). Filters are made as
 * nodes would: DEPTH times, each sends each neighbour its own objects and what
 * it knows of its other links. A filter is planned for REACH objects (256)
 * beyond a link, and RATE (0.01). A query takes the link with the nearest copy,
 * and steps back if none has one.
 *
 * For each "find" it prints a line: "found NAME", or "NOTFOUND NAME", and all
 * nodes that the query visited. --rates prints instead, for each link, how
 * often it claims an absent object at each distance. */
#include <bloomery.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64, LINE = 256, HOPS = 4096, NODE_MOST = 10000000 };

typedef struct { size_t from, to; bly_filter *beyond; } link;
typedef struct { size_t node; char name[NAME]; } thing;
typedef struct { thing *all; size_t n; } things;

static size_t nodes;
static link *links;                     /* both directions, by `from`        */
static size_t link_count;
static size_t *first;                   /* link of each node, and one more   */
static things objects, finds;
static bly_filter **own;                /* objects of each node; or NULL     */
static bool *visited;                   /* nodes, by the current query       */

static unsigned depth = 4;
static bly_spec spec = { .capacity = 256, .rate = 0.01 };

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "routing: %s: %s\n", what, why);
    return 2;
}

/* ---- The graph ----------------------------------------------------------- */

/* Makes room for one more: doubles at each power of two. */
static void *grow(void *array, size_t n, size_t bytes)
{
    if (n > 0 && (n & (n - 1)) != 0)
        return array;
    void *more = realloc(array, (n == 0 ? 1 : 2 * n) * bytes);
    if (more == NULL)
        exit(stop("the graph", strerror(ENOMEM)));
    return more;
}

static void add_thing(things *to, size_t node, const char *name)
{
    to->all = grow(to->all, to->n, sizeof *to->all);
    to->all[to->n] = (thing){ .node = node };
    snprintf(to->all[to->n++].name, NAME, "%s", name);
}

static bool read_node(size_t *node, const char *text)
{
    char *end;
    *node = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || *node >= NODE_MOST)
        return false;
    nodes = *node < nodes ? nodes : *node + 1;
    return true;
}

static bool read_line(const char *line)
{
    char verb[NAME], a[NAME], b[NAME], more;
    size_t u, v;
    int words = sscanf(line, "%63s %63s %63s %c", verb, a, b, &more);
    if (words != 3 || !read_node(&u, a))
        return words == EOF;            /* an empty line                     */
    if (strcmp(verb, "edge") == 0) {
        if (!read_node(&v, b) || u == v)
            return false;
        links = grow(links, link_count / 2, 2 * sizeof *links);
        links[link_count++] = (link){ .from = u, .to = v };
        links[link_count++] = (link){ .from = v, .to = u };
        return true;
    }
    if (strcmp(verb, "object") != 0 && strcmp(verb, "find") != 0)
        return false;
    add_thing(verb[0] == 'o' ? &objects : &finds, u, b);
    return true;
}

static int read_graph(const char *path)
{
    char line[LINE], where[32];
    unsigned long number = 0;
    FILE *file = fopen(path, "r");
    bool good = true;
    for (; file != NULL && good && fgets(line, sizeof line, file); number++)
        good = (line[strcspn(line, "\n")] != '\0' || feof(file)) &&
               read_line(line);
    snprintf(where, sizeof where, "line %lu", number);
    int failed = file == NULL || ferror(file) ? stop(path, strerror(errno))
               : !good ? stop(where, "it is not: edge U V, object U NAME or "
                              "find U NAME, of nodes below 10000000") : 0;
    if (file != NULL)
        fclose(file);
    return failed;
}

static int order(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_ends(const void *a, const void *b)
{
    const link *x = a, *y = b;
    return x->from != y->from ? order(x->from, y->from) : order(x->to, y->to);
}

static int by_place(const void *a, const void *b)
{
    const thing *x = a, *y = b;
    return x->node != y->node ? order(x->node, y->node)
                              : strcmp(x->name, y->name);
}

/* Sorts links, without duplicates. */
static void order_graph(void)
{
    size_t n = 0;
    first = calloc(nodes + 1, sizeof *first);
    own = calloc(nodes + 1, sizeof(bly_filter *));
    visited = calloc(nodes + 1, sizeof *visited);
    if (first == NULL || own == NULL || visited == NULL)
        exit(stop("the graph", strerror(ENOMEM)));
    if (link_count > 0)
        qsort(links, link_count, sizeof *links, by_ends);
    for (size_t i = 0; i < link_count; i++)
        if (n == 0 || by_ends(&links[n - 1], &links[i]) != 0)
            links[n++] = links[i];
    link_count = n;
    for (size_t i = 0; i < n; i++)
        first[links[i].from + 1]++;
    for (size_t i = 0; i < nodes; i++)
        first[i + 1] += first[i];
    if (objects.n > 0)
        qsort(objects.all, objects.n, sizeof *objects.all, by_place);
}

/* ---- Messages of nodes --------------------------------------------------- */

static bool make_filters(void)
{
    char kind[64];
    snprintf(kind, sizeof kind, "attenuated:of=standard,depth=%u", depth);
    for (size_t i = 0; i < link_count; i++)
        if (bly_new(&links[i].beyond, kind, &spec) < 0)
            return false;
    for (size_t i = 0; i < objects.n; i++) {
        const thing *t = &objects.all[i];
        bly_filter **to = &own[t->node];
        if ((*to == NULL && bly_new(to, "standard", &spec) < 0) ||
            bly_add(*to, t->name, strlen(t->name)) < 0)
            return false;
    }
    return true;
}

/* Takes the message of the node behind this link: its objects, and what it
 * knows of its other links, one hop farther. */
static bool take_message(const link *l)
{
    if (own[l->to] != NULL && bly_unite_at(l->beyond, own[l->to], 1) < 0)
        return false;
    for (size_t i = first[l->to]; i < first[l->to + 1]; i++)
        if (links[i].to != l->from &&
            bly_unite_at(l->beyond, links[i].beyond, 1) < 0)
            return false;
    return true;
}

static bool exchange(void)
{
    bool good = true;
    for (unsigned round = 0; good && round < depth; round++)
        for (size_t i = 0; good && i < link_count; i++)
            good = take_message(&links[i]);
    return good;
}

/* Prints how often a link claims an absent object at each distance. */
static bool print_rate(void *context, const bly_label_t *level)
{
    (void)context;
    printf(" %.6g", level->rate);
    return true;
}

static bool print_rates(void)
{
    bool good = true;
    for (size_t i = 0; good && i < link_count; i++) {
        printf("%zu %zu", links[i].from, links[i].to);
        good = bly_list_labels(links[i].beyond, print_rate, NULL) == BLY_OK;
        putchar('\n');
    }
    return good;
}

/* ---- Queries ------------------------------------------------------------- */

static bool has_object(size_t node, const thing *what)
{
    thing wanted = *what;
    wanted.node = node;
    return objects.n > 0 && bsearch(&wanted, objects.all, objects.n,
                                    sizeof wanted, by_place) != NULL;
}

/* Returns the link to an unvisited node with the nearest copy, or
 * link_count. */
static size_t best_link(size_t node, const char *name)
{
    size_t best = link_count;
    uint64_t nearest = UINT64_MAX, far;
    for (size_t i = first[node]; i < first[node + 1]; i++)
        if (!visited[links[i].to] &&
            bly_get(links[i].beyond, name, strlen(name), &far) &&
            far < nearest) {
            best = i;
            nearest = far;
        }
    return best;
}

/* Follows a link that has it, or steps back. `way` is the path to the current
 * node, `gone` all nodes visited, in order. */
static bool find(const thing *what, size_t *gone, size_t *hops)
{
    static size_t way[HOPS];
    size_t n = 1, to;
    way[0] = gone[0] = what->node;
    *hops = 0;
    visited[what->node] = true;
    while (!has_object(way[n - 1], what) && *hops + 1 < HOPS) {
        to = best_link(way[n - 1], what->name);
        if (to < link_count)
            way[n++] = links[to].to;
        else if (--n == 0)
            break;
        gone[++*hops] = way[n - 1];
        visited[way[n - 1]] = true;
    }
    for (size_t i = 0; i <= *hops; i++)
        visited[gone[i]] = false;
    return n > 0 && has_object(way[n - 1], what);
}

static void answer(void)
{
    static size_t gone[HOPS];
    for (size_t i = 0; i < finds.n; i++) {
        size_t hops;
        bool found = find(&finds.all[i], gone, &hops);
        printf("%s %s", found ? "found" : "NOTFOUND", finds.all[i].name);
        for (size_t h = 0; h <= hops; h++)
            printf(" %zu", gone[h]);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    bool rates = argc > 1 && strcmp(argv[1], "--rates") == 0;
    argv += rates, argc -= rates;
    if (argc < 2 || argc > 5)
        return stop("usage", "routing [--rates] GRAPH [DEPTH [REACH [RATE]]]");
    char more;
    if ((argc > 2 && sscanf(argv[2], "%2u%c", &depth, &more) != 1) ||
        (argc > 3 && sscanf(argv[3], "%15" SCNu64 "%c", &spec.capacity,
                            &more) != 1) ||
        (argc > 4 && sscanf(argv[4], "%lf%c", &spec.rate, &more) != 1))
        return stop("usage", "numbers: DEPTH, 1 to 64, REACH and RATE");
    if (read_graph(argv[1]) != 0)
        return 2;
    order_graph();
    if (!make_filters() || !exchange() || (rates && !print_rates()))
        return stop("the filters", bly_why());
    if (!rates)
        answer();
    return (fflush(stdout) | ferror(stdout)) != 0
         ? stop("standard output", strerror(errno)) : 0;
}
