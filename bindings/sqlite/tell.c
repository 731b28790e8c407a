/* tell.c - functions that tell of filters and plans, in the JSON that the
 * command writes: `bloomery info --json` and `bloomery plan --json`. */
#include "extension.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The subtype by which SQLite's JSON functions recognise JSON. */
enum { TELL_SUBTYPE = 'J' };

#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0
#endif

/* ---- JSON ---------------------------------------------------------------- */

static void tell_quoted(sqlite3_str *to, const char *text)
{
    sqlite3_str_appendchar(to, 1, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            sqlite3_str_appendchar(to, 1, '\\');
        if (c < ' ')
            sqlite3_str_appendf(to, "\\u%04x", c);
        else
            sqlite3_str_appendchar(to, 1, (char)c);
    }
    sqlite3_str_appendchar(to, 1, '"');
}

static void tell_begin(tell_json *json, const char *name)
{
    if (json->any)
        sqlite3_str_appendchar(json->text, 1, ',');
    json->any = true;
    if (name == NULL)
        return;
    tell_quoted(json->text, name);
    sqlite3_str_appendchar(json->text, 1, ':');
}

void tell_open(tell_json *json, const char *name, char bracket)
{
    tell_begin(json, name);
    sqlite3_str_appendchar(json->text, 1, bracket);
    json->any = false;
}

void tell_close(tell_json *json, char bracket)
{
    sqlite3_str_appendchar(json->text, 1, bracket);
    json->any = true;
}

void tell_text(tell_json *json, const char *name, const char *text)
{
    tell_begin(json, name);
    if (text != NULL)
        tell_quoted(json->text, text);
    else
        sqlite3_str_appendall(json->text, "null");
}

static void tell_count(tell_json *json, const char *name, uint64_t n)
{
    tell_begin(json, name);
    sqlite3_str_appendf(json->text, "%llu", (unsigned long long)n);
}

static void tell_bool(tell_json *json, const char *name, bool yes)
{
    tell_begin(json, name);
    sqlite3_str_appendall(json->text, yes ? "true" : "false");
}

/* Prints the fewest of 15, 16 or 17 digits that read back as the same double,
 * whatever the locale's decimal point. */
