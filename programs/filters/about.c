/* about.c - a filter's properties as JSON, for `bloomery info`. */
#include "filters/filters.h"
#include "frame/json.h"

#include <bloomery/foreign.h>

bool about_attached(size_t *bytes, const bly_filter *filter)
{
    const void *data;

    return bly_attached(&data, bytes, filter) == BLY_OK;
}

void about_json(const bly_filter *filter, const bly_info_t *stat,
                const char *file)
{
    json_open_object(NULL);
    json_string("file", file);
    bly_info_each(stat, filter, json_field, NULL);
    json_close_object();
}

void about_bytes(bly_info_t *stat)
{
    if (!filter_kind_of_family(stat->kind, "foreign"))
        return;
    stat->bytes -= BLY_HEADER_BYTES;
    stat->bits_per_key = 8 * (double)stat->bytes / (double)stat->capacity;
}
