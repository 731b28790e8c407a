/* model.c - the machine that runs a filter against an exact set: its head and
 * its loop. model_ops.c has the table of instructions, and model_base.c the
 * law.
 *
 * It uses only the public interface, so a caller could run into any finding.
 */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Capacities, and offsets of numeric options from their minimum. */
static const uint64_t model_sizes[16] = {
    0, 1, 2, 3, 7, 20, 63, 100, 128, 300, 511, 1000, 1023, 3000, 5000, 60000,
};

/* Appends ":name=value" or ",name=value" to the kind's string, with a value
 * from the option's range: "a | b | c" or "1 .. 64". */
static void model_give_option(model *m, const bly_option_info *option,
                              uint32_t choice)
{
    char *out = m->report->kind;
    size_t room = sizeof m->report->kind, used = strlen(out);
    const char *range = option->range;
    uint64_t low, high;
    char mark = strchr(out, ':') != NULL ? ',' : ':';
    if (strstr(range, "whole") != NULL)
        return;                         /* keys are only hashes here */
    if (sscanf(range, "%" SCNu64 " .. %" SCNu64, &low, &high) == 2) {
        uint64_t value = low + model_sizes[choice % 16];
        snprintf(out + used, room - used, "%c%s=%" PRIu64, mark, option->name,
                 value < high ? value : high);
        return;
    }
    uint32_t words = 1;
    for (const char *c = range; (c = strchr(c, '|')) != NULL; c++)
        words++;
    for (choice %= words; choice > 0; choice--)
        range = strchr(range, '|') + 1;
    range += strspn(range, " ");
    snprintf(out + used, room - used, "%c%s=%.*s", mark, option->name,
             (int)strcspn(range, " |"), range);
}

static void model_read_head(model *m)
{
    static const double rates[] = { 0.01, 0.5, 0.2, 0.1, 0.03, 1e-3, 1e-4,
                                    1e-6 };
    static const char *const hashes[] = { NULL, "xxh3", "xxh64", "murmur2",
                                          "murmur3", "fnv1a", "identity",
                                          "siphash" };
    static const uint8_t secret[BLY_SECRET_BYTES] = "a secret of all";
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    m->kind = kinds[model_u8(m) % n];
    snprintf(m->report->kind, sizeof m->report->kind, "%s", m->kind->name);
    m->spec.capacity = model_sizes[model_u8(m) % 16];
    if (strcmp(m->kind->name, "egh") == 0)
        m->spec.capacity %= 101;        /* its size rises with the square */
    m->spec.rate = rates[model_u8(m) % 8];
    uint8_t hash = model_u8(m);
    m->spec.hash = hashes[hash % 8];
    m->spec.flags = hash >= 128 && model_can(m, BLY_CAN_SHARE) ? BLY_SHARED : 0;
    m->spec.seed = model_mix(model_u8(m) % 2);
    if (hash % 8 == 7) {
        m->spec.secret = secret;
        m->spec.seed = 0;
    }
    for (size_t i = 0; m->kind->options[i] != NULL; i++)
        if (model_u8(m) >= 192)
            model_give_option(m, m->kind->options[i], model_u8(m));
}

/* Limits images to MODEL_IMAGE: a larger program is not worth running. */
static void *model_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    (void)context;
    if (bytes > MODEL_IMAGE || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    return memory;
}

static void model_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

static const bly_allocator model_allocator = {
    .allocate = model_allocate, .release = model_release,
};

/* Empty filters of the latest plans, placed by the hash of their names. */
static struct {
    char        name[256];
    bly_filter *empty;
} model_cache[MODEL_CACHE];

/* Returns the empty filter of this plan, or NULL. The cache keeps it. */
static const bly_filter *model_empty(model *m)
{
    char name[sizeof model_cache->name];
    bly_filter *empty = NULL;
    snprintf(name, sizeof name, "%s %" PRIu64 " %g %s %" PRIx64 " %d",
             m->report->kind, m->spec.capacity, m->spec.rate,
             m->spec.hash != NULL ? m->spec.hash : "", m->spec.seed,
             m->spec.flags);
    size_t at = XXH3_64bits(name, strlen(name)) % MODEL_CACHE;
    if (strcmp(name, model_cache[at].name) == 0)
        return model_cache[at].empty;
    bly_status status = bly_new(&empty, m->report->kind, &m->spec);
    model_expect(
        m,
        status == BLY_OK || status == BLY_EPARAM || status == BLY_EHASH
            || status == BLY_ETOOBIG || status == BLY_ENOMEM
            || (status == BLY_EUNSUPPORTED && !model_can(m, BLY_CAN_ADD)),
        "a filter is refused for no reason in the header");
    bly_free(model_cache[at].empty);
    strcpy(model_cache[at].name, name);
    model_cache[at].empty = empty;
    return empty;
}

/* Programs add hashes, so filters that accept only whole keys are skipped. */
static bool model_takes_hashes(const model *m)
{
    bly_filter *copy = NULL;
    if (m->empty == NULL || !model_can(m, BLY_CAN_SUBTRACT)
        || bly_copy(&copy, m->empty, NULL) != BLY_OK)
        return true;
    bly_status status = bly_add_hash(copy, 1);
    bly_free(copy);
    return status != BLY_EUNSUPPORTED;
}

/* Makes the empty filter, and A and B as copies of it. */
static bool model_begin(model *m)
{
    m->spec.allocator = &model_allocator;
    m->options = (bly_options){ .allocator = &model_allocator,
                                .secret = m->spec.secret };
    m->empty = model_empty(m);
    if (!model_takes_hashes(m))
        return false;
    return (m->empty != NULL || !model_can(m, BLY_CAN_ADD))
        && model_fresh(m, &m->a) && model_fresh(m, &m->b);
}

/* A new filter knows that it is empty. */
static void model_check_empty(model *m)
{
    for (uint64_t i = 0; i < 16 && model_can(m, BLY_CAN_ADD); i++)
        model_expect(m, !bly_contains_hash(m->a.filter, model_mix(i)),
                     "an empty filter found something");
}

/* Marks the end of an instruction and the beginning of the next. */
static void model_start(model *m)
{
    if (m->report->starts < MODEL_STARTS)
        m->report->start[m->report->starts++] = (size_t)(m->at - m->begin);
}

static void model_loop(model *m)
{
    model_start(m);
    while (m->at < m->end && m->work > 0 && !m->over) {
        const model_op *op = &model_ops[model_u8(m) % model_ops_count];
        m->verb = op->name;
        op->run(m);
        m->report->steps++;
        m->work -= 16;
        model_start(m);
    }
    m->verb = "the end";
    model_law(m, m->a.filter, m->a.set);
    model_law(m, m->b.filter, m->b.set);
    model_op_check(m);
    model_op_stat(m);
}

bool model_run(const uint8_t *program, size_t n, unsigned flags,
               model_report *report)
{
    model *m = calloc(1, sizeof *m);
    *report = (model_report){ .lost = 0 };
    if (m == NULL)
        return true;
    *m = (model){ .begin = program, .at = program, .end = program + n,
                  .flags = flags, .report = report, .verb = "the head",
                  .work = MODEL_WORK };
    m->a.set = malloc(sizeof *m->a.set);
    m->b.set = malloc(sizeof *m->b.set);
    model_read_head(m);
    if (m->a.set != NULL && m->b.set != NULL && model_begin(m)) {
        model_check_empty(m);
        model_loop(m);
    }
    bly_free(m->a.filter);
    bly_free(m->b.filter);
    free(m->a.set);
    free(m->b.set);
    free(m);
    return report->lost == 0 && report->mismatches == 0;
}