static void tell_real(tell_json *json, const char *name, double x)
{
    char text[40];
    tell_begin(json, name);
    if (!isfinite(x)) {
        sqlite3_str_appendall(json->text, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        double back = strtod(text, NULL);
        if (memcmp(&back, &x, sizeof x) == 0)
            break;
    }
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    sqlite3_str_appendall(json->text, text);
}

static void tell_labels(tell_json *json, uint32_t bits, uint64_t least,
                        uint64_t most)
{
    if (bits == 0)
        return;
    tell_count(json, "label_bits", bits);
    tell_count(json, "label_least", least);
    tell_count(json, "label_most", most);
}

static void tell_geometry(tell_json *json, const uint64_t geometry[4])
{
    tell_open(json, "geometry", '[');
    for (size_t i = 0; i < 4; i++)
        tell_count(json, NULL, geometry[i]);
    tell_close(json, ']');
}

static tell_json tell_new(sqlite3_context *context)
{
    tell_json json = {
        .text = sqlite3_str_new(sqlite3_context_db_handle(context)),
    };
    tell_open(&json, NULL, '{');
    return json;
}

static void tell_give(sqlite3_context *context, tell_json *json)
{
    tell_close(json, '}');
    int status = sqlite3_str_errcode(json->text);
    char *text = sqlite3_str_finish(json->text);
    if (text == NULL || status != SQLITE_OK) {
        sqlite3_free(text);
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_text(context, text, -1, sqlite3_free);
    sqlite3_result_subtype(context, TELL_SUBTYPE);
}

/* ---- Filters ------------------------------------------------------------- */

typedef struct { tell_json *json; bool any; } tell_visit;

static bool tell_label(void *context, const bly_label_t *label)
{
    tell_visit *visit = context;
    if (!visit->any)
        tell_open(visit->json, "labels", '[');
    visit->any = true;
    if (label->fill <= 0)
        return true;
    tell_open(visit->json, NULL, '{');
    tell_count(visit->json, "label", label->label);
    tell_real(visit->json, "fill", label->fill);
    tell_real(visit->json, "rate", label->rate);
    tell_real(visit->json, "mistaken", label->mistaken);
    tell_close(visit->json, '}');
    return true;
}

static void tell_stat(tell_json *json, const bly_stat_t *s)
{
    tell_text(json, "kind", s->kind);
    tell_count(json, "items", s->items);
    tell_bool(json, "items_exact", s->items_exact);
    tell_count(json, "capacity", s->capacity);
    tell_count(json, "bytes", s->bytes);
    tell_count(json, "packed", s->packed);
    tell_real(json, "bits_per_key", s->bits_per_key);
    tell_real(json, "fill", s->fill);
    if (s->fullest > 0)
        tell_real(json, "fullest", s->fullest);
    tell_real(json, "rate", s->rate);
    tell_real(json, "planned_rate", s->planned_rate);
    tell_count(json, "seed", s->seed);
    tell_text(json, "hash", s->hash);
    tell_count(json, "probes", s->probes);
    tell_labels(json, s->label_bits, s->label_least, s->label_most);
    tell_count(json, "saturated", s->saturated);
    tell_real(json, "lost", s->lost);
    if (s->window < UINT64_MAX)
        tell_count(json, "window", s->window);
    tell_real(json, "distinct", s->distinct);
    tell_real(json, "distinct_sd", s->distinct_sd);
    tell_geometry(json, s->geometry);
}

static void tell_info(sqlite3_context *context, int n, sqlite3_value **values)
{
    bly_stat_t stat;
    (void)n;
    bly_filter *filter = held_own(context, values[0]);
    if (filter == NULL)
        return;
    bly_status status = bly_stat(&stat, filter);
    if (status < 0) {
        extension_fail(context, status);
    } else {
        tell_json json = tell_new(context);
        tell_visit visit = { .json = &json };
        char form[BLY_FORM_TEXT];
        tell_stat(&json, &stat);
        tell_text(&json, "keys", bly_form_write(form, bly_form_of(filter)));
        bly_list_labels(filter, tell_label, &visit);
        if (visit.any)
            tell_close(&json, ']');
        tell_give(context, &json);
    }
    bly_free(filter);
}

/* ---- Plans --------------------------------------------------------------- */

static void tell_planned(tell_json *json, const bly_plan_t *p)
{
    tell_text(json, "kind", p->kind);
    tell_count(json, "capacity", p->capacity);
    tell_count(json, "bytes", p->bytes);
    tell_count(json, "packed", p->packed);
    tell_count(json, "scratch", p->scratch);
    tell_real(json, "bits_per_key", p->bits_per_key);
    tell_real(json, "rate", p->rate);
    tell_real(json, "rate_sd", p->rate_sd);
    tell_real(json, "fill", p->fill);
    tell_real(json, "lost", p->lost);
    if (p->window < UINT64_MAX)
        tell_count(json, "window", p->window);
    tell_count(json, "probes", p->probes);
    tell_labels(json, p->label_bits, p->label_least, p->label_most);
    tell_real(json, "lines_present", p->lines_present);
    tell_real(json, "lines_absent", p->lines_absent);
    tell_geometry(json, p->geometry);
}

static void tell_plan(sqlite3_context *context, int n, sqlite3_value **values)
{
    bly_spec spec = { .threads = 1 };
    bly_plan_t plan;
    const char *kind;
    if (!keys_spec(context, &kind, &spec, n, values, true))
        return;
    bly_status status = bly_plan(&plan, kind, &spec);
    if (status < 0) {
        extension_fail(context, status);
        return;
    }
    tell_json json = tell_new(context);
    tell_planned(&json, &plan);
    tell_give(context, &json);
}

static void tell_version(sqlite3_context *context, int n,
                         sqlite3_value **values)
{
    (void)n;
    (void)values;
    sqlite3_result_text(context, bly_version(), -1, SQLITE_STATIC);
}

int tell_register(sqlite3 *db)
{
    int flags = EXTENSION_PURE | SQLITE_RESULT_SUBTYPE;
    int status = sqlite3_create_function_v2(db, "bloomery_info", 1, flags, NULL,
                                            tell_info, NULL, NULL, NULL);
    for (int n = 2; n <= 3 && status == SQLITE_OK; n++)
        status = sqlite3_create_function_v2(db, "bloomery_plan", n, flags, NULL,
                                            tell_plan, NULL, NULL, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_create_function_v2(db, "bloomery_version", 0,
                                            EXTENSION_PURE, NULL, tell_version,
                                            NULL, NULL, NULL);
    return status;
}
