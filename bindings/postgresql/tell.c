/* tell.c - describes filters, plans and kinds in JSON.
 *
 * The names are those of `bloomery info --json` and `bloomery plan --json`.
 */
#include "datum.h"

#include <string.h>

#include "funcapi.h"
#include "nodes/execnodes.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include <bloomery/fields.h>

/* ---- JSON ---------------------------------------------------------------- */

static bool json_put(void *to, const char *text, size_t length)
{
    appendBinaryStringInfo(to, text, (int)length);
    return true;
}

static bly_json json_begin(StringInfo to)
{
    bly_json json = { .put = json_put, .context = to };
    initStringInfo(to);
    bly_json_field(&json, &(bly_field){ .type = BLY_FIELD_OBJECT });
    return json;
}

static Datum json_end(bly_json *json)
{
    StringInfo to = json->context;
    bly_json_field(json, &(bly_field){ .type = BLY_FIELD_END });
    return PointerGetDatum(cstring_to_text_with_len(to->data, to->len));
}

static void json_real(bly_json *json, const char *name, double number)
{
    bly_json_field(json, &(bly_field){ .name = name, .type = BLY_FIELD_REAL,
                                       .real = number });
}

/* ---- A filter ------------------------------------------------------------ */

/* Returns the header's fields alone for a filter with a secret, which is not
 * available here. */
PG_FUNCTION_INFO_V1(bloomery_info);
Datum bloomery_info(PG_FUNCTION_ARGS)
{
    datum_bytes image = datum_bytes_of(PG_GETARG_DATUM(0));
    StringInfoData to;
    bly_header header;
    bly_json json = json_begin(&to);
    datum_must(bly_peek(&header, image.at, image.bytes));
    if (strcmp(header.hash, "siphash") == 0) {
        bly_header_each(&header, bly_json_field, &json);
    } else {
        bly_info_t stat;
        bly_filter *filter = datum_read(PG_GETARG_DATUM(0),
                                        CurrentMemoryContext);
        datum_must(bly_info(&stat, filter));
        bly_info_each(&stat, filter, bly_json_field, &json);
        bly_free(filter);
    }
    return json_end(&json);
}

/* ---- A plan -------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(bloomery_plan);
Datum bloomery_plan(PG_FUNCTION_ARGS)
{
    bly_spec spec = datum_spec(datum_items(PG_GETARG_INT64(1)),
                               datum_rate(PG_GETARG_FLOAT8(2)), NULL);
    bly_plan_t plan;
    StringInfoData to;
    bly_json json = json_begin(&to);
    datum_must(bly_plan(&plan, datum_string(PG_GETARG_DATUM(0)), &spec));
    bly_plan_each(&plan, bly_json_field, &json);
    return json_end(&json);
}

/* ---- Two filters --------------------------------------------------------- */

PG_FUNCTION_INFO_V1(bloomery_overlap);
Datum bloomery_overlap(PG_FUNCTION_ARGS)
{
    bly_filter *a = datum_read(PG_GETARG_DATUM(0), CurrentMemoryContext);
    bly_filter *b = datum_read(PG_GETARG_DATUM(1), CurrentMemoryContext);
    bly_overlap_t o;
    StringInfoData to;
    datum_must_two(bly_overlap(&o, a, b), a, b);
    bly_free(a);
    bly_free(b);
    bly_json json = json_begin(&to);
#define BOTH(name)                                                             \
    json_real(&json, #name, o.name.value);                                     \
    json_real(&json, #name "_sd", o.name.sd)
    BOTH(a);
    BOTH(b);
    BOTH(either);
    BOTH(both);
    BOTH(differ);
    BOTH(jaccard);
#undef BOTH
    return json_end(&json);
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
        bool nulls[5] = { false };
        Datum values[5] = {
            CStringGetTextDatum((*kinds)->name),
            CStringGetTextDatum((*kinds)->family),
            CStringGetTextDatum((*kinds)->summary),
            kinds_can((*kinds)->can),
            CStringGetTextDatum((*kinds)->tier),
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
