/* tell.c - describes filters, plans and kinds in JSON.
 *
 * The names are those of `bloomery info --json` and `bloomery plan --json`.
 */
#include "filter.h"

#include <math.h>
#include <string.h>

#include "funcapi.h"
#include "nodes/execnodes.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/json.h"
#include "utils/tuplestore.h"

#include <bloomery/form.h>

/* ---- JSON ---------------------------------------------------------------- */

static void json_name(StringInfo to, const char *name)
{
    appendStringInfo(to, "%s\"%s\": ", to->len > 1 ? ", " : "", name);
}

static void json_text(StringInfo to, const char *name, const char *text)
{
    json_name(to, name);
    escape_json(to, text);
}

static void json_whole(StringInfo to, const char *name, uint64_t number)
{
    json_name(to, name);
    appendStringInfo(to, "%llu", (unsigned long long)number);
}

/* JSON has no infinity. */
static void json_real(StringInfo to, const char *name, double number)
{
    json_name(to, name);
    if (isfinite(number))
        appendStringInfoString(to, float8out_internal(number));
    else
        appendStringInfoString(to, "null");
}

static void json_truth(StringInfo to, const char *name, bool truth)
{
    json_name(to, name);
    appendStringInfoString(to, truth ? "true" : "false");
}

static Datum json_end(StringInfo to)
{
    appendStringInfoChar(to, '}');
    return PointerGetDatum(cstring_to_text_with_len(to->data, to->len));
}

/* ---- A filter ------------------------------------------------------------ */

static void info_form(StringInfo to, uint64_t form)
{
    char name[BLY_FORM_TEXT];
    json_text(to, "keys", bly_form_write(name, form));
}

static void info_stat(StringInfo to, const bly_stat_t *s)
{
    json_text(to, "kind", s->kind);
    json_whole(to, "items", s->items);
    json_truth(to, "items_exact", s->items_exact);
    json_whole(to, "capacity", s->capacity);
    json_whole(to, "bytes", s->bytes);
    json_whole(to, "packed", s->packed);
    json_real(to, "bits_per_key", s->bits_per_key);
    json_real(to, "fill", s->fill);
    if (s->fullest > 0)
        json_real(to, "fullest", s->fullest);
    json_real(to, "rate", s->rate);
    json_real(to, "planned_rate", s->planned_rate);
    json_whole(to, "seed", s->seed);
    json_text(to, "hash", s->hash);
    info_form(to, s->form);
    json_whole(to, "probes", s->probes);
    json_whole(to, "saturated", s->saturated);
    json_real(to, "lost", s->lost);
    json_real(to, "distinct", s->distinct);
    json_real(to, "distinct_sd", s->distinct_sd);
    if (s->label_bits > 0) {
        json_whole(to, "label_bits", s->label_bits);
        json_whole(to, "label_least", s->label_least);
        json_whole(to, "label_most", s->label_most);
    }
}

/* Describes a keyed filter, whose secret is unknown here, from its header. */
static void info_header(StringInfo to, const bly_header *h)
{
    json_text(to, "kind", h->kind);
    if (h->items != UINT64_MAX)
        json_whole(to, "items", h->items);
    json_whole(to, "capacity", h->capacity);
    json_whole(to, "bytes", h->bytes);
    json_real(to, "planned_rate", h->rate);
    json_whole(to, "seed", h->seed);
    json_text(to, "hash", h->hash);
    info_form(to, h->form);
}

PG_FUNCTION_INFO_V1(bloomery_info);
Datum bloomery_info(PG_FUNCTION_ARGS)
{
    filter_bytes image = filter_bytes_of(PG_GETARG_DATUM(0));
    StringInfoData to;
    bly_header header;
    initStringInfo(&to);
    appendStringInfoChar(&to, '{');
    filter_must(bly_peek(&header, image.at, image.bytes));
    if (strcmp(header.hash, "siphash") == 0) {
        info_header(&to, &header);
    } else {
        bly_stat_t stat;
        bly_filter *filter = filter_read(PG_GETARG_DATUM(0),
                                         CurrentMemoryContext);
        filter_must(bly_stat(&stat, filter));
        bly_free(filter);
        info_stat(&to, &stat);
    }
    return json_end(&to);
}

