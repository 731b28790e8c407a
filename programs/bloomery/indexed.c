/* indexed.c - `info` for indexes of many sets. */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <bloomery/index.h>

#include <stdlib.h>
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

/* ==== Files that are not covered ======================================== */

/* Returns whether a document stands for what the index lacks of a file. Its
 * bytes are those that `bloomery index` stores, docs/format/indexes.md. */
static bool indexed_lacks(const bly_index_stat_t *stat,
                          const bly_document *document)
{
    enum { BYTES = 32, AT = 31, BIT = 1 << 4 };
    const unsigned char *extra = document->extra;

    return stat->extra == BYTES && !document->dropped
        && (extra[AT] & BIT) != 0;
}

/* Counts these documents. Returns CLI_GO or CLI_ERROR. */
static int indexed_count(uint64_t *n, const bly_index *index,
                         const bly_index_stat_t *stat)
{
    bly_document document;

    *n = 0;
    for (uint64_t i = 0; i < stat->documents; i++) {
        if (bly_index_document(&document, index, i) < 0)
            return filter_error();
        *n += indexed_lacks(stat, &document);
    }
    return CLI_GO;
}

/* Prints a name, in JSON or as one of a row. */
static int indexed_name(const bly_document *document, bool json, bool first)
{
    char *name = strndup(document->name, document->length);

    if (name == NULL)
        return report_no_memory();
    if (json) {
        json_string(NULL, name);
    } else {
        output_text(first ? "" : ", ");
        indexed_safe(name);
    }
    free(name);
    return CLI_GO;
}

/* Prints n names of files, as many as fit in a row; all of them in JSON. */
static int indexed_names(const bly_index *index, const bly_index_stat_t *stat,
                         uint64_t n, bool json)
{
    uint64_t named = 0;
    size_t used = 0;
    int status = CLI_GO;

    for (uint64_t i = 0; named < n && status == CLI_GO; i++) {
        bly_document document;

        if (bly_index_document(&document, index, i) < 0)
            return filter_error();
        if (!indexed_lacks(stat, &document))
            continue;
        used += document.length + 2;
        if (!json && named > 0 && used > INDEXED_ROW)
            break;
        status = indexed_name(&document, json, named++ == 0);
    }
    if (named < n)
        output_format(", and %s more", report_count(n - named).text);
    return status;
}

static int indexed_uncovered(const bly_index *index,
                             const bly_index_stat_t *stat, bool json)
{
    uint64_t n;
    int status = indexed_count(&n, index, stat);

    if (status != CLI_GO || (n == 0 && !json))
        return status;
    if (json)
        json_open_array("uncovered");
    else
        output_format("  uncovered  %s file%s, which may have any key: ",
                      report_count(n).text, n == 1 ? "" : "s");
    status = indexed_names(index, stat, n, json);
    if (json)
        json_close_array();
    else
        output_text("\n");
    return status;
}

/* ==== All of it ========================================================= */

static int indexed_text(const bly_index *index, const bly_index_stat_t *stat,
                        const char *path)
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
    return indexed_uncovered(index, stat, false);
}

static int indexed_json(const bly_index *index, const bly_index_stat_t *stat,
                        const char *path)
{
    int status;
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
    status = indexed_uncovered(index, stat, true);
    json_close_object();
    return status;
}

int indexed_info(const char *path, bool json, bool verify)
{
    bly_index_stat_t stat;
    bly_index *index;
    int status;

    if (bly_index_open(&index, path, NULL) < 0)
        return filter_error();
    bly_index_stat(&stat, index);
    if (verify && bly_index_verify(index, progress_library()) < 0)
        status = report_error("'%s': %s", path, filter_why());
    else
        status = (json ? indexed_json : indexed_text)(index, &stat, path);
    bly_index_free(index);
    return status == CLI_GO ? CLI_OK : status;
}
