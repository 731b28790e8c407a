/* nested.c - keys that lie within others: <bloomery/nested.h>.
 *
 * The key of a domain is its name in lower case and ASCII; that of a path is
 * the path without what does not matter; and that of a network is its length
 * and the 16 bytes of its IPv6 address, with zeros behind the length. So an
 * entry of a domain is the end of its key, and that of a path the beginning.
 *
 * Markers are looked up anew by each call: a filter that others add to while it
 * is in use may gain a level at any time. A filter that can lose keys may lose
 * a marker: one that was found by mistake when it was to be added, and so was
 * not, goes with the keys by which it was found. There, all levels are asked
 * for.
 */
#include "verbs/nested.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "bits/casefold.h"

/* ---- Text --------------------------------------------------------------- */

bool nested_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

bly_key nested_strip(const bly_value *value)
{
    const uint8_t *text = value->data;
    size_t n = value->length;
    for (; n > 0 && nested_is_blank(*text); n--)
        text++;
    while (n > 0 && nested_is_blank(text[n - 1]))
        n--;
    return (bly_key){ text, n };
}

/* Removes `word` from the front of the text, if it is there. */
static bool nested_skip(bly_key *text, const char *word)
{
    size_t n = strlen(word);
    if (text->length < n || memcmp(text->data, word, n) != 0)
        return false;
    text->data = (const uint8_t *)text->data + n;
    text->length -= n;
    return true;
}

static uint8_t nested_last(bly_key text)
{
    return text.length > 0 ? ((const uint8_t *)text.data)[text.length - 1] : 0;
}

/* ---- Domains ------------------------------------------------------------ */

/* Removes what lists and rules write around names. */
static bly_key nested_bare_domain(const bly_value *value)
{
    bly_key text = nested_strip(value);
    if (nested_skip(&text, "||")) {
        if (nested_last(text) != '^')
            return (bly_key){ text.data, 0 };
        text.length--;
    }
    if (!nested_skip(&text, "*."))
        nested_skip(&text, ".");
    text.length -= nested_last(text) == '.';
    return text;
}

/* The letters of names; names of services have an underscore. */
static bool nested_is_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9')
        || byte == '-' || byte == '_';
}

/* Returns whether a name has labels of 1 to 63 letters. The last one is no
 * number, as that of an IPv4 address is. */
static bool nested_is_domain(const uint8_t *name, size_t n)
{
    size_t label = 0;
    bool number = true;
    for (size_t i = 0; i < n; i++) {
        bool dot = name[i] == '.';
        label = dot ? 0 : label + 1;
        number = dot || (number && name[i] >= '0' && name[i] <= '9');
        if (dot ? i == 0 || name[i - 1] == '.'
                : label > 63 || !nested_is_letter(name[i]))
            return false;
    }
    return n > 0 && n <= NESTED_DOMAIN && name[n - 1] != '.' && !number;
}

size_t nested_put_domain(uint8_t *to, const bly_value *value)
{
    bly_key bare = nested_bare_domain(value);
    const uint8_t *text = bare.data;
    bool ascii = true;
    for (size_t i = 0; i < bare.length; i++) {
        to[i] = text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i];
        ascii &= text[i] < 0x80;
    }
    size_t n = ascii ? bare.length
             : casefold_domain((char *)to, NESTED_DOMAIN_TIMES * bare.length,
                               bare.data, bare.length);
    if (!ascii && n != SIZE_MAX && n > 0 && to[n - 1] == '.')
        n--;                            /* a full stop of another alphabet   */
    return n != SIZE_MAX && nested_is_domain(to, n) ? n : SIZE_MAX;
}

/* ---- Networks ----------------------------------------------------------- */

enum { NESTED_V4 = 96, NESTED_BITS = 128 };

/* Reads a number of at most `most`, without zeros before it, and advances the
 * text. */
