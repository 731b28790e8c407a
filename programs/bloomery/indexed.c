/* indexed.c - `info` for indexes of many sets. */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <bloomery/index.h>
#include <string.h>

enum { INDEXED_ROW = 200 };             /* bytes of values in one row       */

/* A setting of the program that made the index. */
typedef struct {
    const char *name, *value;
    size_t      length;         /* of the name                              */
} indexed_setting;

/* Reads the next of the texts NAME=VALUE that `bloomery index` stores, each
 * ended by a NUL. Returns false if there is none. */
static bool indexed_next(const char **at, const char *end,
                         indexed_setting *out)
{
    const size_t left = (size_t)(end - *at);
    const char *stop = left > 0 ? memchr(*at, '\0', left) : NULL;
    const char *equals = stop != NULL ? strchr(*at, '=') : NULL;

    if (equals == NULL)
        return false;
    *out = (indexed_setting){ *at, equals + 1, (size_t)(equals - *at) };
    *at = stop + 1;
    return true;
}

/* Prints text in which bytes that a terminal would obey become '?'. */
static void indexed_safe(const char *text)
{
    for (; *text != '\0'; text++) {
        const bool obeyed = (unsigned char)*text < ' ' || *text == 127;

        output_bytes(obeyed ? "?" : text, 1);
    }
}

/* Prints a row for each name, with as many of its values as fit. */
static void indexed_rows(const bly_index_stat_t *stat)
{
    const char *at = stat->about, *end = at + stat->about_bytes;
    indexed_setting last = { NULL, NULL, 0 }, one;
    size_t used = 0, more = 0;

    while (indexed_next(&at, end, &one)) {
        const bool same = last.name != NULL && last.length == one.length
                       && memcmp(last.name, one.name, one.length) == 0;

        used = same ? used + strlen(one.value) + 2 : 0;
        if (same && used > INDEXED_ROW) {
            more++;
            continue;
        }
        if (more > 0)
            output_format(", and %s more", report_count(more).text);
        more = 0;
        if (!same)
            output_format("%s  %-10.*s ", last.name != NULL ? "\n" : "",
                          (int)one.length, one.name);
        output_text(same ? ", " : "");
        indexed_safe(one.value);
        last = one;
    }
    if (more > 0)
        output_format(", and %s more", report_count(more).text);
    output_text(last.name != NULL ? "\n" : "");
}

static void indexed_text(const bly_index_stat_t *stat, const char *path)
{
    output_text(path);
    output_format("\n  index      for 'bloomery which' and 'bloomery search'\n"
                  "  documents  %s\n",
                  report_count(stat->documents - stat->dropped).text);
    output_format("  keys       %s, the different ones of each document\n",
                  report_count(stat->keys).text);
    output_format("  size       %s\n", report_bytes(stat->bytes).text);
    output_format("  rate       %s of the documents are named for a key that "
                  "they lack\n", report_percent(stat->rate).text);
    indexed_rows(stat);
}

static void indexed_json(const bly_index_stat_t *stat, const char *path)
{
    const char *at = stat->about, *end = at + stat->about_bytes;
    indexed_setting one;

    json_open_object(NULL);
    json_string("file", path);
    json_string("kind", "index");
    json_count("documents", stat->documents - stat->dropped);
    json_count("keys", stat->keys);
    json_count("bytes", stat->bytes);
    json_real("rate", stat->rate);
    json_count("probes", stat->probes);
    json_string("hash", stat->hash);
    json_count("seed", stat->seed);
    json_open_array("settings");
    while (indexed_next(&at, end, &one))
        json_string(NULL, one.name);
    json_close_array();
    json_close_object();
}

int indexed_info(const char *path, bool json, bool verify)
{
    bly_index_stat_t stat;
    bly_index *index;
    int status = CLI_OK;

    if (bly_index_open(&index, path, NULL) < 0)
        return filter_error();
    bly_index_stat(&stat, index);
    if (verify && bly_index_verify(index, progress_library()) < 0)
        status = report_error("'%s': %s", path, filter_why());
    else
        (json ? indexed_json : indexed_text)(&stat, path);
    bly_index_free(index);
    return status;
}
