/* registry.c - the list of kinds, the listing made from it, and the reading
 * of "kind:option=value,…".
 *
 * Floor 5.
 */
#include "verbs/registry.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"

const bly_kind *const registry_kinds[] = {
#define REGISTRY_ADDRESS(name) &bly_kind_##name,
    REGISTRY_KINDS(REGISTRY_ADDRESS)
#undef REGISTRY_ADDRESS
    NULL,
};

enum { REGISTRY_SIZE = sizeof registry_kinds / sizeof *registry_kinds - 1 };

const bly_kind *registry_find(const char *name, size_t length)
{
    for (size_t i = 0; i < REGISTRY_SIZE; i++)
        if (strlen(registry_kinds[i]->name) == length
            && memcmp(registry_kinds[i]->name, name, length) == 0)
            return registry_kinds[i];
    return NULL;
}

/* ---- Reading "kind:option=value,…" ------------------------------------- */

/* Append ", word" to a list in a buffer; what does not fit is left out. */
static void registry_append(char *list, size_t room, const char *between,
                            const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used == 0 ? "" : between, word);
}

static bly_status registry_no_kind(const char *name, size_t length)
{
    char known[400] = "";
    for (size_t i = 0; i < REGISTRY_SIZE; i++)
        registry_append(known, sizeof known, ", ", registry_kinds[i]->name);
    return status_fail(BLY_EKIND, "there is no kind '%.*s': choose one of %s",
                       (int)(length < 40 ? length : 40), name, known);
}

static bly_status registry_no_option(const bly_kind *kind, const char *name,
                                     size_t length)
{
    char known[256] = "";
    for (const kind_option *o = kind->options; o && o->name; o++)
        registry_append(known, sizeof known, ", ", o->name);
    return status_fail(BLY_EOPTION, "kind %s has no option '%.*s': it has %s",
                       kind->name, (int)(length < 40 ? length : 40), name,
                       *known ? known : "none");
}

static void registry_range(char *out, size_t room, const kind_option *o)
{
    out[0] = '\0';
    if (o->choices == NULL)
        snprintf(out, room, "%" PRIu64 " .. %" PRIu64, o->least, o->most);
    for (size_t i = 0; o->choices != NULL && o->choices[i] != NULL; i++)
        registry_append(out, room, " | ", o->choices[i]);
}

static bool registry_digits(uint64_t *out, const char *text, size_t length)
{
    uint64_t v = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9' || !sizes_mul(&v, v, 10)
            || !sizes_add(&v, v, (uint64_t)(text[i] - '0')))
            return false;
    *out = v;
    return length > 0;
}

/* 1000000 or 1e6. */
static bool registry_number(uint64_t *out, const char *text, size_t length)
{
    const char *e = memchr(text, 'e', length);
    size_t digits = e != NULL ? (size_t)(e - text) : length;
    uint64_t zeros = 0;
    if (!registry_digits(out, text, digits)
        || (e != NULL && !registry_digits(&zeros, e + 1, length - digits - 1)))
        return false;
    for (; *out > 0 && zeros > 0; zeros--)
        if (!sizes_mul(out, *out, 10))
            return false;
    return true;
}