static bool nested_number(unsigned *out, bly_key *text, unsigned most)
{
    const uint8_t *at = text->data;
    unsigned value = 0;
    size_t n = 0;
    for (; n < text->length && at[n] >= '0' && at[n] <= '9' && n < 4; n++)
        value = 10 * value + (at[n] - (unsigned)'0');
    if (n == 0 || (n > 1 && *at == '0') || value > most)
        return false;
    *out = value;
    *text = (bly_key){ at + n, text->length - n };
    return true;
}

static bool nested_v4(uint8_t to[4], bly_key *text)
{
    for (size_t i = 0; i < 4; i++) {
        unsigned byte;
        if ((i > 0 && !nested_skip(text, "."))
            || !nested_number(&byte, text, 255))
            return false;
        to[i] = (uint8_t)byte;
    }
    return true;
}

/* Reads one to four hexadecimal digits. Returns their number, 0 if there are
 * none or more. */
static size_t nested_group(unsigned *out, bly_key text)
{
    const uint8_t *at = text.data;
    size_t n = 0;
    for (*out = 0; n < text.length; n++) {
        uint8_t low = at[n] | 0x20;
        bool digit = at[n] >= '0' && at[n] <= '9';
        if (!digit && (low < 'a' || low > 'f'))
            break;
        *out = *out << 4 | (digit ? at[n] - (unsigned)'0' : low - 'a' + 10u);
        if (n == 4)
            return 0;
    }
    return n;
}

/* Groups of an address that were read, and where '::' stands among them. */
typedef struct {
    uint8_t bytes[16];
    size_t  n, gap;
    bool    has_gap;
} nested_groups;

/* Reads the next group, or an IPv4 address at the end. */
static bool nested_next_group(nested_groups *g, bly_key *text)
{
    unsigned value;
    size_t digits = nested_group(&value, *text);
    const uint8_t *at = text->data;
    if (digits > 0 && digits < text->length && at[digits] == '.') {
        if (g->n > 12 || !nested_v4(g->bytes + g->n, text))
            return false;
        g->n += 4;
        return text->length == 0 || *(const uint8_t *)text->data != ':';
    }
    if (digits == 0 || g->n > 14)
        return false;
    g->bytes[g->n++] = (uint8_t)(value >> 8);
    g->bytes[g->n++] = (uint8_t)value;
    *text = (bly_key){ at + digits, text->length - digits };
    return true;
}

static bool nested_at_end(bly_key text)
{
    uint8_t next = text.length > 0 ? *(const uint8_t *)text.data : '/';
    return next == '/' || next == ']';
}

static bool nested_read_groups(nested_groups *g, bly_key *text)
{
    for (bool first = true; !nested_at_end(*text) || first; first = false) {
        if (nested_skip(text, "::")) {
            if (g->has_gap)
                return false;
            g->has_gap = true;
            g->gap = g->n;
            if (nested_at_end(*text))
                break;
        } else if (!first && !nested_skip(text, ":")) {
            return false;
        }
        if (!nested_next_group(g, text))
            return false;
    }
    return g->has_gap ? g->n <= 14 : g->n == 16;
}

static bool nested_v6(uint8_t to[16], bly_key *text)
{
    nested_groups g = { .n = 0 };
    if (!nested_read_groups(&g, text))
        return false;
    size_t before = g.has_gap ? g.gap : 16, after = g.n - (g.has_gap ? g.gap
                                                                     : 16);
    memset(to, 0, 16);
    memcpy(to, g.bytes, before);
    memcpy(to + 16 - after, g.bytes + before, after);
    return true;
}

/* Clears the bits of an address behind the network's length. */
static void nested_mask(uint8_t address[16], unsigned length)
{
    for (unsigned i = 0; i < 16; i++) {
        unsigned from = 8 * i;
        if (from >= length)
            address[i] = 0;
        else if (length - from < 8)
            address[i] &= (uint8_t)(0xFF00u >> (length - from));
    }
}

/* Removes the "IPv6:" of addresses in mail (RFC 5321), in any case. */
static bool nested_skip_tag(bly_key *text)
{
    const uint8_t *at = text->data;
    if (text->length < 5 || (at[0] | 0x20) != 'i' || (at[1] | 0x20) != 'p'
        || (at[2] | 0x20) != 'v' || at[3] != '6' || at[4] != ':')
        return false;
    *text = (bly_key){ at + 5, text->length - 5 };
    return true;
}

