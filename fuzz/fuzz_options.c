/* fuzz_options.c - any text is planned as a kind with options, or refused with
 * a one-line reason. A plan has the kind named first, is the same when repeated
 * and with its options in reverse order, and makes a filter of the planned
 * size. libFuzzer stops slow plans (-timeout, tools/check/fuzz); tests/steps.c
 * counts the steps.
 */
#include "targets.h"

#include <stdio.h>
#include <string.h>

#include "bloomery.h"

enum { OPTIONS_TEXT = 200, OPTIONS_IMAGE = 1 << 20 };

/* Writes the options in reverse order. */
static void options_turn(char turned[OPTIONS_TEXT], const char *text)
{
    const char *colon = strchr(text, ':'), *end = text + strlen(text);
    size_t used = colon != NULL ? (size_t)(colon - text) + 1 : 0;
    memcpy(turned, text, used);
    while (colon != NULL && end > colon) {
        const char *from = end;
        while (from[-1] != ',' && from[-1] != ':')
            from--;
        memcpy(turned + used, from, (size_t)(end - from));
        used += (size_t)(end - from);
        end = from - 1;
        if (end > colon)
            turned[used++] = ',';
    }
    if (colon == NULL)
        strcpy(turned, text);
    else
        turned[used] = '\0';
}

static const char *options_refused(bly_status status, const char *text)
{
    if (bly_why()[0] == '\0' || strchr(bly_why(), '\n') != NULL)
        return "a plan was refused without a line that says why";
    return (status == BLY_EKIND) != (bly_kind_find(text) == NULL)
         ? "plan and kind_find disagree whether there is such a kind" : NULL;
}

/* Compares field by field, as padding does not count. */
static bool options_equal(const bly_plan_t *a, const bly_plan_t *b)
{
    return strcmp(a->kind, b->kind) == 0 && a->capacity == b->capacity
        && a->bytes == b->bytes && a->rate == b->rate && a->probes == b->probes
        && memcmp(a->geometry, b->geometry, sizeof a->geometry) == 0;
}

static const char *options_made(const bly_plan_t *plan, const char *text,
                                const bly_spec *spec)
{
    bly_filter *filter = NULL;
    bly_info_t stat;
    const char *found = NULL;
    if (plan->bytes > OPTIONS_IMAGE
        || bly_new(&filter, text, spec) != BLY_OK)
        return NULL;
    if (bly_info(&stat, filter) != BLY_OK || stat.bytes > plan->bytes
        || stat.capacity != plan->capacity
        || strcmp(stat.kind, plan->kind) != 0)
        found = "the filter is another than was planned";
    bly_free(filter);
    return found;
}

static const char *options_planned(const bly_plan_t *plan, const char *text,
                                   const bly_spec *spec)
{
    char turned[OPTIONS_TEXT];
    bly_plan_t again;
    const bly_kind_info *kind = bly_kind_find(text);
    if (kind == NULL || strcmp(kind->name, plan->kind) != 0)
        return "the plan is of another kind than its text";
    if (!(plan->rate >= 0 && plan->rate <= 1) || plan->bytes <= 128)
        return "the plan's rate or size cannot be";
    if (bly_plan(&again, text, spec) != BLY_OK || !options_equal(plan, &again))
        return "the second time it is planned otherwise";
    options_turn(turned, text);
    if (bly_plan(&again, turned, spec) != BLY_OK
        || !options_equal(plan, &again))
        return "with its options the other way round it is planned otherwise";
    return options_made(plan, text, spec);
}

const char *fuzz_options(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    char text[OPTIONS_TEXT];
    double rate;
    bly_plan_t plan;
    bly_spec spec = { .capacity = target_take(&in, 8) };
    uint64_t bits = target_take(&in, 8);
    memcpy(&rate, &bits, sizeof rate);
    spec.rate = rate;
    spec.capacity >>= target_take(&in, 1) % 64;
    size_t length = target_left(&in) < OPTIONS_TEXT - 1 ? target_left(&in)
                                                        : OPTIONS_TEXT - 1;
    memcpy(text, in.at, length);
    text[length] = '\0';
    bly_status status = bly_plan(&plan, text, &spec);
    return status < 0 ? options_refused(status, text)
                      : options_planned(&plan, text, &spec);
}
