/* bounds.c - the project's goals, beside the measurements of this run. Speed is
 * not a test: nothing here fails.
 */
#include "bench.h"

#include <math.h>

static size_t bounds_met, bounds_judged, bounds_missing;

static void bounds_line(const char *claim, double measured, const char *than,
                        double bound, const char *unit)
{
    bool at_least = than[0] == '>', counts = claim[0] != ' ';
    if (isnan(measured)) {
        bounds_missing += counts;
        return;
    }
    bool met = at_least ? measured >= bound : measured <= bound;
    if (counts) {                       /* indented: for comparison          */
        bounds_judged++;
        bounds_met += met;
    }
    printf("  %-66s %8.3f   %s %-5.4g %-3s  %s\n", claim, measured, than,
           bound, unit, met ? "met" : "NOT met");
}

/* Returns what / limit / lines for a filter. */
static double bounds_limit(const char *kind, uint64_t keys, double rate,
                           const char *what, const char *limit,
                           const char *lines)
{
    double per = lines == NULL
        ? 1 : table_median(table_find(kind, keys, rate, lines));
    return table_ratio(table_find(kind, keys, rate, what),
                       table_find(kind, keys, rate, limit)) / per;
}

static double bounds_peer(const char *kind, const char *what, uint64_t keys,
                          double rate, const char *peer, const char *theirs)
{
    return table_ratio(table_find(kind, keys, rate, what),
                       table_find(peer, keys, rate, theirs));
}

static void bounds_blocked(uint64_t n)
{
    static const char *const asked[] = { "batch 0", "batch 50", "batch 100" };
    char claim[80];
    for (size_t i = 0; i < 3; i++) {
        snprintf(claim, sizeof claim, "blocked 1 %%, %s %% present / line",
                 asked[i]);
        bounds_line(claim, bounds_limit("blocked", n, 0.01, asked[i], "line",
                                        NULL), "<=", 1.15, "");
    }
    bounds_line("  50 % present / line of an array of hashes",
                bounds_limit("blocked", n, 0.01, "batch 50", "line fed", NULL),
                "<=", 1.15, "");
    for (size_t i = 0; i < 3; i++) {
        snprintf(claim, sizeof claim, "blocked 0.1 %%, %s %% present / line",
                 asked[i]);
        bounds_line(claim, bounds_limit("blocked", n, 0.001, asked[i], "line",
                                        NULL), "<=", 1.3, "");
    }
    bounds_line("blocked 1 %, build / line written",
                bounds_limit("blocked", n, 0.01, "build", "line write", NULL),
                "<=", 1.3, "");
    bounds_line("  the same / line read",
                bounds_limit("blocked", n, 0.01, "build", "line", NULL),
                "<=", 1.3, "");
    bounds_line("  adds to pages that are there / line read",
                bounds_limit("blocked", n, 0.01, "add", "line", NULL),
                "<=", 1.3, "");
}

static void bounds_blocked_peer(uint64_t n)
{
    static const char *const ours[] = { "key 0", "key 50", "key 100" };
    static const char *const theirs[] = { "single 0", "single 50",
                                          "single 100" };
    char claim[80];
    for (size_t i = 0; i < 3; i++) {
        snprintf(claim, sizeof claim, "blocked 1 %%, single %s %% present"
                 " / libbloom", ours[i]);
        bounds_line(claim, bounds_peer("blocked", ours[i], n, 0.01,
                                       "libbloom", theirs[i]),
                    "<=", 0.17, "");
    }
    bounds_line("  50 % present, by its hash / libbloom",
                bounds_peer("blocked", "single 50", n, 0.01, "libbloom",
                            "single 50"), "<=", 0.17, "");
}

static void bounds_standard(uint64_t n)
{
    bounds_line("standard 1 %, batch, present / libbloom's single",
                bounds_peer("standard", "batch 100", n, 0.01, "libbloom",
                            "single 100"), "<=", 0.27, "");
    bounds_line("standard 1 %, batch, absent / libbloom's single",
                bounds_peer("standard", "batch 0", n, 0.01, "libbloom",
                            "single 0"), "<=", 0.16, "");
    bounds_line("standard 1 %, batch, present / its lines (aim)",
                bounds_limit("standard", n, 0.01, "batch 100", "line",
                             "lines present"), "<=", 1.2, "");
    bounds_line("standard 1 %, batch, absent / its lines (aim)",
                bounds_limit("standard", n, 0.01, "batch 0", "line",
                             "lines absent"), "<=", 1.2, "");
}