size_t nested_put_cidr(uint8_t *to, const bly_value *value)
{
    static const uint8_t mapped[12] = { [10] = 0xFF, [11] = 0xFF };
    bly_key text = nested_strip(value);
    uint8_t *address = to + 1;
    unsigned length;
    bool brackets = nested_skip(&text, "["), tag = nested_skip_tag(&text);
    bool v6 = tag || (text.length > 0
                      && memchr(text.data, ':', text.length) != NULL);
    memcpy(address, mapped, sizeof mapped);
    if (!(v6 ? nested_v6(address, &text) : nested_v4(address + 12, &text))
        || (brackets && !nested_skip(&text, "]")))
        return SIZE_MAX;
    unsigned most = v6 ? NESTED_BITS : NESTED_BITS - NESTED_V4;
    if (text.length == 0)
        length = most;
    else if (!nested_skip(&text, "/") || !nested_number(&length, &text, most)
             || text.length > 0)
        return SIZE_MAX;
    *to = (uint8_t)(length + NESTED_BITS - most);
    nested_mask(address, *to);
    return NESTED_CIDR;
}

/* ---- Paths -------------------------------------------------------------- */

static bool nested_is_dots(const uint8_t *part, size_t n, size_t dots)
{
    return n == dots && memcmp(part, "..", dots) == 0;
}

size_t nested_put_path(uint8_t *to, const bly_value *value)
{
    const uint8_t *text = value->data;
    size_t n = value->length, used = 0, parts = 0;
    bool rooted = n > 0 && *text == '/';
    for (size_t i = 0, from; i < n; ) {
        for (from = i; i < n && text[i] != '/'; )
            i++;
        size_t part = i - from;
        i++;
        if (nested_is_dots(text + from, part, 2))
            return SIZE_MAX;
        if (part == 0 || nested_is_dots(text + from, part, 1))
            continue;
        if (rooted || parts > 0)
            to[used++] = '/';
        memmove(to + used, text + from, part);
        used += part;
        parts++;
    }
    if (rooted && parts == 0)
        to[used++] = '/';
    return used > 0 && parts < BLY_NESTED_LEVELS ? used : SIZE_MAX;
}

/* ---- Entries ------------------------------------------------------------ */

/* Counts a byte of a key. */
static unsigned nested_count(bly_key key, uint8_t byte)
{
    const uint8_t *at = key.data;
    unsigned n = 0;
    for (size_t i = 0; i < key.length; i++)
        n += at[i] == byte;
    return n;
}

static bool nested_is_rooted(bly_key key)
{
    return *(const uint8_t *)key.data == '/';
}

unsigned bly_nested_level(uint64_t form, bly_key key)
{
    if (key.length == 0 || !bly_form_nests(form))
        return 0;
    if (form == BLY_KEYS_CIDR)
        return *(const uint8_t *)key.data;
    if (form == BLY_KEYS_DOMAIN)
        return nested_count(key, '.') + 1;
    return key.length == 1 && nested_is_rooted(key)
         ? 0 : nested_count(key, '/') + !nested_is_rooted(key);
}

/* Returns whether bly_nested_key can have made the key. */
static bool nested_is_key(uint64_t form, bly_key key)
{
    return key.data != NULL && key.length > 0
        && (form != BLY_KEYS_CIDR || key.length == NESTED_CIDR)
        && bly_nested_level(form, key)
           < (form == BLY_KEYS_CIDR ? NESTED_BITS + 1 : BLY_NESTED_LEVELS);
}

bly_key bly_nested_marker(unsigned char room[2], unsigned level)
{
    room[0] = 0xFF;
    room[1] = (unsigned char)level;
    return (bly_key){ room, 2 };
}

static bly_key nested_network(bly_key key, unsigned level,
                              uint8_t room[NESTED_CIDR])
{
    memcpy(room, key.data, NESTED_CIDR);
    room[0] = (uint8_t)level;
    nested_mask(room + 1, level);
    return (bly_key){ room, NESTED_CIDR };
}

