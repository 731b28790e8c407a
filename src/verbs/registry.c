/* registry.c - the tables of kinds, the public list made from them, and the
 * parser of "kind:option=value,…".
 */
#include "verbs/registry.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sizes.h"
#include "base/threads.h"

/* The place of each kind in its table. The kinds that this build lacks come
 * after the others, as NULL. */
#define REGISTRY_RANK(name, tier)                                              \
    REGISTRY_RANK_##name,                                                      \
    REGISTRY_RANKED_##name = REGISTRY_RANK_##name - 1 + REGISTRY_HAS_##name,
enum { REGISTRY_KINDS(REGISTRY_RANK) };
enum { REGISTRY_FOREIGN(REGISTRY_RANK) REGISTRY_RANKS };
#undef REGISTRY_RANK

#define REGISTRY_SLOT(name, before, size)                                      \
    [REGISTRY_HAS_##name ? REGISTRY_RANK_##name                                \
     : (size) + REGISTRY_AT_##name - (before) - REGISTRY_RANK_##name]
#define REGISTRY_ADDRESS(name) REGISTRY_HAS_##name ? &bly_kind_##name : NULL

const bly_kind *const registry_kinds[REGISTRY_KINDS_END + 1] = {
#define REGISTRY_ROW(name, tier)                                               \
    REGISTRY_SLOT(name, 0, REGISTRY_SIZE) = REGISTRY_ADDRESS(name),
    REGISTRY_KINDS(REGISTRY_ROW)
#undef REGISTRY_ROW
};

const bly_kind *const registry_foreign[REGISTRY_FOREIGN_END
                                       - REGISTRY_KINDS_END + 1] = {
#define REGISTRY_ROW(name, tier)                                               \
    REGISTRY_SLOT(name, REGISTRY_KINDS_END, REGISTRY_OTHERS) =                 \
        REGISTRY_ADDRESS(name),
    REGISTRY_FOREIGN(REGISTRY_ROW)
#undef REGISTRY_ROW
};

/* The tier of each of registry_kinds, as a place among the words. */
static const uint8_t registry_tiers[] = {
#define REGISTRY_ROW(name, tier)                                               \
    REGISTRY_SLOT(name, 0, REGISTRY_SIZE) = REGISTRY_##tier,
    REGISTRY_KINDS(REGISTRY_ROW)
#undef REGISTRY_ROW
};

enum { REGISTRY_ALL = REGISTRY_SIZE + REGISTRY_OTHERS };

/* Returns kind number i of all: first the kinds of our own, then those of
 * other systems' formats. */
static const bly_kind *registry_at(size_t i)
{
    return i < REGISTRY_SIZE ? registry_kinds[i]
                             : registry_foreign[i - REGISTRY_SIZE];
}

/* Returns true if `name` is the text of `length` characters. */
static bool registry_same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

const bly_kind *registry_find(const char *name, size_t length)
{
    for (size_t i = 0; i < REGISTRY_ALL; i++)
        if (registry_same(registry_at(i)->name, name, length))
            return registry_at(i);
    return NULL;
}

const char *registry_tier(const bly_kind *kind)
{
    static const char *const words[] = { "core", "more", "experimental" };
    size_t i = 0;
    while (i < REGISTRY_SIZE && registry_kinds[i] != kind)
        i++;
    return words[i < REGISTRY_SIZE ? registry_tiers[i] : REGISTRY_MORE];
}

/* ---- Aliases ----------------------------------------------------------- */

/* An alias, with its options preceded by a colon, like those of a kind. */
typedef struct { bly_alias_info info; const char *kind; } registry_alias;

static const registry_alias registry_aliases[] = {
#define REGISTRY_ALIAS(name, kind, options)                                    \
    { { name, &(":" options)[1] }, kind },
    REGISTRY_ALIASES(REGISTRY_ALIAS)
#undef REGISTRY_ALIAS
};

enum { REGISTRY_ALIAS_COUNT = sizeof registry_aliases
                            / sizeof *registry_aliases };

/* Looks up a kind by its name or an alias; *options is set to the text that an
 * alias stands for, and to "" otherwise. */
static const bly_kind *registry_lookup(const char **options, const char *name,
                                       size_t length)
{
    *options = "";
    for (size_t i = 0; i < REGISTRY_ALIAS_COUNT; i++) {
        const registry_alias *alias = &registry_aliases[i];
        if (!registry_same(alias->info.name, name, length))
            continue;
        if (*alias->info.options != '\0')
            *options = alias->info.options - 1;
        return registry_find(alias->kind, strlen(alias->kind));
    }
    return registry_find(name, length);
}

const bly_kind *registry_named(const char *text)
{
    const char *options;
    return registry_lookup(&options, text, strcspn(text, ":"));
}

/* ---- Reading "kind:option=value,…" ------------------------------------- */

/* Appends ", word" to a list in a buffer, cut off where the buffer ends. */
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
    return status_fail(BLY_EKIND, "unknown kind '%.*s'" REGISTRY_HERE ": "
                       "choose one of %s",
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
    if (o->high > 0)
        snprintf(out, room, "64 hexadecimal digits");
    else if (o->choices == NULL)
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

/* Reads a number such as 1000000, 1e6 or 1M. The units are powers of 1000, as
 * they are where the command reads a number of keys. */
static bool registry_number(uint64_t *out, const char *text, size_t length)
{
    static const char units[] = "kMGT";
    char last = length > 0 ? text[length - 1] : '0';
    const char *unit = memchr(units, last == 'K' ? 'k' : last,
                              sizeof units - 1);
    length -= unit != NULL;
    const char *e = memchr(text, 'e', length);
    size_t digits = e != NULL ? (size_t)(e - text) : length;
    uint64_t zeros = 0;
    if (!registry_digits(out, text, digits)
        || (e != NULL && !registry_digits(&zeros, e + 1, length - digits - 1)))
        return false;
    for (size_t i = unit != NULL ? 3 * (size_t)(unit - units + 1) : 0; i > 0;
         i--)
        if (!sizes_mul(out, *out, 10))
            return false;
    for (; *out > 0 && zeros > 0; zeros--)
        if (!sizes_mul(out, *out, 10))
            return false;
    return true;
}

static bool registry_choose(uint64_t *out, const kind_option *o,
                            const char *text, size_t length)
{
    for (size_t i = 0; o->choices[i] != NULL; i++)
        if (registry_same(o->choices[i], text, length)) {
            *out = i;
            return true;
        }
    return false;
}

/* Parses a choice; one between kinds, such as of=blocked, accepts aliases. */
static bool registry_choice(uint64_t *out, const kind_option *o,
                            const char *text, size_t length)
{
    const char *options = "";
    const bly_kind *kind;
    if (registry_choose(out, o, text, length))
        return true;
    kind = REGISTRY_LISTS_ALIASES ? registry_lookup(&options, text, length)
                                  : NULL;
    return kind != NULL && *options == '\0'
        && registry_choose(out, o, kind->name, strlen(kind->name));
}

enum { REGISTRY_DIGITS = 64 };         /* of a long number */

/* Reads 64 hexadecimal digits, and keeps the last 32. */
static bool registry_long(uint64_t *low, uint64_t *high, const char *text,
                          size_t length)
{
    static const char digits[] = "0123456789abcdef";
    *low = *high = 0;
    if (length != REGISTRY_DIGITS)
        return false;
    for (size_t i = 0; i < length; i++) {
        int small = text[i] >= 'A' && text[i] <= 'F' ? text[i] - 'A' + 'a'
                                                     : text[i];
        const char *digit = small != '\0' ? strchr(digits, small) : NULL;
        if (digit == NULL)
            return false;
        *high = *high << 4 | *low >> 60;
        *low = *low << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

/* Reads the value of option number i of the table; a long number has two. */
static bly_status registry_value(uint64_t *option, size_t i,
                                 const bly_kind *kind, const char *text,
                                 size_t length)
{
    const kind_option *o = &kind->options[i];
    uint64_t v = 0;
    bool good = o->high > 0
              ? registry_long(&v, &option[o->high], text, length)
              : o->choices != NULL
              ? registry_choice(&v, o, text, length)
              : registry_number(&v, text, length)
                && v >= o->least && v <= o->most;
    if (!good) {
        char range[192];
        registry_range(range, sizeof range, o);
        return status_fail(BLY_EOPTION, "kind %s: %s=%.*s is not valid: %s is "
                           "%s", kind->name, o->name,
                           (int)(length < 40 ? length : 40), text, o->name,
                           range);
    }
    option[i] = v;
    return BLY_OK;
}

/* Reports text between two commas, or after the colon, that is not an
 * option. */
static bly_status registry_no_text(const bly_kind *kind, const char *text,
                                   size_t length)
{
    if (length == 0)
        return status_fail(BLY_EOPTION, "kind %s: an option is missing after "
                           "'%c': write %s alone, or %s:option=value,…",
                           kind->name, text[-1], kind->name, kind->name);
    return status_fail(BLY_EOPTION, "kind %s: '%.*s' contains a space: write "
                       "%s:option=value,… without spaces", kind->name,
                       (int)(length < 40 ? length : 40), text, kind->name);
}

/* Reads one "name=value" of `length` characters and sets the option's bit in
 * *given. */
static bly_status registry_option(uint64_t option[KIND_OPTIONS],
                                  unsigned *given, const bly_kind *kind,
                                  const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - text) : length;

    if (length == 0 || memchr(text, ' ', length) != NULL)
        return registry_no_text(kind, text, length);

    for (size_t i = 0; kind->options && kind->options[i].name; i++) {
        const kind_option *o = &kind->options[i];
        if (!registry_same(o->name, text, name))
            continue;
        if (equals == NULL)
            return status_fail(BLY_EOPTION, "kind %s: option %s has no value: "
                               "write %s=…", kind->name, o->name, o->name);
        if ((*given >> i & 1) != 0)
            return status_fail(BLY_EOPTION, "kind %s: option %s is given "
                               "twice: give it once", kind->name, o->name);
        *given |= 1u << i;
        return registry_value(option, i, kind, equals + 1, length - name - 1);
    }
    return registry_no_option(kind, text, name);
}

/* Reads ":option=value,…", or nothing. */
static bly_status registry_options(uint64_t option[KIND_OPTIONS],
                                   unsigned *given, const bly_kind *kind,
                                   const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(++text, ",");
        bly_status status = registry_option(option, given, kind, text, length);
        if (status != BLY_OK)
            return status;
        text += length;
    }
    return BLY_OK;
}

bly_status registry_parse(const bly_kind **kind, uint64_t option[KIND_OPTIONS],
                          const char *text)
{
    size_t name = strcspn(text, ":");
    const char *implied;
    const bly_kind *found = registry_lookup(&implied, text, name);
    uint64_t value[KIND_OPTIONS] = { 0 };
    unsigned given = 0;

    if (found == NULL)
        return registry_no_kind(text, name);
    for (size_t i = 0; found->options && found->options[i].name; i++)
        value[i] = found->options[i].standard;
    bly_status status = registry_options(value, &given, found, implied);
    if (status == BLY_OK)
        status = registry_options(value, &given, found, text + name);
    if (status != BLY_OK)
        return status;
    memcpy(option, value, sizeof value);
    *kind = found;
    return BLY_OK;
}

/* ---- Abilities ---------------------------------------------------------- */

uint64_t registry_can(const bly_kind *kind)
{
    bool separates = KIND_HAS(kind, building, separate);
    bool varies = KIND_HAS(kind, varying, counts);
    const struct { uint64_t flag; bool can; } abilities[] = {
        { BLY_CAN_ADD,        kind->add != NULL },
        { BLY_CAN_WHOLE_KEYS, KIND_HAS(kind, whole, add) },
        { BLY_CAN_CONTAINS,   kind->contains != NULL },
        { BLY_CAN_REMOVE,     kind->remove != NULL && !varies },
        { BLY_CAN_COUNT,      kind->count != NULL && !varies },
        { BLY_CAN_LABEL,      kind->labels != NULL },
        { BLY_CAN_SEPARATE,   separates },
        { BLY_CAN_SHARE,      kind->sharing != NULL },
        { BLY_CAN_PAGE,       kind->pages != NULL },
        { BLY_CAN_LOCAL,      kind->pages != NULL || kind->places != NULL },
        { BLY_CAN_GROW,       kind->growing != NULL },
        { BLY_CAN_FORGET,     kind->forgets },
        { BLY_CAN_RESIZE,     kind->resizing != NULL },
        { BLY_CAN_FOLD,       kind->folding != NULL },
        { BLY_CAN_FINGERPRINTS, KIND_HAS(kind, listing, fingerprints) },
        { BLY_CAN_LIST_KEYS,  KIND_HAS(kind, listing, keys) },
        { BLY_CAN_PACK,       kind->packing != NULL },
        { BLY_CAN_UNITE,      KIND_HAS(kind, combining, unite) },
        { BLY_CAN_UNITE_AT,   KIND_HAS(kind, combining, unite_at) },
        { BLY_CAN_INTERSECT,  KIND_HAS(kind, combining, intersect) },
        { BLY_CAN_OVERLAP,    KIND_HAS(kind, combining, overlap) },
        { BLY_CAN_SUBTRACT,   KIND_HAS(kind, combining, subtract) },
        { BLY_CAN_EXACT,      separates || KIND_HAS(kind, hashing, integers) },
    };
    static_assert(sizeof abilities / sizeof *abilities == BLY_ABILITIES,
                  "every ability has its slot");
    uint64_t can = 0;
    for (size_t i = 0; i < BLY_ABILITIES; i++)
        can |= abilities[i].can ? abilities[i].flag : 0;
    return can;
}

uint64_t registry_can_here(const bly_kind *kind, const void *image)
{
    bool counts = KIND_HAS(kind, varying, counts)
               && kind->varying->counts(image);
    return registry_can(kind) | (counts ? BLY_CAN_REMOVE | BLY_CAN_COUNT : 0);
}

void registry_able(char out[REGISTRY_LINE], uint64_t flag)
{
    enum { MOST = 12 };
    size_t count = 0;
    out[0] = '\0';
    for (size_t i = 0; i < REGISTRY_SIZE; i++)
        count += (registry_can(registry_kinds[i]) & flag) != 0;
    for (size_t i = 0; i < REGISTRY_SIZE; i++)
        if ((registry_can(registry_kinds[i]) & flag) != 0
            && (count <= MOST || registry_tiers[i] == REGISTRY_CORE))
            registry_append(out, REGISTRY_LINE, ", ", registry_kinds[i]->name);
    if (count > MOST)
        registry_append(out, REGISTRY_LINE, ", ", "and others");
}

const char *bly_ability(uint64_t flag)
{
    switch (flag) {
#define REGISTRY_ABILITY(name, bit, word, lack)                                \
    case BLY_CAN_##name:                                                       \
        return word;
        BLY_ABILITY_MAP(REGISTRY_ABILITY)
#undef REGISTRY_ABILITY
    default:
        return NULL;
    }
}

/* ---- The listing ------------------------------------------------------- */

enum { REGISTRY_TEXT = 192 };

/* The data of the listing: written once, then constant. */
static struct {
    bly_kind_info          info;
    const bly_option_info *list[KIND_OPTIONS + 1];
    bly_option_info        options[KIND_OPTIONS];
    char                   range[KIND_OPTIONS][REGISTRY_TEXT];
    char                   standard[KIND_OPTIONS][REGISTRY_TEXT];
    const bly_alias_info  *aliases[REGISTRY_ALIAS_COUNT + 1];
} registry_store[REGISTRY_ALL];

static const bly_kind_info *registry_infos[REGISTRY_SIZE + 1];
static threads_once registry_once = THREADS_ONCE;

static void registry_standard(char *out, size_t room, const kind_option *o)
{
    if (o->high > 0)
        snprintf(out, room, "none: required");
    else if (o->standard == KIND_CHOOSE)
        snprintf(out, room, "chosen");
    else if (o->choices != NULL)
        snprintf(out, room, "%s", o->choices[o->standard]);
    else
        snprintf(out, room, "%" PRIu64, o->standard);
}

static void registry_list_aliases(size_t i)
{
    size_t n = 0;
    for (size_t j = 0; REGISTRY_LISTS_ALIASES && j < REGISTRY_ALIAS_COUNT; j++)
        if (strcmp(registry_aliases[j].kind, registry_at(i)->name) == 0)
            registry_store[i].aliases[n++] = &registry_aliases[j].info;
}

static void registry_list_one(size_t i)
{
    const bly_kind *kind = registry_at(i);
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
        registry_store[i].list[j] = &registry_store[i].options[j];
    }
    registry_list_aliases(i);
    registry_store[i].info = (bly_kind_info){
        .name = kind->name, .family = kind->family, .summary = kind->summary,
        .can = registry_can(kind), .options = registry_store[i].list,
        .tier = registry_tier(kind),
        .aliases = registry_store[i].aliases,
    };
}

static void registry_list(void)
{
    for (size_t i = 0; i < REGISTRY_ALL; i++)
        registry_list_one(i);
    for (size_t i = 0; i < REGISTRY_SIZE; i++)
        registry_infos[i] = &registry_store[i].info;
}

const bly_kind_info *const *bly_kinds(size_t *n)
{
    threads_do_once(&registry_once, registry_list);
    if (n != NULL)
        *n = REGISTRY_SIZE;
    return registry_infos;
}

const bly_kind_info *bly_kind_find(const char *text)
{
    const bly_kind *kind = registry_named(text);
    threads_do_once(&registry_once, registry_list);
    for (size_t i = 0; kind != NULL && i < REGISTRY_ALL; i++)
        if (registry_at(i) == kind)
            return &registry_store[i].info;
    return NULL;
}