static bool registry_choice(uint64_t *out, const kind_option *o,
                            const char *text, size_t length)
{
    for (size_t i = 0; o->choices[i] != NULL; i++)
        if (strlen(o->choices[i]) == length
            && memcmp(o->choices[i], text, length) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bly_status registry_value(uint64_t *out, const bly_kind *kind,
                                 const kind_option *o, const char *text,
                                 size_t length)
{
    uint64_t v = 0;
    bool good = o->choices != NULL
              ? registry_choice(&v, o, text, length)
              : registry_number(&v, text, length)
                && v >= o->least && v <= o->most;
    if (!good) {
        char range[192];
        registry_range(range, sizeof range, o);
        return status_fail(BLY_EOPTION, "kind %s: %s=%.*s is not possible: "
                           "%s is %s", kind->name, o->name,
                           (int)(length < 40 ? length : 40), text, o->name,
                           range);
    }
    *out = v;
    return BLY_OK;
}

/* One "name=value" of `length` characters. */
static bly_status registry_option(uint64_t option[KIND_OPTIONS],
                                  const bly_kind *kind, const char *text,
                                  size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - text) : length;

    for (size_t i = 0; kind->options && kind->options[i].name; i++) {
        const kind_option *o = &kind->options[i];
        if (strlen(o->name) != name || memcmp(o->name, text, name) != 0)
            continue;
        if (equals == NULL)
            return status_fail(BLY_EOPTION, "kind %s: option %s has no value: "
                               "write %s=…", kind->name, o->name, o->name);
        return registry_value(&option[i], kind, o, equals + 1,
                              length - name - 1);
    }
    return registry_no_option(kind, text, name);
}

bly_status registry_parse(const bly_kind **kind, uint64_t option[KIND_OPTIONS],
                          const char *text)
{
    size_t name = strcspn(text, ":");
    const bly_kind *found = registry_find(text, name);
    uint64_t value[KIND_OPTIONS] = { 0 };

    if (found == NULL)
        return registry_no_kind(text, name);
    for (size_t i = 0; found->options && found->options[i].name; i++)
        value[i] = found->options[i].standard;
    for (text += name; *text != '\0'; ) {
        size_t length = strcspn(++text, ",");
        bly_status status = registry_option(value, found, text, length);
        if (status != BLY_OK)
            return status;
        text += length;
    }
    memcpy(option, value, sizeof value);
    *kind = found;
    return BLY_OK;
}

/* ---- The listing ------------------------------------------------------- */

enum { REGISTRY_ABILITIES = 24, REGISTRY_TEXT = 192 };

/* Everything the listing points to: written once, then constant. */
static struct {
    const char     *abilities[REGISTRY_ABILITIES];
    bly_option_info options[KIND_OPTIONS + 1];
    char            range[KIND_OPTIONS][REGISTRY_TEXT];
    char            standard[KIND_OPTIONS][REGISTRY_TEXT];
} registry_store[REGISTRY_SIZE];

static bly_kind_info registry_infos[REGISTRY_SIZE];
static pthread_once_t registry_once = PTHREAD_ONCE_INIT;

/* What a kind can do is which slots it fills. */
static void registry_abilities(const char **out, const bly_kind *kind)
{
    const struct { bool can; const char *name; } abilities[] = {
        { kind->add != NULL,        "add" },
        { kind->add_key != NULL,    "whole keys" },
        { kind->add == NULL,        "build only" },
        { kind->contains != NULL,   "contains" },
        { kind->remove != NULL,     "remove" },
        { kind->count != NULL,      "count" },
        { kind->put != NULL,        "label" },
        { kind->separate != NULL,   "separate" },
        { kind->add_shared != NULL, "share" },
        { kind->pages != NULL,      "page" },
        { kind->pages != NULL || kind->places != NULL, "local" },
        { kind->grow != NULL,       "grow" },
        { kind->forgets,            "forget" },
        { kind->resize != NULL,     "resize" },
        { kind->each != NULL,       "list" },
        { kind->pack != NULL,       "pack" },
        { kind->unite != NULL,      "unite" },
        { kind->unite_at != NULL,   "unite at" },
        { kind->intersect != NULL,  "intersect" },
        { kind->overlap != NULL,    "overlap" },
        { kind->subtract != NULL,   "subtract" },
        { kind->list != NULL,       "list keys" },
    };
    static_assert(sizeof abilities / sizeof *abilities < REGISTRY_ABILITIES,
                  "room for every ability and the NULL");
    for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++)
        if (abilities[i].can)
            *out++ = abilities[i].name;
    *out = NULL;
}

static void registry_standard(char *out, size_t room, const kind_option *o)
{
    if (o->standard == KIND_CHOOSE)
        snprintf(out, room, "chosen");
    else if (o->choices != NULL)
        snprintf(out, room, "%s", o->choices[o->standard]);
    else
        snprintf(out, room, "%" PRIu64, o->standard);
}

static void registry_list_one(size_t i)
{
    const bly_kind *kind = registry_kinds[i];
    registry_abilities(registry_store[i].abilities, kind);
    for (size_t j = 0; kind->options && kind->options[j].name; j++) {
        const kind_option *o = &kind->options[j];
        assert(j < KIND_OPTIONS);
        registry_range(registry_store[i].range[j], REGISTRY_TEXT, o);
        registry_standard(registry_store[i].standard[j], REGISTRY_TEXT, o);
        registry_store[i].options[j] = (bly_option_info){
            .name = o->name, .help = o->help,
            .range = registry_store[i].range[j],
            .standard = registry_store[i].standard[j],
        };
    }
    registry_infos[i] = (bly_kind_info){
        .name = kind->name, .family = kind->family, .summary = kind->summary,
        .abilities = registry_store[i].abilities,
        .options = registry_store[i].options,
    };
}

static void registry_list(void)
{
    for (size_t i = 0; i < REGISTRY_SIZE; i++)
        registry_list_one(i);
}

size_t bly_kinds(const bly_kind_info **out)
{
    pthread_once(&registry_once, registry_list);
    *out = registry_infos;
    return REGISTRY_SIZE;
}