/* ---- A plan -------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(bloomery_plan);
Datum bloomery_plan(PG_FUNCTION_ARGS)
{
    bly_spec spec = filter_spec(filter_items(PG_GETARG_INT64(1)),
                                filter_rate(PG_GETARG_FLOAT8(2)), NULL);
    bly_plan_t p;
    StringInfoData to;
    filter_must(bly_plan(&p, filter_string(PG_GETARG_DATUM(0)), &spec));
    initStringInfo(&to);
    appendStringInfoChar(&to, '{');
    json_text(&to, "kind", p.kind);
    json_whole(&to, "capacity", p.capacity);
    json_whole(&to, "bytes", p.bytes);
    json_whole(&to, "packed", p.packed);
    json_whole(&to, "scratch", p.scratch);
    json_real(&to, "bits_per_key", p.bits_per_key);
    json_real(&to, "rate", p.rate);
    json_real(&to, "rate_sd", p.rate_sd);
    json_real(&to, "fill", p.fill);
    json_real(&to, "lost", p.lost);
    json_whole(&to, "probes", p.probes);
    json_real(&to, "lines_present", p.lines_present);
    json_real(&to, "lines_absent", p.lines_absent);
    json_whole(&to, "label_bits", p.label_bits);
    return json_end(&to);
}

/* ---- Two filters --------------------------------------------------------- */

PG_FUNCTION_INFO_V1(bloomery_overlap);
Datum bloomery_overlap(PG_FUNCTION_ARGS)
{
    bly_filter *a = filter_read(PG_GETARG_DATUM(0), CurrentMemoryContext);
    bly_filter *b = filter_read(PG_GETARG_DATUM(1), CurrentMemoryContext);
    bly_overlap_t o;
    StringInfoData to;
    filter_must_two(bly_overlap(&o, a, b), a, b);
    bly_free(a);
    bly_free(b);
    initStringInfo(&to);
    appendStringInfoChar(&to, '{');
#define BOTH(name)                                                             \
    json_real(&to, #name, o.name.value);                                       \
    json_real(&to, #name "_sd", o.name.sd)
    BOTH(a);
    BOTH(b);
    BOTH(either);
    BOTH(both);
    BOTH(differ);
    BOTH(jaccard);
#undef BOTH
    return json_end(&to);
}

/* ---- Kinds --------------------------------------------------------------- */

static Datum kinds_can(uint64_t can)
{
    Datum words[BLY_ABILITIES];
    int n = 0;
    for (int i = 0; i < BLY_ABILITIES; i++)
        if (can & (UINT64_C(1) << i))
            words[n++] = CStringGetTextDatum(bly_ability(UINT64_C(1) << i));
    return PointerGetDatum(construct_array(words, n, TEXTOID, -1, false,
                                           TYPALIGN_INT));
}

PG_FUNCTION_INFO_V1(bloomery_kinds);
Datum bloomery_kinds(PG_FUNCTION_ARGS)
{
    const bly_kind_info *const *kinds = bly_kinds(NULL);
    ReturnSetInfo *set = (ReturnSetInfo *)fcinfo->resultinfo;
    InitMaterializedSRF(fcinfo, 0);
    for (; *kinds != NULL; kinds++) {
        bool nulls[4] = { false };
        Datum values[4] = {
            CStringGetTextDatum((*kinds)->name),
            CStringGetTextDatum((*kinds)->family),
            CStringGetTextDatum((*kinds)->summary),
            kinds_can((*kinds)->can),
        };
        tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
    }
    PG_RETURN_NULL();
}

PG_FUNCTION_INFO_V1(bloomery_version);
Datum bloomery_version(PG_FUNCTION_ARGS)
{
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(bly_version()));
}