static void bounds_threads(const bench_plan *plan, uint64_t n)
{
    if (plan->threads != 2)
        return;
    char claim[80];
    for (size_t k = 0; k < plan->kind_count; k++) {
        const char *kind = plan->kinds[k];
        snprintf(claim, sizeof claim, "%s 1 %%, lookups of 2 threads, times "
                 "one", kind);
        bounds_line(claim, bounds_peer(kind, "alone 50", n, 0.01, kind,
                                       "threads 50"), ">=", 1.85, "");
        bounds_line("  bare lines by 2 threads, times one",
                    bounds_peer(kind, "line", n, 0.01, kind, "line threads"),
                    ">=", 1.85, "");
        double added = bounds_peer(kind, "add shared", n, 0.01, kind,
                                   "add threads");
        snprintf(claim, sizeof claim, "%s 1 %%, shared adds of 2 threads, "
                 "times one", kind);
        if (!isnan(added))              /* of kinds that can share           */
            bounds_line(claim, added, ">=", 1.85, "");
    }
}

/* Prints the frozen kinds, at the first rate of the run. */
static void bounds_frozen(const bench_plan *plan, uint64_t n)
{
    double rate = plan->rates[0];
    static const struct { const char *kind; double lines, build; } rows[] = {
        { "fuse", 2.6, 40 }, { "ribbon", 2.5, 60 },
    };
    char claim[80];
    for (size_t i = 0; i < 2; i++) {
        const char *kind = rows[i].kind;
        snprintf(claim, sizeof claim, "%s, batch, half present / line", kind);
        bounds_line(claim, bounds_limit(kind, n, rate, "batch 50", "line",
                                        NULL), "<=", rows[i].lines, "");
        snprintf(claim, sizeof claim, "%s, build by one thread", kind);
        bounds_line(claim, table_median(table_find(kind, n, rate, "build 1")),
                    "<=", rows[i].build, "ns");
        snprintf(claim, sizeof claim, "%s, build by all, times one", kind);
        bounds_line(claim, bounds_peer(kind, "build 1", n, rate, kind,
                                       "build"), ">=", 1.85, "");
    }
    bounds_line("gcs, batch, half present",
                table_median(table_find("gcs", n, rate, "batch 50")),
                "<=", 60, "ns");
}

static void bounds_cache(uint64_t n)
{
    static const char *const kinds[] = { "blocked", "split" };
    for (size_t i = 0; i < 2; i++) {
        double line = table_median(table_find(kinds[i], n, 0.01, "line"));
        char claim[80];
        snprintf(claim, sizeof claim, "%s 1 %% in cache, batch (a line: %.2f "
                 "ns%s)", kinds[i], line,
                 line > 1 ? ", above the 1 ns of the claim" : "");
        bounds_line(claim, table_median(table_find(kinds[i], n, 0.01,
                                                   "batch 50")),
                    "<=", 1.5, "ns");
    }
}

/* Prints what was skipped since the last call, and why: the run does not
 * include that number of keys, a kind, a rate or a library. */
static void bounds_print_missing(const bench_plan *plan, uint64_t keys,
                                 const char *named)
{
    bool asked = false;
    for (size_t k = 0; k < plan->key_count; k++)
        asked = asked || plan->keys[k] == keys;
    if (bounds_missing > 0 && asked)
        printf("%zu more, of %s keys, need a kind, a rate or a library that "
               "was left out\n", bounds_missing, named);
    else if (bounds_missing > 0)
        printf("%zu more need %s keys\n", bounds_missing, named);
    bounds_missing = 0;
}

void bounds_print(const bench_plan *plan)
{
    const uint64_t large = 100000000, small = 1000000;
    bounds_met = bounds_judged = bounds_missing = 0;
    printf("Must reach (10^8 keys; in cache 10^6); indented: to compare\n\n");
    bounds_blocked(large);
    bounds_blocked_peer(large);
    bounds_standard(large);
    bounds_threads(plan, large);
    bounds_frozen(plan, large);
    bounds_print_missing(plan, large, "10^8");
    bounds_cache(small);
    bounds_print_missing(plan, small, "10^6");
    if (bounds_judged > 0)
        printf("\n%zu of %zu met\n", bounds_met, bounds_judged);
}
