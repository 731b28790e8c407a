/* cheaper.c - tells which kinds would have taken less for a filter's keys.
 */
#include "filters/filters.h"

#include <bloomery/advice.h>
#include <stdio.h>
#include <string.h>

#include "frame/output.h"
#include "frame/report.h"

/* Less than this share of the filter's bytes is worth telling. */
static const double CHEAPER_SHARE = 0.75;

typedef struct {
    bool        fixed;                  /* all keys are there at once        */
    bool        early;                  /* for a filter less than half full  */
    const char *when;
} cheaper_way;

static const cheaper_way cheaper_ways[] = {
    { false, true,  "if it is built again for its keys" },
    { false, false, "if the number of keys is known" },
    { true,  false, "if it is built from all keys at once" },
};

enum { CHEAPER_WAYS = sizeof cheaper_ways / sizeof *cheaper_ways };

/* Finds the same kind at another size. */
static bool cheaper_again(bly_advice *found, const bly_info_t *stat)
{
    bly_spec spec = { .capacity = (uint64_t)stat->distinct,
                      .rate = stat->planned_rate };

    snprintf(found->kind, sizeof found->kind, "%s", stat->kind);
    return spec.capacity > 0
        && bly_plan(&found->plan, stat->kind, &spec) >= 0;
}

/* Finds the smallest core kind for the keys that a filter has, with the same
 * rate and, unless they are fixed, the same abilities. */
static bool cheaper_kind(bly_advice *found, const bly_info_t *stat, bool fixed)
{
    bly_need need = {
        .capacity = (uint64_t)stat->distinct,
        .rate = stat->planned_rate, .present = 0.5, .fixed = fixed,
        .core = true, .aim = BLY_AIM_SMALL,
        .can = fixed ? 0 : bly_kind_find(stat->kind)->can
                           & (BLY_CAN_REMOVE | BLY_CAN_COUNT | BLY_CAN_UNITE),
    };
    bly_ranking *ranking;

    if (need.capacity == 0 || bly_advise(&ranking, &need) < 0)
        return false;
    *found = *bly_ranking_at(ranking, 0);
    bly_ranking_free(ranking);
    return found->fits && strcmp(found->kind, stat->kind) != 0;
}

static bool cheaper_find(bly_advice *found, const bly_info_t *stat,
                         const cheaper_way *way)
{
    if (way->early != (2 * stat->distinct < (double)stat->capacity)
        || !(way->early ? cheaper_again(found, stat)
                        : cheaper_kind(found, stat, way->fixed)))
        return false;
    return (double)found->plan.bytes < CHEAPER_SHARE * (double)stat->bytes;
}

/* A filter that forgets, stores labels, is exact, on disk or another system's
 * can be replaced by few kinds. */
static bool cheaper_asks(const bly_info_t *stat)
{
    return !filter_kind_can(stat->kind, BLY_CAN_EXACT | BLY_CAN_PAGE)
        && stat->planned_rate > 0 && stat->label_bits == 0
        && stat->window == UINT64_MAX && stat->lost == 0
        && stat->distinct < 0x1p62
        && !filter_kind_of_family(stat->kind, "foreign");
}

typedef void cheaper_visit(const cheaper_way *way, const bly_advice *found,
                           const char *output);

static void cheaper_each(const bly_info_t *stat, cheaper_visit *visit,
                         const char *output)
{
    bly_advice found;

    for (size_t i = 0; cheaper_asks(stat) && i < CHEAPER_WAYS; i++)
        if (cheaper_find(&found, stat, &cheaper_ways[i]))
            visit(&cheaper_ways[i], &found, output);
}

static void cheaper_line(const cheaper_way *way, const bly_advice *found,
                         const char *output)
{
    (void)output;
    output_format("  could be   %s as %s, %s\n",
                  report_bytes(found->plan.bytes).text, found->kind, way->when);
}

void cheaper_text(const bly_info_t *stat)
{
    cheaper_each(stat, cheaper_line, NULL);
}

static void cheaper_report(const cheaper_way *way, const bly_advice *found,
                           const char *output)
{
    report_note("%s: could be %s as %s, %s", filter_place(output),
                report_bytes(found->plan.bytes).text, found->kind, way->when);
}

void cheaper_note(const bly_info_t *stat, const char *output)
{
    cheaper_each(stat, cheaper_report, output);
}
