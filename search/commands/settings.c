/* settings.c - the settings stored in an index.
 *
 * They are text, NAME=VALUE, each ended by NUL, in any order. An unknown name
 * means that a newer version made the index. Each document is stored with its
 * position in its file, and the state of the file.
 */
#include "search/commands/search.h"
#include "frame/numbers.h"
#include "frame/options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Increased whenever the rules for finding terms change. */
static const char settings_rules[] = "3";

/* ==== Rules ============================================================= */

const char *settings_rule(char *by, settings *made)
{
    char *names = strchr(by, '=');
    const char *wrong;

    if (names != NULL && strncmp(by, "kmers=", 6) != 0)
        *names++ = '\0';
    else
        names = NULL;
    wrong = terms_read(by, &made->rule, &made->k);
    if (wrong != NULL)
        return wrong;
    if (!terms_named(made->rule))
        return names != NULL ? "has no names: leave out '=' and the rest"
                             : NULL;
    return names == NULL ? "has no name: give json-field=NAME or column=NAME"
                         : values_read(names, made->rule, &made->values);
}

/* ==== Written =========================================================== */

typedef struct { cli_bytes bytes; bool failed; } settings_text;

static void settings_put(settings_text *to, const char *name, const char *value)
{
    to->failed |= !bytes_text(&to->bytes, name) || !bytes_text(&to->bytes, "=")
               || !bytes_put(&to->bytes, value, strlen(value) + 1);
}

static void settings_put_number(settings_text *to, const char *name, uint64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, n);
    settings_put(to, name, text);
}

char *settings_write(const settings *s, size_t *n)
{
    settings_text to = { .failed = false };

    settings_put(&to, "rules", settings_rules);
    settings_put(&to, "by", terms_name(s->rule));
    if (s->rule == TERMS_KMERS)
        settings_put_number(&to, "k", s->k);
    if (s->least > 1)
        settings_put_number(&to, "min-count", s->least);
    for (size_t i = 0; i < s->values.n; i++)
        settings_put(&to, "name", s->values.names[i]);
    if (s->values.separator >= 0)
        settings_put_number(&to, "separator", (uint64_t)s->values.separator);
    if (s->values.tsv)
        settings_put(&to, "tsv", "1");
    settings_put_number(&to, "block", s->block);
    if (s->recursive)
        settings_put(&to, "recursive", "1");
    if (s->git)
        settings_put(&to, "git", "1");
    if (s->plain)
        settings_put(&to, "plain", "1");
    settings_put(&to, "folder", s->folder);
    for (size_t i = 0; i < s->paths.count; i++)
        settings_put(&to, "path", s->paths.names[i]);
    *n = bytes_waiting(&to.bytes);
    if (!to.failed)
        return (char *)to.bytes.data;
    bytes_free(&to.bytes);
    return NULL;
}

/* ==== Read ============================================================== */

/* Reads one setting. Returns false if it is unknown or memory is short. */
static bool settings_take(settings *s, const char *name, size_t length,
                          char *value)
{
    const char *names[] = { "rules", "by", "k", "block", "recursive", "plain",
                            "folder", "path", "git", "min-count",
                            "separator", "name", "tsv" };
    const size_t count = sizeof names / sizeof *names;
    uint64_t number = 0;
    size_t i = 0;

    while (i < count && (strlen(names[i]) != length
                     || memcmp(names[i], name, length) != 0))
        i++;
    if ((i == 2 || i == 3 || i == 9 || i == 10)
        && (numbers_number(value, &number) != NULL || number > SIZE_MAX / 4))
        return false;
    switch (i) {
    case 0: return strcmp(value, settings_rules) == 0;
    case 1: return terms_read(value, &s->rule, &s->k) == NULL;
    case 2: s->k = (unsigned)number; return number <= TERMS_KMER;
    case 3: s->block = number; return true;
    case 4: s->recursive = true; return true;
    case 5: s->plain = true; return true;
    case 6: s->folder = value; return true;
    case 7: return options_append(&s->paths, value);
    case 8: s->git = true; return true;
    case 9: s->least = number; return number > 0 && number <= KMERS_LEAST;
    case 10: s->values.separator = (int)number; return number <= UINT8_MAX;
    case 11:
        if (s->values.n == VALUES_MOST)
            return false;
        s->values.names[s->values.n++] = value;
        return true;
    case 12: s->values.tsv = true; return true;
    default: return false;
    }
}