/* Walks from the entry of a domain or path to the one that is a level lower.
 * The last one has level 1, but for the path "/". */
static bly_key nested_lower(uint64_t form, bly_key key)
{
    const uint8_t *text = key.data, *dot;
    if (form == BLY_KEYS_DOMAIN) {
        dot = memchr(text, '.', key.length);
        return (bly_key){ dot + 1, (size_t)(text + key.length - dot) - 1 };
    }
    while (text[key.length - 1] != '/')
        key.length--;
    key.length -= key.length > 1;
    return key;
}

/* The least level of the entries of a key, which is not empty. */
static unsigned nested_least(uint64_t form, bly_key key)
{
    return form == BLY_KEYS_DOMAIN
        || (form == BLY_KEYS_PATH && !nested_is_rooted(key));
}

static bly_key nested_entry(uint64_t form, bly_key key, unsigned level,
                            uint8_t room[NESTED_CIDR])
{
    if (form == BLY_KEYS_CIDR)
        return nested_network(key, level, room);
    for (unsigned at = bly_nested_level(form, key); at > level; at--)
        key = nested_lower(form, key);
    return key;
}

/* Writes an IPv6 address with '::' for its longest run of groups of 0
 * (RFC 5952). Returns its length. */
static size_t nested_write_v6(char *to, const uint8_t address[16])
{
    unsigned at = 8, longest = 1, group;
    size_t used = 0;
    for (unsigned i = 0, run = 0; i < 8; i++) {
        run = address[2 * i] == 0 && address[2 * i + 1] == 0 ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            at = i + 1 - run;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        if (i == at) {
            used += (size_t)sprintf(to + used, "::");
            i += longest - 1;
            continue;
        }
        group = (unsigned)address[2 * i] << 8 | address[2 * i + 1];
        used += (size_t)sprintf(to + used, i > 0 && i != at + longest ? ":%x"
                                                                      : "%x",
                                group);
    }
    return used;
}

bly_key bly_nested_entry(uint64_t form, bly_key key, unsigned level,
                         char room[BLY_NESTED_TEXT])
{
    uint8_t network[NESTED_CIDR];
    if (!nested_is_key(form, key) || level > bly_nested_level(form, key)
        || level < nested_least(form, key))
        return (bly_key){ NULL, 0 };
    key = nested_entry(form, key, level, network);
    if (form != BLY_KEYS_CIDR)
        return key;
    static const uint8_t mapped[12] = { [10] = 0xFF, [11] = 0xFF };
    const uint8_t *address = network + 1;
    size_t used;
    if (level >= NESTED_V4 && memcmp(address, mapped, sizeof mapped) == 0) {
        used = (size_t)sprintf(room, "%u.%u.%u.%u", address[12], address[13],
                               address[14], address[15]);
        level -= NESTED_V4;
    } else {
        used = nested_write_v6(room, address);
    }
    used += (size_t)sprintf(room + used, "/%u", level);
    return (bly_key){ room, used };
}

/* ---- Filters ------------------------------------------------------------ */

/* The levels whose entries are asked for. */
typedef struct { bool any[BLY_NESTED_LEVELS]; } nested_levels;

/* Looks up the markers of the levels up to `most`. */
static void nested_markers(nested_levels *out, const bly_filter *filter,
                           unsigned most)
{
    uint8_t rooms[BLY_NESTED_LEVELS][2];
    bly_key markers[BLY_NESTED_LEVELS];
    for (unsigned i = 0; i <= most; i++)
        markers[i] = bly_nested_marker(rooms[i], i);
    (void)bly_contains_many(filter, &(bly_keys){ .n = most + 1,
                                                 .keys = markers }, out->any);
}

static unsigned nested_highest(uint64_t form, const bly_key *keys, size_t n)
{
    unsigned most = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned level = nested_is_key(form, keys[i])
                       ? bly_nested_level(form, keys[i]) : 0;
        most = level > most ? level : most;
    }
    return most;
}

