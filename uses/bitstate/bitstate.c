/* bitstate.c - searches all states of a model, remembering seen states in a
 * filter, and prints the way to an error.
 *
 *   bitstate MODEL.so [--bits N] [--probes K] [--seed S] [--breadth]
 *            [--kind KIND] [--states N] [--rate P] [--list FILE]
 *
 * MODEL.so is described in model.h. A state takes K bits (3) of N (2^27), or as
 * --kind says. A new state that the filter takes for seen is skipped, with
 * everything reachable only through it: states may be missed, but reported
 * errors are real. The search is depth-first and stores only the current path;
 * --breadth stores all states and gives short ways to errors. The exit status
 * is 1 if an error was found. --list writes all states to FILE.
 */
#include <bloomery.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { LINE = 4096, FIRST_LOOK = 1024 };
static const double look_again = 1.1;   /* whenever states grew this much    */

static const bitstate_model *m;
static bly_filter *seen;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "bitstate: %s: %s\n", what, why);
    return 2;
}

/* ---- Options ------------------------------------------------------------- */

typedef struct {
    const char *model, *kind, *list;
    double bits, probes, seed, states, rate;
    bool   breadth;
} options;

static bool number(double *out, const char *text, double least)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= least && *out <= 1e18;
}

static int read_option(options *o, const char *name, const char *value)
{
    bool good = true;
    if (strcmp(name, "--bits") == 0)
        good = number(&o->bits, value, 1);
    else if (strcmp(name, "--probes") == 0)
        good = number(&o->probes, value, 1);
    else if (strcmp(name, "--seed") == 0)
        good = number(&o->seed, value, 0);
    else if (strcmp(name, "--states") == 0)
        good = number(&o->states, value, 1);
    else if (strcmp(name, "--rate") == 0)
        good = number(&o->rate, value, 0);
    else if (strcmp(name, "--kind") == 0)
        o->kind = value;
    else if (strcmp(name, "--list") == 0)
        o->list = value;
    else
        return stop(name, "there is no such option");
    return good ? 0 : stop(name, "another number is wanted");
}

static int read_options(options *o, int argc, char **argv)
{
    *o = (options){ .bits = 1 << 27, .probes = 3 };
    if (argc < 2)
        return stop("usage", "bitstate MODEL.so [--bits N] [--probes K] "
                    "[--seed S] [--breadth] [--kind KIND] [--states N] "
                    "[--rate P] [--list FILE]");
    o->model = argv[1];
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--breadth") == 0) {
            o->breadth = true;
            continue;
        }
        if (i + 1 == argc)
            return stop(argv[i], "a value is wanted behind it");
        int failed = read_option(o, argv[i], argv[i + 1]);
        if (failed != 0)
            return failed;
        i++;
    }
    return 0;
}

static int make_filter(const options *o)
{
    char kind[128];
    bly_spec spec = { .seed = (uint64_t)o->seed, .rate = o->rate,
                      .capacity = (uint64_t)o->states };
    snprintf(kind, sizeof kind, "standard:m=%.0f,k=%.0f", o->bits, o->probes);
    if (bly_new(&seen, o->kind != NULL ? o->kind : kind, &spec) < 0)
        return stop("the filter", bly_why());
    if ((bly_can(seen) & BLY_CAN_CONTAINS) == 0)
        return stop(o->kind, "it cannot be asked");
    return 0;
}

static int load_model(const char *path)
{
    char here[LINE];                    /* else libraries are searched       */
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *object = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        return stop("the model", dlerror());
    m = dlsym(object, "model");
    return m == NULL || m->state_bytes == 0
         ? stop(path, "it has no model: see model.h") : 0;
}

/* ---- Stored states ------------------------------------------------------- */

/* The state's predecessor, and its next step to try. */
typedef struct { size_t before; unsigned step; } place;

/* Depth-first: the way to the newest state. Breadth-first: all states; those
 * from `head` on have steps left. */
typedef struct {
    unsigned char *states;
    place *places;
    size_t n, room, head;
} trail;

static unsigned char *state_at(const trail *t, size_t i)
{
    return t->states + i * m->state_bytes;
}

static bool push(trail *t, const void *state, size_t before)
{
    if (t->n == t->room) {
        size_t room = t->room == 0 ? 1024 : 2 * t->room;
        void *states = realloc(t->states, room * m->state_bytes);
        if (states == NULL)
            return false;
        t->states = states;
        void *places = realloc(t->places, room * sizeof *t->places);
        if (places == NULL)
            return false;
        t->places = places;
        t->room = room;
    }
    memcpy(state_at(t, t->n), state, m->state_bytes);
    t->places[t->n++] = (place){ before, 0 };
    return true;
}

