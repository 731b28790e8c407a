/* about.c - a filter's properties as JSON, for `bloomery info`. */
#include "filters/filters.h"
#include "frame/json.h"

#include <bloomery/foreign.h>

/* Returns the seed, or what stands in its place: a filter opened with a secret
 * has none. */
static const char *about_seed(void)
{
    return secret_bytes() != NULL ? "mark" : "seed";
}

bool about_attached(size_t *bytes, const bly_filter *filter)
{
    const void *data;

    return bly_attached(&data, bytes, filter) == BLY_OK;
}

void about_geometry(const uint64_t geometry[4])
{
    json_open_array("geometry");
    for (size_t i = 0; i < 4; i++)
        json_count(NULL, geometry[i]);
    json_close_array();
}

static bool about_label(void *context, const bly_label_t *label)
{
    bool *any = context;

    if (!*any)
        json_open_array("labels");
    *any = true;
    if (label->fill <= 0)
        return true;
    json_open_object(NULL);
    json_count("label", label->label);
    json_real("fill", label->fill);
    json_real("rate", label->rate);
    json_real("mistaken", label->mistaken);
    json_close_object();
    return true;
}

void about_json(const bly_filter *filter, const bly_stat_t *stat,
                const char *file)
{
    bool labels = false;
    size_t attached;

    json_open_object(NULL);
    json_string("file", file);
    json_string("kind", stat->kind);
    json_count("items", stat->items);
    json_bool("items_exact", stat->items_exact);
    json_count("capacity", stat->capacity);
    json_count("bytes", stat->bytes);
    json_count("packed", stat->packed);
    if (about_attached(&attached, filter))
        json_count("attached", attached);
    json_real("bits_per_key", stat->bits_per_key);
    json_real("fill", stat->fill);
    if (stat->fullest > 0)
        json_real("fullest", stat->fullest);
    json_real("rate", stat->rate);
    json_real("planned_rate", stat->planned_rate);
    if (!filter_kind_of_family(stat->kind, "foreign")) {
        json_count(about_seed(), stat->seed);
        json_string("hash", stat->hash);
        json_string("keys", forms_name(stat->form).text);
    }
    json_count("probes", stat->probes);
    json_labels(stat->label_bits, stat->label_least, stat->label_most);
    json_count("saturated", stat->saturated);
    json_real("lost", stat->lost);
    if (stat->window < UINT64_MAX)
        json_count("window", stat->window);
    json_real("distinct", stat->distinct);
    json_real("distinct_sd", stat->distinct_sd);
    about_geometry(stat->geometry);
    bly_list_labels(filter, about_label, &labels);
    if (labels)
        json_close_array();
    json_close_object();
}

void about_bytes(bly_stat_t *stat)
{
    if (!filter_kind_of_family(stat->kind, "foreign"))
        return;
    stat->bytes -= BLY_HEADER_BYTES;
    stat->bits_per_key = 8 * (double)stat->bytes / (double)stat->capacity;
}