/* Entries that are looked up together, and what to write if they are found. */
enum { NESTED_BATCH = 128 };

typedef struct {
    const bly_filter *filter;
    uint16_t *found;
    size_t    n;
    bly_key   keys[NESTED_BATCH];
    size_t    owner[NESTED_BATCH];
    uint16_t  level[NESTED_BATCH];
    uint8_t   room[NESTED_BATCH][NESTED_CIDR];
} nested_batch;

static void nested_ask(nested_batch *b)
{
    bool there[NESTED_BATCH];
    (void)bly_contains_many(b->filter, &(bly_keys){ .n = b->n,
                                                    .keys = b->keys }, there);
    for (size_t i = 0; i < b->n; i++) {
        uint16_t *found = &b->found[b->owner[i]];
        if (there[i] && (*found == BLY_NESTED_NONE || *found < b->level[i]))
            *found = b->level[i];
    }
    b->n = 0;
}

static void nested_append(nested_batch *b, size_t owner, bly_key entry,
                          unsigned level)
{
    b->keys[b->n] = entry;
    b->owner[b->n] = owner;
    b->level[b->n++] = (uint16_t)level;
    if (b->n == NESTED_BATCH)
        nested_ask(b);
}

/* Appends the entries of a key whose levels occur. */
static void nested_append_all(nested_batch *b, uint64_t form, size_t owner,
                              bly_key key, const nested_levels *levels)
{
    unsigned level = bly_nested_level(form, key);
    unsigned least = nested_least(form, key);
    bly_key entry = key;
    for (;; level--) {
        if (levels->any[level])
            nested_append(b, owner, form == BLY_KEYS_CIDR
                          ? nested_network(key, level, b->room[b->n]) : entry,
                          level);
        if (level <= least)
            return;
        if (form != BLY_KEYS_CIDR)
            entry = nested_lower(form, entry);
    }
}

/* Returns whether a marker that is not found proves that its level is empty. */
static bool nested_is_marked(const bly_filter *filter, uint64_t form)
{
    const uint64_t loses = BLY_CAN_REMOVE | BLY_CAN_FORGET | BLY_CAN_SUBTRACT;
    return bly_form_of(filter) == form && (bly_can(filter) & loses) == 0;
}

void bly_nested_find(const bly_filter *filter, uint64_t form,
                     const bly_key *keys, size_t n, uint16_t *found)
{
    nested_levels levels;
    nested_batch batch;         /* not cleared: it is large */
    batch.filter = filter;
    batch.found = found;
    batch.n = 0;
    memset(levels.any, true, sizeof levels.any);
    if (n > 0 && nested_is_marked(filter, form))
        nested_markers(&levels, filter, nested_highest(form, keys, n));
    for (size_t i = 0; i < n; i++) {
        found[i] = BLY_NESTED_NONE;
        if (nested_is_key(form, keys[i]))
            nested_append_all(&batch, form, i, keys[i], &levels);
    }
    nested_ask(&batch);
}

bly_status bly_nested_add(bly_filter *filter, uint64_t form,
                          const bly_key *keys, size_t n, size_t *done)
{
    nested_levels has, wanted = { { false } };
    if (done != NULL)
        *done = 0;
    if (n == 0)
        return BLY_OK;
    nested_markers(&has, filter, BLY_NESTED_LEVELS - 1);
    for (size_t i = 0; i < n; i++) {
        if (!nested_is_key(form, keys[i]))
            return status_fail(BLY_EPARAM, "key %zu was not made by "
                               "bly_nested_key, in the form of the filter", i);
        wanted.any[bly_nested_level(form, keys[i])] = true;
    }
    for (unsigned i = 0; i < BLY_NESTED_LEVELS; i++) {
        uint8_t room[2];
        bly_key marker = bly_nested_marker(room, i);
        bly_status status = wanted.any[i] && !has.any[i]
                          ? bly_add(filter, marker.data, marker.length)
                          : BLY_OK;
        if (status < 0)
            return status;
    }
    return bly_add_many(filter, &(bly_keys){ .n = n, .keys = keys }, NULL,
                        done);
}