/* Reads all settings. Returns false if they are invalid, or some are unknown.
 */
static bool settings_read(settings *s, const bly_index_stat_t *stat)
{
    char *at = (char *)(uintptr_t)stat->about, *end = at + stat->about_bytes;
    bool fine = stat->about_bytes > 0 && end[-1] == '\0'
             && stat->extra == SETTINGS_EXTRA;

    for (; fine && at < end; at += strlen(at) + 1) {
        char *value = strchr(at, '=');

        fine = value != NULL
            && settings_take(s, at, (size_t)(value - at), value + 1);
    }
    return fine && s->block > 0 && s->folder != NULL
        && terms_named(s->rule) == (s->values.n > 0);
}

bly_index *settings_open(const char *path, settings *s)
{
    bly_index_stat_t stat;
    bly_index *index;

    *s = (settings){ .k = TERMS_KMER, .least = 1,
                     .values = { .separator = -1 } };
    if (bly_index_open(&index, path, NULL) < 0) {
        filter_error();
        return NULL;
    }
    bly_index_stat(&stat, index);
    if (settings_read(s, &stat))
        return index;
    report_error("'%s' is an index made by another program, or by a later "
                 "version: make it again with 'bloomery index'", path);
    free(s->paths.names);
    bly_index_free(index);
    return NULL;
}

/* Returns whether all names are absolute, and would be found by an update. */
static bool settings_absolute(const settings *made, const bly_index *index)
{
    bly_document document;

    for (size_t i = 0; i < made->paths.count; i++)
        if (made->paths.names[i][0] != '/')
            return false;
    if (made->paths.count == 0 && made->recursive)
        return false;
    for (uint64_t i = 0; bly_index_document(&document, index, i) >= 0; i++)
        if (document.length == 0 || document.name[0] != '/')
            return false;
    return true;
}

int settings_here(const char *path, const settings *made,
                  const bly_index *index, const char *folder)
{
    if (strcmp(folder, made->folder) == 0 || settings_absolute(made, index))
        return CLI_GO;
    return report_error("'%s' was made in the folder '%s', to which its names "
                        "are relative: run the command there", path,
                        made->folder);
}

/* ==== Documents ========================================================= */

/* Bits of `lines`. */
enum {
    SETTINGS_CUT = 60, SETTINGS_INSIDE = 61, SETTINGS_BINARY = 62,
    SETTINGS_WHOLE = 63
};

void settings_pack(unsigned char to[SETTINGS_EXTRA], const settings_part *part)
{
    forms_store(to, part->stamp);
    forms_store(to + 8, part->offset);
    forms_store(to + 16, part->length);
    forms_store(to + 24, part->lines
                         | (uint64_t)part->cut << SETTINGS_CUT
                         | (uint64_t)part->inside << SETTINGS_INSIDE
                         | (uint64_t)part->binary << SETTINGS_BINARY
                         | (uint64_t)part->whole << SETTINGS_WHOLE);
}

void settings_unpack(settings_part *part, const void *from)
{
    const unsigned char *at = from;
    uint64_t lines = forms_load(at + 24);

    part->stamp = forms_load(at);
    part->offset = forms_load(at + 8);
    part->length = forms_load(at + 16);
    part->lines = lines & (((uint64_t)1 << SETTINGS_CUT) - 1);
    part->cut = (lines >> SETTINGS_CUT & 1) != 0;
    part->inside = (lines >> SETTINGS_INSIDE & 1) != 0;
    part->binary = (lines >> SETTINGS_BINARY & 1) != 0;
    part->whole = lines >> SETTINGS_WHOLE != 0;
}