static void print_state(FILE *to, const void *state)
{
    char text[LINE] = "";
    m->show(state, text, sizeof text);
    fprintf(to, "%s\n", text);
}

/* Prints the way from the first state to this one, by reversing it first. */
static void print_way(const trail *t, size_t last)
{
    size_t *way = malloc(t->n * sizeof *way), n = 0;
    if (way == NULL)
        return;
    for (size_t i = last; ; i = t->places[i].before) {
        way[n++] = i;
        if (i == 0)
            break;
    }
    for (size_t i = n; i-- > 0; ) {
        printf("step %zu: ", n - 1 - i);
        print_state(stdout, state_at(t, way[i]));
    }
    free(way);
}

/* ---- Search -------------------------------------------------------------- */

/* A new state is taken for seen at the current rate f: for each one found, f /
 * (1 - f) were missed. */
typedef struct {
    uint64_t found, steps, errors;
    double   odds, missed, looked, look_at;
} counts;

static void look(counts *c)
{
    bly_info_t now;
    if (bly_info(&now, seen) < 0)
        return;
    double odds = now.rate / (1 - now.rate);
    c->missed += ((double)c->found - c->looked) * (c->odds + odds) / 2;
    c->odds = odds;
    c->looked = (double)c->found;
    c->look_at = c->looked * look_again;
}

/* Returns 1 if the state is new and stored, 0 if seen, 2 without memory or
 * room. */
static int visit(trail *t, counts *c, const void *state, size_t before,
                 FILE *list)
{
    bly_status status = bly_add(seen, state, m->state_bytes);
    if (status == BLY_SEEN)
        return 0;
    if (status < 0)
        return stop("the filter", bly_why());
    if (!push(t, state, before))
        return stop("the states", strerror(ENOMEM));
    if ((double)++c->found >= c->look_at)
        look(c);
    if (list != NULL)
        print_state(list, state);
    const char *wrong = m->wrong(state);
    if (wrong != NULL && c->errors++ == 0) {
        printf("error: %s\n", wrong);
        print_way(t, t->n - 1);
    }
    return 1;
}

static int search(trail *t, counts *c, bool breadth, FILE *list)
{
    unsigned char *state = malloc(m->state_bytes);
    if (state == NULL)
        return stop("a state", strerror(ENOMEM));
    m->begin(state);
    int done = visit(t, c, state, 0, list);
    while (done != 2 && t->head < t->n) {
        size_t at = breadth ? t->head : t->n - 1;
        if (m->next(state_at(t, at), t->places[at].step++, state)) {
            c->steps++;
            done = visit(t, c, state, at, list);
        } else if (breadth) {
            t->head++;
        } else {
            t->n--;
        }
    }
    free(state);
    return done == 2 ? 2 : 0;
}

/* ---- Results ------------------------------------------------------------- */

static void tell(counts *c)
{
    bly_info_t now;
    look(c);
    if (bly_info(&now, seen) < 0)
        return;
    double bits = 8.0 * (double)now.bytes;
    if (strcmp(now.kind, "standard") == 0)
        bits = (double)now.geometry[0];
    printf("states: %llu\nsteps: %llu\nerrors: %llu\n",
           (unsigned long long)c->found, (unsigned long long)c->steps,
           (unsigned long long)c->errors);
    printf("bits: %.0f\nhash factor: %.2f\nrate at the end: %.3g\n"
           "missed, expected: %.3g\n", bits, bits / (double)c->found, now.rate,
           c->missed);
}

int main(int argc, char **argv)
{
    options o;
    trail t = { 0 };
    counts c = { .look_at = FIRST_LOOK };
    FILE *list = NULL;
    if (read_options(&o, argc, argv) != 0 || load_model(o.model) != 0 ||
        make_filter(&o) != 0)
        return 2;
    if (o.list != NULL && (list = fopen(o.list, "w")) == NULL)
        return stop(o.list, strerror(errno));
    int failed = search(&t, &c, o.breadth, list);
    if (failed == 0)
        tell(&c);
    free(t.states);
    free(t.places);
    bly_free(seen);
    if (list != NULL && (ferror(list) | fclose(list)) != 0)
        return stop(o.list, "it cannot be written");
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed != 0 ? failed : c.errors > 0;
}
