/* fields.c - the fields of filters and plans: the one list of their names.
 *
 * A row names a field and says where its value lies in the public struct. The
 * rows are in the order in which all surfaces show them.
 */
#include "bloomery/fields.h"

#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "bloomery/foreign.h"
#include "bloomery/form.h"
#include "verbs/registry.h"

/* The type of a member, or the list that a field shows. */
typedef enum {
    FIELDS_NAME, FIELDS_COUNT, FIELDS_COUNT32, FIELDS_REAL, FIELDS_BOOL,
    FIELDS_FORM, FIELDS_GEOMETRY, FIELDS_ATTACHED, FIELDS_LABELS, FIELDS_CAN
} fields_type;

/* Conditions: a field is absent unless the record meets its condition. */
enum {
    FIELDS_ALWAYS,
    FIELDS_BITS,                        /* the whole filter was read         */
    FIELDS_ITEMS,                       /* how many were added is known      */
    FIELDS_PACKED,
    FIELDS_LAYERS,                      /* the kind counts by layers         */
    FIELDS_HASHED,                      /* not another system's filter       */
    FIELDS_SEEDED,
    FIELDS_KEYED,                       /* hashed with a secret              */
    FIELDS_LABELLED,
    FIELDS_FORGETS,
    FIELDS_FILTER                       /* the filter itself is here         */
};

#define FIELDS_BIT(condition) (1u << FIELDS_##condition)

/* WebAssembly's module of the sets alone has no room for the help, or for the
 * fields that every set lacks. */
#ifdef BLY_SMALL
#define FIELDS_NO_SET(...)
#else
#define FIELDS_NO_SET(...) __VA_ARGS__
#endif

typedef struct {
    const char *name;
    FIELDS_NO_SET(const char *help;)
    uint16_t    offset;
    uint8_t     type, when;
} fields_row;

