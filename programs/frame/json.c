/* json.c - JSON on stdout, and JSON strings behind other bytes.
 *
 * Writes one document at a time to stdout (output.c), indented by two spaces.
 * The library's writer does the work.
 */
#include "frame/json.h"

#include "frame/output.h"

#include <string.h>

/* Goes on after an error, which output.c keeps, so that the document ends. */
static bool json_put(void *unused, const char *text, size_t length)
{
    (void)unused;
    output_bytes(text, length);
    return true;
}

static bly_json json_out = { .put = json_put, .style = BLY_JSON_LINES };

bool json_field(void *unused, const bly_field *field)
{
    (void)unused;
    return bly_json_field(&json_out, field);
}

static void json_give(const char *key, bly_field_type type)
{
    json_field(NULL, &(bly_field){ .name = key, .type = type });
}

void json_open_object(const char *key)
{
    json_give(key, BLY_FIELD_OBJECT);
}

void json_close_object(void)
{
    json_give(NULL, BLY_FIELD_END);
}

void json_open_array(const char *key)
{
    json_give(key, BLY_FIELD_ARRAY);
}

void json_close_array(void)
{
    json_give(NULL, BLY_FIELD_END);
}

void json_string(const char *key, const char *text)
{
    json_field(NULL, &(bly_field){
        .name = key, .type = BLY_FIELD_TEXT, .text = text,
        .length = text != NULL ? strlen(text) : 0,
    });
}

void json_count(const char *key, uint64_t n)
{
    json_field(NULL, &(bly_field){ .name = key, .type = BLY_FIELD_COUNT,
                                   .count = n });
}

void json_real(const char *key, double x)
{
    json_field(NULL, &(bly_field){ .name = key, .type = BLY_FIELD_REAL,
                                   .real = x });
}

void json_bool(const char *key, bool yes)
{
    json_field(NULL, &(bly_field){ .name = key, .type = BLY_FIELD_BOOL,
                                   .count = yes });
}

void json_labels(uint32_t bits, uint64_t least, uint64_t most)
{
    if (bits == 0)
        return;
    json_count("label_bits", bits);
    json_count("label_least", least);
    json_count("label_most", most);
}

static bool json_put_bytes(void *to, const char *text, size_t length)
{
    return bytes_put(to, text, length);
}

bool json_quote(cli_bytes *to, const void *text, size_t n)
{
    bly_json json = { .put = json_put_bytes, .context = to };

    return bly_json_field(&json, &(bly_field){ .type = BLY_FIELD_TEXT,
                                               .text = text, .length = n });
}
