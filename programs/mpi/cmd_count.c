/* cmd_count.c - `bloomery-mpi count`: sums over members, by gossip.
 *
 * The lines are brought to the ranks that have their members (events.c), nodes
 * talk to each other for some rounds (gossip.c), each adds up what it is told
 * (node.c), and rank 0 shows what they believe beside what is true. Floor 8
 * (programs); includes count.h and <bloomery.h> only.
 */
#include "mpi/count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At most: each node keeps a number for each other one, 32 GiB in all. */
enum { COUNT_NODES = 1 << 16, COUNT_EPOCHS = 1 << 16 };

typedef struct {
    cli_how  how;
    uint64_t epochs, nodes, rounds, repeat, bits, probes, seed;
    const char *kind;
    double   rate;
    bool     verbose, json;
} count_settings;

typedef struct {
    const count_settings *want;
    share    share;
    events   events;
    gossip  *gossip;
    uint64_t sent;              /* by all ranks, in all epochs             */
} count_job;

/* What is to be told of an epoch. */
typedef struct {
    uint64_t   epoch, sent;
    node_sums  truth, first, worst;
    uint64_t   worst_node;
    double     error_mean, error_most;
    node_tally tally;           /* of this epoch, all ranks                */
    double     seconds;
} count_epoch;

static const cli_option count_options[] = {
    { 'l', "label", "N", CLI_ITEMS, offsetof(count_settings, how.label), false,
      "Column N is the value. Default: 2." },
    { 'f', "field", "N", CLI_ITEMS, offsetof(count_settings, how.field), false,
      "Column N is the member's name. Without it the name is all that stands "
      "before the value's column, or, where that is the first one, all behind "
      "it." },
    { 't', "separator", "C", CLI_BYTE, offsetof(count_settings, how.separator),
      false, "The byte between columns: a single byte, or one of \\t \\n \\r "
      "\\0 \\\\ \\xHH. Default: TAB." },
    { '0', "null", NULL, CLI_FLAG, offsetof(count_settings, how.null), false,
      "Lines end with a NUL byte instead of a newline." },
    { 0, "epochs", "N", CLI_ITEMS, offsetof(count_settings, epochs), false,
      "Take the lines in N equal portions, in their order; after each the "
      "nodes talk, and the result is shown. Default: 1." },
    { 0, "nodes", "N", CLI_ITEMS, offsetof(count_settings, nodes), false,
      "So many nodes, spread over the ranks. Default: one in each rank." },
    { 0, "rounds", "N", CLI_ITEMS, offsetof(count_settings, rounds), false,
      "Rounds in each epoch: in a round every node sends one message. Default: "
      "as many as there are nodes, so that all have talked to all." },
    { 'p', "rate", "RATE", CLI_RATE, offsetof(count_settings, rate), false,
      "The false-positive rate of the filters. Default: so that in all nodes "
      "together a thousandth of a member is counted wrong." },
    { 'k', "kind", "KIND", CLI_TEXT, offsetof(count_settings, kind), false,
      "The kind of the two filters that values leave again: counting (the "
      "default), or a smaller one such as cuckoo." },
    { 0, "bits", "N", CLI_ITEMS, offsetof(count_settings, bits), false,
      "Instead of a rate: N bits or counters for an entry of a filter, of "
      "which it sets --probes." },
    { 0, "probes", "N", CLI_ITEMS, offsetof(count_settings, probes), false,
      "See --bits." },
    { 's', "seed", "SEED", CLI_SEED, offsetof(count_settings, seed), false,
      "The seed of who talks to whom. Default: 0." },
    { 0, "repeat", "N", CLI_ITEMS, offsetof(count_settings, repeat), false,
      "Send each message N times, as a bad network would: the result is the "
      "same." },
    { 'v', "verbose", NULL, CLI_FLAG, offsetof(count_settings, verbose), false,
      "Say on standard error how large the filters are and how much was sent, "
      "beside what the formula says." },
    { 0, "json", NULL, CLI_FLAG, offsetof(count_settings, json), false,
      "Print the result as JSON." },
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example count_examples[] = {
    { "printf '%s\\t%s\\n' web1 12 web2 30 web1 15 web3 8 web2 - >load",
      "Five messages of three machines: web1 says 12 and later 15, and web2 "
      "leaves." },
    { "mpirun -n 4 bloomery-mpi count load",
      "What four nodes believe in the end: two members, web1 and web3, with a "
      "sum of 23." },
    { "mpirun -n 4 bloomery-mpi count --epochs 5 --nodes 60 -v load.*.tsv",
      "Five portions of the lines, one after another, among 60 nodes." },
    { NULL, NULL }
};

/* ==== Numbers =========================================================== */

/* A value as it was given, "-0.25". */
static cli_text count_decimal(int64_t value, unsigned digits)
{
    uint64_t n = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1;
    const char *sign = value < 0 ? "-" : "";
    cli_text t;

    for (unsigned i = 0; i < digits; i++)
        unit *= 10;
    if (digits == 0)
        snprintf(t.text, sizeof t.text, "%s%llu", sign, (unsigned long long)n);
    else
        snprintf(t.text, sizeof t.text, "%s%llu.%0*llu", sign,
                 (unsigned long long)(n / unit), (int)digits,
                 (unsigned long long)(n % unit));
    return t;
}

static double count_real(int64_t value, unsigned digits)
{
    return (double)value / pow(10, digits);
}

/* NaN: of no members. */
static double count_mean(const node_sums *s, unsigned digits)
{
    return count_real((int64_t)s->sum, digits) / (double)(int64_t)s->count;
}

static bool count_any(const node_sums *s)
{
    return s->least <= s->most;
}

/* Of the sum, relative to the true one; in units, where that is 0. */
static double count_error(const node_sums *believed, const node_sums *truth)
{
    double off = (double)(int64_t)(believed->sum - truth->sum);

    return fabs(truth->sum == 0 ? off : off / (double)(int64_t)truth->sum);
}

/* ==== An epoch ========================================================== */

static node_sums count_truth(const gossip *g)
{
    node_sums t = gossip_truth(g);
    const uint64_t sign = UINT64_C(1) << 63;        /* keeps the order */

    t.count = job_sum(t.count);
    t.sum = job_sum(t.sum);
    t.most = (int64_t)(job_most((uint64_t)t.most ^ sign) ^ sign);
    t.least = (int64_t)~(job_most(~((uint64_t)t.least ^ sign)) ^ sign);
    return t;
}

static node_tally count_tally(const gossip *g)
{
    node_tally t = gossip_tally(g);
    uint64_t *const all[] = { &t.first, &t.replaced, &t.same, &t.unsuccessful,
                              &t.repeated, &t.messages };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = job_sum(*all[i]);
    return t;
}

static node_tally count_since(node_tally now, const node_tally *before)
{
    now.first -= before->first;
    now.replaced -= before->replaced;
    now.same -= before->same;
    now.unsuccessful -= before->unsuccessful;
    now.repeated -= before->repeated;
    now.messages -= before->messages;
    return now;
}

/* Rank 0 compares what the nodes believe. */
static void count_compare(count_epoch *e, const node_sums *views,
                          uint64_t nodes)
{
    e->first = e->worst = views[0];
    for (uint64_t i = 0; i < nodes; i++) {
        double error = count_error(&views[i], &e->truth);

        e->error_mean += error / (double)nodes;
        if (error > e->error_most) {
            e->error_most = error;
            e->worst = views[i];
            e->worst_node = i;
        }
    }
}

static void count_run_epoch(count_job *job, count_epoch *e)
{
    node_tally before = count_tally(job->gossip);
    double start = report_clock();
    uint64_t sent = exchange_sent;
    node_sums *views;

    gossip_events(job->gossip, &job->events, e->epoch);
    for (uint64_t i = 0; i < job->want->rounds; i++)
        gossip_round(job->gossip);
    e->seconds = report_clock() - start;
    e->sent = job_sum(exchange_sent - sent);
    e->tally = count_since(count_tally(job->gossip), &before);
    e->truth = count_truth(job->gossip);
    views = gossip_views(job->gossip);
    if (views != NULL)
        count_compare(e, views, job->want->nodes);
    free(views);
    job->sent += e->sent;
}

/* ==== The report ======================================================== */

static uint64_t count_reports(const node_tally *t)
{
    return t->first + t->replaced + t->same + t->unsuccessful;
}

/* What should be sent, where nodes on other ranks take a share `away`: (2) of
 * docs/cluster.md's section, with the numbers of the epoch. */
static double count_formula(const count_job *job, const node_tally *t)
{
    double nodes = (double)job->want->nodes, near = 0;
    double repeat = (double)job->want->repeat;

    for (int r = 0; r < job_ranks; r++)
        near += pow((double)(gossip_first(job->want->nodes, r + 1)
                             - gossip_first(job->want->nodes, r)) / nodes, 2);
    return (1 - near) * ((17 * repeat + 1) * (double)count_reports(t)
                         + 8 * repeat * (double)t->replaced
                         + 24 * (double)t->messages);
}

static void count_line(const char *who, const node_sums *s, unsigned digits)
{
    cli_text mean, least = { "-" }, most = { "-" };

    snprintf(mean.text, sizeof mean.text, "%.6g", count_mean(s, digits));
    if (s->count == 0)
        snprintf(mean.text, sizeof mean.text, "-");
    if (count_any(s)) {
        least = count_decimal(s->least, digits);
        most = count_decimal(s->most, digits);
    }
    output_format("%-16s %12lld %20s %14s %12s %12s\n", who,
                  (long long)s->count,
                  count_decimal((int64_t)s->sum, digits).text, mean.text,
                  least.text, most.text);
}

static void count_text_error(const count_epoch *e, unsigned digits)
{
    double unit = pow(10, -(double)digits);

    if (e->truth.sum == 0 && e->error_most > 0)
        output_format("error of the sum, which is 0: %.4g in the mean, %.4g at "
                      "most\n", unit * e->error_mean, unit * e->error_most);
    else
        output_format("error of the sum: %.4g %% in the mean, %.4g %% at "
                      "most\n", 100 * e->error_mean, 100 * e->error_most);
}

static void count_text(const count_job *job, const count_epoch *e)
{
    const node_tally *t = &e->tally;
    unsigned digits = job->events.digits;
    char who[40];

    snprintf(who, sizeof who, "epoch %llu of %llu",
             (unsigned long long)e->epoch + 1,
             (unsigned long long)job->want->epochs);
    output_format("%-16s %12s %20s %14s %12s %12s\n", who, "members", "sum",
                  "mean", "least", "largest");
    count_line("true", &e->truth, digits);
    count_line("node 0", &e->first, digits);
    snprintf(who, sizeof who, "node %llu, worst",
             (unsigned long long)e->worst_node);
    if (e->error_most > 0)
        count_line(who, &e->worst, digits);
    count_text_error(e, digits);
    output_format("reports: %s first, %s replaced, %s the same, %s "
                  "unsuccessful\n", report_count(t->first).text,
                  report_count(t->replaced).text, report_count(t->same).text,
                  report_count(t->unsuccessful).text);
    if (e->epoch + 1 < job->want->epochs)
        output_text("\n");
}

static void count_say(const count_job *job, const count_epoch *e)
{
    const node_tally *t = &e->tally;

    report_note("epoch %llu: %s messages (%s came again and were dropped), %s "
                "reports in %s; %s sent (formula %s)",
                (unsigned long long)e->epoch + 1,
                report_count(t->messages).text, report_count(t->repeated).text,
                report_count(count_reports(t)).text,
                report_seconds(e->seconds).text, report_bytes(e->sent).text,
                report_estimate(count_formula(job, t)).text);
}

static void count_json_sums(const char *key, const node_sums *s,
                            unsigned digits)
{
    bool any = count_any(s);

    json_open_object(key);
    json_count("members", s->count);
    json_real("sum", count_real((int64_t)s->sum, digits));
    json_real("mean", count_mean(s, digits));
    json_real("least", any ? count_real(s->least, digits) : NAN);
    json_real("largest", any ? count_real(s->most, digits) : NAN);
    json_close_object();
}

static void count_json_epoch(const count_job *job, const count_epoch *e)
{
    const node_tally *t = &e->tally;
    unsigned digits = job->events.digits;
    bool relative = e->truth.sum != 0 || !(e->error_most > 0);

    json_open_object(NULL);
    json_count("epoch", e->epoch + 1);
    count_json_sums("true", &e->truth, digits);
    count_json_sums("node_0", &e->first, digits);
    count_json_sums("worst", &e->worst, digits);
    json_count("worst_node", e->worst_node);
    json_real("error_mean", relative ? e->error_mean : NAN);
    json_real("error_most", relative ? e->error_most : NAN);
    json_count("reports", count_reports(t));
    json_count("first", t->first);
    json_count("replaced", t->replaced);
    json_count("same", t->same);
    json_count("unsuccessful", t->unsuccessful);
    json_count("messages", t->messages);
    json_count("repeated", t->repeated);
    json_real("seconds", e->seconds);
    json_count("sent_bytes", e->sent);
    json_real("sent_bytes_formula", count_formula(job, t));
    json_close_object();
}

static void count_open_json(const count_job *job, uint64_t memory)
{
    const node_plan *plan = gossip_settled(job->gossip);

    json_open_object(NULL);
    json_count("ranks", (uint64_t)job_ranks);
    json_count("nodes", plan->nodes);
    json_count("members", plan->members);
    json_count("lines", job->events.lines);
    json_count("keyless", job->events.keyless);
    json_real("rate", plan->probes == 0 ? plan->rate : NAN);
    json_count("filter_bytes", memory);
    json_count("brought_bytes", job->events.sent);
    json_open_array("epochs");
}

static void count_close_json(const count_job *job)
{
    json_close_array();
    json_count("sent_bytes", job->sent);
    json_close_object();
}

static void count_say_plan(const count_job *job, uint64_t memory)
{
    const node_plan *plan = gossip_settled(job->gossip);
    char filters[64];

    snprintf(filters, sizeof filters, "at a rate of %.3g", plan->rate);
    if (plan->probes > 0)
        snprintf(filters, sizeof filters, "of %llu bits and %llu probes",
                 (unsigned long long)plan->bits,
                 (unsigned long long)plan->probes);
    report_note("%s lines of %s members, brought to %llu nodes on %d ranks: %s "
                "sent; filters %s: %s in all",
                report_count(job->events.lines).text,
                report_count(plan->members).text,
                (unsigned long long)plan->nodes, job_ranks,
                report_bytes(job->events.sent).text, filters,
                report_bytes(memory).text);
}

/* ==== The command ======================================================= */

static void count_warn(const count_job *job)
{
    uint64_t refused = job_sum(gossip_refused(job->gossip));
    uint64_t stuck = job_sum(gossip_stuck(job->gossip));
    uint64_t keyless = job->events.keyless;

    if (keyless > 0)
        report_note("note: %s %s no such column and %s skipped: check -l, -f "
                    "and -t", report_count(keyless).text,
                    keyless == 1 ? "line has" : "lines have",
                    keyless == 1 ? "was" : "were");
    if (refused > 0)
        report_note("note: filters could not take %s entries; their members "
                    "are counted, but not replaced later: take another kind "
                    "than %s", report_count(refused).text, job->want->kind);
    else if (stuck > 0)
        report_note("note: filters could not take out %s entries again; their "
                    "members' later values may not be counted: give -p a "
                    "smaller rate, or another kind than %s",
                    report_count(stuck).text, job->want->kind);
}

static void count_run_all(count_job *job)
{
    uint64_t memory = job_sum(gossip_memory(job->gossip));

    if (job->want->verbose)
        count_say_plan(job, memory);
    if (job->want->json)
        count_open_json(job, memory);
    for (uint64_t i = 0; i < job->want->epochs; i++) {
        count_epoch e = { .epoch = i };

        count_run_epoch(job, &e);
        if (job->want->verbose)
            count_say(job, &e);
        job_agree(CLI_GO);              /* it is written now */
        if (job->want->json)
            count_json_epoch(job, &e);
        else
            count_text(job, &e);
    }
    if (job->want->json)
        count_close_json(job);
    count_warn(job);
}

static int count_all(count_job *job)
{
    const count_settings *s = job->want;
    gossip_plan plan = { .plan = { .kind = s->kind, .rate = s->rate,
                                   .bits = s->bits, .probes = s->probes,
                                   .nodes = s->nodes },
                         .repeat = s->repeat, .seed = s->seed };
    int status = events_read(&job->events, &job->share, s->nodes, s->epochs);

    if (status != CLI_GO)
        return status;
    job->gossip = gossip_open(&plan, &job->events);
    if (job->gossip == NULL)
        return CLI_ERROR;
    count_run_all(job);
    gossip_close(job->gossip);
    return CLI_OK;
}

/* Does every entry leave that has to, and nothing else? Some kinds only may
 * take an entry out, or have no room for one that comes back; and filters of
 * a size that was chosen for all four do not fit their entries. */
static bool count_kind_fits(const char *kind)
{
    static const char *const unfit[] = { "deletable", "invertible", "twin" };
    size_t name = strcspn(kind, ":");

    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
        if (strlen(unfit[i]) == name && memcmp(kind, unfit[i], name) == 0)
            return false;
    return filter_kind_can(kind, BLY_CAN_ADD)
           && filter_kind_can(kind, BLY_CAN_REMOVE);
}

/* Is an option m= or bits= among those behind the kind's name? */
static bool count_kind_sized(const char *kind)
{
    for (const char *at = kind; (at = strpbrk(at, ":,")) != NULL; ) {
        at++;
        if (strncmp(at, "m=", 2) == 0 || strncmp(at, "bits=", 5) == 0)
            return true;
    }
    return false;
}

static int count_check(const cli_command *self, count_settings *s)
{
    if ((s->bits > 0) != (s->probes > 0))
        return options_wrong(self, "--bits and --probes go together: give both "
                                   "or a rate");
    if (s->bits > 0 && s->rate > 0)
        return options_wrong(self, "-p is the rate and --bits with --probes "
                                   "the size of filters: give one of the two");
    if (!count_kind_fits(s->kind))
        return options_wrong(self, "-k must be a kind that can add and remove, "
                                   "and removes every entry: take counting, "
                                   "cuckoo or quotient");
    if (count_kind_sized(s->kind))
        return options_wrong(self, "options m= and bits= of a kind would hold "
                                   "for filters of different sizes: give "
                                   "--bits and --probes, or a rate");
    if (s->bits > 0 && strcmp(s->kind, "counting") != 0)
        return options_wrong(self, "--bits and --probes are for kind counting: "
                                   "give a rate");
    if (s->nodes > COUNT_NODES || s->epochs > COUNT_EPOCHS)
        return options_wrong(self, "there are too many nodes or epochs: give "
                                   "at most 65536");
    s->nodes = s->nodes > 0 ? s->nodes : (uint64_t)job_ranks;
    s->rounds = s->rounds > 0 ? s->rounds : s->nodes;
    return CLI_GO;
}

static int count_run(const cli_command *self, int argc, char **argv)
{
    count_settings s = { .how = { .label = 2, .separator = -1 }, .epochs = 1,
                         .repeat = 1, .kind = "counting" };
    count_job job = { .want = &s };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = count_check(self, &s);
    if (status != CLI_GO)
        return status;
    status = job_agree(share_open(&job.share, &s.how, &operands, 0, false));
    if (status == CLI_GO)
        status = share_same(&job.share);
    if (status == CLI_GO)
        status = count_all(&job);
    events_free(&job.events);
    share_close(&job.share);
    return status;
}

const cli_command cmd_count = {
    .name = "count",
    .operands = "FILES...",
    .summary = "sum up values of many members, by gossip",
    .text =
        "For sums over machines that come and go, without a coordinator: how "
        "many are there, and what is the sum, the mean, the least and the "
        "largest of their values now? There is no node that knows all. Each "
        "tells the values of its own members to one other node after another, "
        "and adds up what it is told; filters on both sides remember whose "
        "value is in already, so that each is counted once, and when it "
        "changes the old one is taken out again. In the end every node has "
        "the result.\n\n"
        "Lines of FILES are events in their order: a member's name, and the "
        "value that it has from now on, 42, -7 or 0.25, or '-': it has left. "
        "A later value of the same name takes the place of the earlier one. "
        "Names are divided among the nodes, one in each rank or as many as "
        "--nodes says.\n\n"
        "Printed are, after each epoch, the true result (found out by asking "
        "all, for comparison), that of node 0, and that of the node whose sum "
        "is furthest off, if any is. Filters err with a small chance: two "
        "errors at once, and a value is counted twice or not at all; reports "
        "for which the filters on both sides do not agree are 'unsuccessful' "
        "and change nothing. Least and largest are of all values that a node "
        "was ever told, since nothing can be taken out of them.",
    .options = count_options,
    .examples = count_examples,
    .status = "0, or 2 after an error.",
    .run = count_run,
};