#define FIELDS_ROW(record, name, type, when, help)                             \
    { #name, FIELDS_NO_SET(help,) offsetof(record, name), FIELDS_##type,       \
      FIELDS_##when }
#define FIELDS_STAT(...) FIELDS_ROW(bly_info_t, __VA_ARGS__)
#define FIELDS_PLAN(...) FIELDS_ROW(bly_plan_t, __VA_ARGS__)

static const fields_row fields_stat[] = {
    FIELDS_STAT(kind, NAME, ALWAYS, "the kind of filter"),
    FIELDS_STAT(items, COUNT, ITEMS, "keys added, repeats included"),
    FIELDS_STAT(items_exact, BOOL, BITS,
                "whether items was counted; otherwise it is estimated"),
    FIELDS_STAT(capacity, COUNT, ALWAYS, "keys it was planned for"),
    FIELDS_STAT(bytes, COUNT, ALWAYS, "size in memory, in bytes"),
    FIELDS_STAT(packed, COUNT, PACKED,
                "size when saved or sent, in bytes; 0: the same as in memory"),
    FIELDS_NO_SET({ "attached", "data attached to the filter, in bytes", 0,
                    FIELDS_ATTACHED, FIELDS_FILTER },)
    FIELDS_STAT(bits_per_key, REAL, BITS, "bits for each key planned"),
    FIELDS_STAT(fill, REAL, BITS, "share of bits, cells or slots in use"),
    FIELDS_NO_SET(
    FIELDS_STAT(fullest, REAL, LAYERS, "share in use in the fullest layer"),
    )
    FIELDS_STAT(rate, REAL, BITS, "false-positive rate now"),
    FIELDS_STAT(planned_rate, REAL, ALWAYS,
                "false-positive rate once capacity keys were added"),
    FIELDS_STAT(seed, COUNT, SEEDED, "seed of the hash function"),
    { "mark", FIELDS_NO_SET("mark of the secret that keys are hashed with",)
      offsetof(bly_info_t, seed), FIELDS_COUNT, FIELDS_KEYED },
    FIELDS_STAT(hash, NAME, HASHED, "the hash function"),
    { "keys", FIELDS_NO_SET("how keys were made into bytes; any: not stated",)
      offsetof(bly_info_t, form), FIELDS_FORM, FIELDS_HASHED },
    FIELDS_STAT(probes, COUNT32, BITS, "bits, cells or places for each key"),
    FIELDS_NO_SET(
    FIELDS_STAT(label_bits, COUNT32, LABELLED, "bits of the largest label"),
    FIELDS_STAT(label_least, COUNT, LABELLED, "the smallest label allowed"),
    FIELDS_STAT(label_most, COUNT, LABELLED, "the largest label allowed"),
    )
    FIELDS_STAT(saturated, COUNT, BITS, "counters at their largest value"),
    FIELDS_STAT(lost, REAL, BITS, "false-negative rate"),
    FIELDS_NO_SET(
    FIELDS_STAT(window, COUNT, FORGETS,
                "keys added last that are certain to be found"),
    )
    FIELDS_STAT(distinct, REAL, BITS, "different keys, estimated"),
    FIELDS_STAT(distinct_sd, REAL, BITS, "standard deviation of distinct"),
    FIELDS_STAT(geometry, GEOMETRY, ALWAYS, "four numbers of the kind's own"),
    FIELDS_NO_SET({ "labels",
                    "for each label that is there: the share of cells that "
                    "show it, and how often it is wrong", 0,
                    FIELDS_LABELS, FIELDS_FILTER },)
    { "can", FIELDS_NO_SET("abilities",) 0, FIELDS_CAN, FIELDS_FILTER },
};

static const fields_row fields_plan[] = {
    FIELDS_PLAN(kind, NAME, ALWAYS, "the kind of filter"),
    FIELDS_PLAN(capacity, COUNT, ALWAYS, "keys it is planned for"),
    FIELDS_PLAN(bytes, COUNT, ALWAYS, "size in memory, in bytes"),
    FIELDS_PLAN(packed, COUNT, ALWAYS,
                "size when saved or sent, in bytes; 0: the same as in memory"),
    FIELDS_PLAN(scratch, COUNT, ALWAYS, "more bytes that a build needs"),
    FIELDS_PLAN(bits_per_key, REAL, ALWAYS, "bits for each key planned"),
    FIELDS_PLAN(rate, REAL, ALWAYS, "predicted false-positive rate"),
    FIELDS_PLAN(rate_sd, REAL, ALWAYS,
                "standard deviation of the rate between filters"),
    FIELDS_PLAN(fill, REAL, ALWAYS, "share of bits, cells or slots in use"),
    FIELDS_PLAN(lost, REAL, ALWAYS, "predicted false-negative rate"),
    FIELDS_NO_SET(
    FIELDS_PLAN(window, COUNT, FORGETS,
                "keys added last that are certain to be found"),
    )
    FIELDS_PLAN(probes, COUNT32, ALWAYS, "bits, cells or places for each key"),
    FIELDS_NO_SET(
    FIELDS_PLAN(label_bits, COUNT32, LABELLED, "bits of the largest label"),
    FIELDS_PLAN(label_least, COUNT, LABELLED, "the smallest label allowed"),
    FIELDS_PLAN(label_most, COUNT, LABELLED, "the largest label allowed"),
    )
    FIELDS_PLAN(lines_present, REAL, ALWAYS,
                "cache lines touched by a lookup of a key that is there"),
    FIELDS_PLAN(lines_absent, REAL, ALWAYS,
                "cache lines touched by a lookup of any other key"),
    FIELDS_PLAN(geometry, GEOMETRY, ALWAYS, "four numbers of the kind's own"),
    FIELDS_PLAN(can, CAN, ALWAYS, "abilities"),
};

/* A visit: what the record meets, the next field, and the visitor. */
typedef struct {
    const bly_filter *filter;           /* or NULL                           */
    unsigned          meets;
    bool              goes_on, begun;   /* begun: the array of labels        */
    bly_field         field;
    bly_visit_field  *visit;
    void             *context;
} fields_walk;

/* Visits the next field. The one after it has no name unless it gets one. */
static void fields_give(fields_walk *w, bly_field_type type)
{
    w->field.type = type;
    w->goes_on = w->goes_on && w->visit(w->context, &w->field);
    w->field = (bly_field){ .name = NULL };
}

static void fields_text(fields_walk *w, const char *text)
{
    w->field.text = text;
    w->field.length = strlen(text);
    fields_give(w, BLY_FIELD_TEXT);
}

static void fields_count(fields_walk *w, uint64_t count)
{
    w->field.count = count;
    fields_give(w, BLY_FIELD_COUNT);
}

static void fields_real(fields_walk *w, double real)
{
    w->field.real = real;
    fields_give(w, BLY_FIELD_REAL);
}

/* ---- Lists ------------------------------------------------------------- */

static void fields_geometry(fields_walk *w, const uint64_t *geometry)
{
    fields_give(w, BLY_FIELD_ARRAY);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        fields_count(w, geometry[i]);
    fields_give(w, BLY_FIELD_END);
}

static void fields_can(fields_walk *w, uint64_t can)
{
    fields_give(w, BLY_FIELD_ARRAY);
    for (int i = 0; i < BLY_ABILITIES; i++)
        if ((can >> i & 1) != 0)
            fields_text(w, bly_ability(UINT64_C(1) << i));
    fields_give(w, BLY_FIELD_END);
}

/* No kind of the sets has labels or attached data. */
#ifndef BLY_SMALL
static void fields_label_real(fields_walk *w, const char *name, double real)
{
    w->field.name = name;
    fields_real(w, real);
}

/* Begins the array at the first label, and skips labels that no cell shows. */
static bool fields_label(void *walk, const bly_label_t *label)
{
    fields_walk *w = walk;
    if (!w->begun)
        fields_give(w, BLY_FIELD_ARRAY);
    w->begun = true;
    if (label->fill <= 0)
        return w->goes_on;
    fields_give(w, BLY_FIELD_OBJECT);
    w->field.name = "label";
    fields_count(w, label->label);
    fields_label_real(w, "fill", label->fill);
    fields_label_real(w, "rate", label->rate);
    fields_label_real(w, "mistaken", label->mistaken);
    fields_give(w, BLY_FIELD_END);
    return w->goes_on;
}

static void fields_labels(fields_walk *w)
{
    status_kept before = status_keep();
    (void)bly_list_labels(w->filter, fields_label, w);
    status_restore(&before);
    w->field.absent = !w->begun;
    fields_give(w, w->begun ? BLY_FIELD_END : BLY_FIELD_ARRAY);
}

static void fields_attached(fields_walk *w)
{
    status_kept before = status_keep();
    const void *data;
    size_t bytes = 0;
    w->field.absent = bly_attached(&data, &bytes, w->filter) != BLY_OK;
    fields_count(w, bytes);
    status_restore(&before);
}
#endif

/* ---- Rows -------------------------------------------------------------- */

static const uint8_t fields_shown[] = {
    [FIELDS_NAME] = BLY_FIELD_TEXT, [FIELDS_COUNT] = BLY_FIELD_COUNT,
    [FIELDS_COUNT32] = BLY_FIELD_COUNT, [FIELDS_REAL] = BLY_FIELD_REAL,
    [FIELDS_BOOL] = BLY_FIELD_BOOL, [FIELDS_FORM] = BLY_FIELD_TEXT,
    [FIELDS_GEOMETRY] = BLY_FIELD_ARRAY, [FIELDS_ATTACHED] = BLY_FIELD_COUNT,
    [FIELDS_LABELS] = BLY_FIELD_ARRAY, [FIELDS_CAN] = BLY_FIELD_ARRAY,
};

/* The value is at `at`, and is aligned as its type requires. */
static void fields_value(fields_walk *w, int type, const void *at)
{
    char form[BLY_FORM_TEXT];
    switch (type) {
    case FIELDS_NAME:     fields_text(w, at); break;
    case FIELDS_COUNT:    fields_count(w, *(const uint64_t *)at); break;
    case FIELDS_COUNT32:  fields_count(w, *(const uint32_t *)at); break;
    case FIELDS_REAL:     fields_real(w, *(const double *)at); break;
    case FIELDS_BOOL:
        w->field.count = *(const bool *)at;
        fields_give(w, BLY_FIELD_BOOL);
        break;
    case FIELDS_FORM:
        fields_text(w, bly_form_write(form, *(const uint64_t *)at));
        break;
    case FIELDS_GEOMETRY: fields_geometry(w, at); break;
    FIELDS_NO_SET(
    case FIELDS_ATTACHED: fields_attached(w); break;
    case FIELDS_LABELS:   fields_labels(w); break;
    )
    case FIELDS_CAN:
        fields_can(w, w->filter != NULL ? bly_can(w->filter)
                                        : *(const uint64_t *)at);
        break;
    }
}

static bool fields_each(fields_walk *w, const void *record,
                        const fields_row *row, size_t n)
{
    w->goes_on = true;
    for (const fields_row *end = row + n; row < end && w->goes_on; row++) {
        w->field.name = row->name;
        FIELDS_NO_SET(w->field.help = row->help;)
        w->field.absent = (w->meets >> row->when & 1) == 0;
        if (w->field.absent)
            fields_give(w, fields_shown[row->type]);
        else
            fields_value(w, row->type, (const uint8_t *)record + row->offset);
    }
    return w->goes_on;
}

/* ---- Records ----------------------------------------------------------- */

/* Returns the conditions about the hash: the files of other systems have no
 * room for ours. */
static unsigned fields_hashed(const char *kind, const char *hash)
{
    FIELDS_NO_SET(
    const bly_kind *known = registry_find(kind, strlen(kind));
    if (known != NULL && known->foreign != NULL)
        return 0;
    )
    (void)kind;
    bool keyed = strcmp(hash, "siphash") == 0;
    return FIELDS_BIT(HASHED)
         | (keyed ? FIELDS_BIT(KEYED) : FIELDS_BIT(SEEDED));
}

bool bly_info_each(const bly_info_t *stat, const bly_filter *filter,
                   bly_visit_field *visit, void *context)
{
    fields_walk w = {
        .filter = filter, .visit = visit, .context = context,
        .meets = FIELDS_BIT(ALWAYS) | FIELDS_BIT(BITS) | FIELDS_BIT(ITEMS)
               | FIELDS_BIT(PACKED)
               | fields_hashed(stat->kind, stat->hash)
               | (filter != NULL ? FIELDS_BIT(FILTER) : 0)
               FIELDS_NO_SET(
               | (stat->fullest > 0 ? FIELDS_BIT(LAYERS) : 0)
               | (stat->label_bits > 0 ? FIELDS_BIT(LABELLED) : 0)
               | (stat->window < UINT64_MAX ? FIELDS_BIT(FORGETS) : 0)
               )
    };
    return fields_each(&w, stat, fields_stat,
                       sizeof fields_stat / sizeof *fields_stat);
}

bool bly_header_each(const bly_header *header, bly_visit_field *visit,
                     void *context)
{
    bly_info_t stat = {
        .items = header->items, .capacity = header->capacity,
        .bytes = header->packed ? header->unpacked : header->bytes,
        .packed = header->bytes, .planned_rate = header->rate,
        .seed = header->seed, .form = header->form,
    };
    fields_walk w = {
        .visit = visit, .context = context,
        .meets = FIELDS_BIT(ALWAYS) | fields_hashed(header->kind, header->hash)
               | (header->items < UINT64_MAX ? FIELDS_BIT(ITEMS) : 0)
               | (header->packed ? FIELDS_BIT(PACKED) : 0),
    };
    memcpy(stat.kind, header->kind, sizeof stat.kind);
    memcpy(stat.hash, header->hash, sizeof stat.hash);
    memcpy(stat.geometry, header->geometry, sizeof stat.geometry);
    return fields_each(&w, &stat, fields_stat,
                       sizeof fields_stat / sizeof *fields_stat);
}

bool bly_plan_each(const bly_plan_t *plan, bly_visit_field *visit,
                   void *context)
{
    fields_walk w = {
        .visit = visit, .context = context,
        .meets = FIELDS_BIT(ALWAYS)
               FIELDS_NO_SET(
               | (plan->label_bits > 0 ? FIELDS_BIT(LABELLED) : 0)
               | (plan->window < UINT64_MAX ? FIELDS_BIT(FORGETS) : 0)
               )
    };
    return fields_each(&w, plan, fields_plan,
                       sizeof fields_plan / sizeof *fields_plan);
}
