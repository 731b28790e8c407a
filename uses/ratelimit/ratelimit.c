/* ratelimit.c - limits the number of different events of a sender in a period.
 *
 *   ratelimit LIMIT SECONDS [--all] <EVENTS
 *
 * An event is a line "TIME SENDER EVENT"; a sender's events come in order. When
 * a sender's rate, in events per SECONDS, rises above LIMIT, the time, the
 * sender and the rate are printed; with --all after each event, followed by 1
 * if the event was counted, else 0.
 */
#include <bloomery.h>

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    bly_filter *events;                 /* of this period                    */
    double      period, last, rate;     /* its start, the last event         */
} sender;

static void *senders;                   /* a tree, by name                   */
static bly_filter *empty;
static double limit, seconds;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "ratelimit: %s: %s\n", what, why);
    return 2;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const sender *)a)->name, ((const sender *)b)->name);
}

/* Returns NULL without memory. */
static sender *find(const char *name)
{
    const sender like = { .name = name };
    void *found = tfind(&like, &senders, by_name);
    if (found != NULL)
        return *(sender **)found;
    sender *s = calloc(1, sizeof *s);
    char *own = strdup(name);
    if (s == NULL || own == NULL)
        return NULL;
    s->name = own;
    return tsearch(s, &senders, by_name) == NULL ? NULL : s;
}

/* ---- The rate ------------------------------------------------------------ */

/* The old rate decays, and the new one is that of `count` events since then; a
 * single event after a long time counts as one per period. */
static void measure(sender *s, double now, double count)
{
    double periods = fmax(now - s->last, 1e-9) / seconds;
    double old = exp(-periods);
    s->rate = (1 - old) * count / periods + old * s->rate;
    if (s->rate < count)
        s->rate = count;
}

static bly_status take(sender *s, double now, const char *event, bool *counted)
{
    bool first = s->events == NULL;
    if (first || now - s->period > seconds) {
        bly_filter *fresh = NULL;
        bly_status status = bly_like(&fresh, empty, NULL);
        if (status < 0)
            return status;
        bly_free(s->events);
        s->events = fresh;
        s->period = now;
    }
    bly_status status = bly_add(s->events, event, strlen(event));
    if (status < 0)
        return status;
    *counted = status == BLY_OK;
    if (first)
        s->rate = 1;
    else
        measure(s, now, *counted);
    s->last = now;
    return BLY_OK;
}

/* ---- Events -------------------------------------------------------------- */

/* Cuts the line into three; returns false if it has fewer parts. */
static bool cut(char *line, double *now, char **name, char **event)
{
    char *end, *rest;
    line[strcspn(line, "\r\n")] = '\0';
    *now = strtod(line, &end);
    if (end == line || !isfinite(*now) || (*end != ' ' && *end != '\t'))
        return false;
    *end++ = '\0';                      /* leaves the time in the line       */
    *name = strtok_r(end, " \t", &rest);
    *event = *name == NULL || rest == NULL ? NULL : rest + strspn(rest, " \t");
    return *event != NULL && **event != '\0';
}

/* Returns NULL, or the error. */
static const char *one_event(char *line, bool all)
{
    double now;
    char *name, *event;
    if (!cut(line, &now, &name, &event))
        return "TIME SENDER EVENT is wanted";
    sender *s = find(name);
    if (s == NULL)
        return "no memory";
    if (s->events != NULL && now < s->last)
        return "the time is before that of the sender's last event";
    double before = s->rate;
    bool counted = false;
    if (take(s, now, event, &counted) < 0)
        return bly_why();
    if (all)
        printf("%s %s %.6f %d\n", line, name, s->rate, counted);
    else if (before <= limit && s->rate > limit)
        printf("%s %s %.2f\n", line, name, s->rate);
    return NULL;
}

static int read_events(bool all)
{
    char *line = NULL, what[40];
    size_t room = 0;
    unsigned long number = 0;
    const char *wrong = NULL;
    while (wrong == NULL && getline(&line, &room, stdin) >= 0) {
        wrong = one_event(line, all);
        number++;
    }
    free(line);
    snprintf(what, sizeof what, "line %lu", number);
    return wrong != NULL ? stop(what, wrong)
         : ferror(stdin) ? stop("standard input", "cannot be read") : 0;
}

/* ---- The command line ---------------------------------------------------- */

static bool read_number(double *out, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out > 0 && *out <= 1e8;
}

int main(int argc, char **argv)
{
    bool all = argc == 4 && strcmp(argv[3], "--all") == 0;
    if (argc != 3 && !all)
        return stop("usage", "ratelimit LIMIT SECONDS [--all] <EVENTS");
    if (!read_number(&limit, argv[1]) || limit < 1)
        return stop(argv[1], "how many events are allowed? 1 to 1e8");
    if (!read_number(&seconds, argv[2]))
        return stop(argv[2], "in how many seconds?");
    bly_spec spec = { .capacity = (uint64_t)limit };
    if (bly_new(&empty, "exim", &spec) < 0)
        return stop("the filter", bly_why());
    setvbuf(stdout, NULL, _IOLBF, 0);   /* for events that arrive one by one */
    int failed = read_events(all);
    bly_free(empty);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
