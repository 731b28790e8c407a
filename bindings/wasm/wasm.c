/* wasm.c - the library's interface for JavaScript: numbers in a shared memory.
 *
 * JavaScript sees the module's memory but no C structs. A spec and a row of
 * keys are first set field by field, and the next call uses them. Long results
 * return as JSON. Keys and answers are stored in buffers of fixed size:
 * bloomery.js fills them with some thousand keys at a time, so the length of a
 * batch does not matter. There is a single thread, and no other JavaScript runs
 * between setting and using.
 */
#include <bloomery.h>
#include <bloomery/advice.h>
#include <bloomery/fields.h>
#include <bloomery/foreign.h>
#include <bloomery/nested.h>
#include <bloomery/sketch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WASM_EXPORT(name) __attribute__((export_name(#name)))

/* ---- No system ----------------------------------------------------------- */

/* Replaces functions through which the C library would call a system: the
 * module imports only output that is never printed, and is smaller. */
char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

char *strerror(int error)
{
    static char none[] = "";
    (void)error;
    return none;
}

_Noreturn void abort(void)
{
    __builtin_trap();
}

/* ---- Memory -------------------------------------------------------------- */

enum { WASM_KEYS = 8192, WASM_ROOM = 8 * WASM_KEYS };

/* Buffers for keys written by JavaScript and made from numbers; their ends; the
 * answers; and labels. */
static struct {
    _Alignas(16) unsigned char room[WASM_ROOM], wide[WASM_ROOM];
    uint32_t offsets[WASM_KEYS + 1];
    uint64_t labels[WASM_KEYS], numbers[WASM_KEYS];
    bool     yes[WASM_KEYS];
} wasm;

WASM_EXPORT(room)    void *wasm_room(void)    { return wasm.room; }
WASM_EXPORT(offsets) void *wasm_offsets(void) { return wasm.offsets; }
WASM_EXPORT(labels)  void *wasm_labels(void)  { return wasm.labels; }
WASM_EXPORT(numbers) void *wasm_numbers(void) { return wasm.numbers; }
WASM_EXPORT(yes)     void *wasm_yes(void)     { return wasm.yes; }
WASM_EXPORT(most)    size_t wasm_most(void)   { return WASM_KEYS; }

/* Returns 0 if out of memory. */
WASM_EXPORT(take) void *wasm_take(size_t bytes)
{
    return malloc(bytes > 0 ? bytes : 1);
}

WASM_EXPORT(give) void wasm_give(void *memory)
{
    free(memory);
}

/* ---- Text that is given out ---------------------------------------------- */

static struct { char *at; size_t used, room; } wasm_text;
static bly_json wasm_json;

static bool wasm_more(void *unused, const char *text, size_t length)
{
    size_t room = wasm_text.used + length + 1;
    (void)unused;
    if (room > wasm_text.room) {
        room = 2 * room + 1024;
        char *at = realloc(wasm_text.at, room);
        if (at == NULL)
            return false;
        wasm_text.at = at;
        wasm_text.room = room;
    }
    memcpy(wasm_text.at + wasm_text.used, text, length);
    wasm_text.used += length;
    wasm_text.at[wasm_text.used] = '\0';
    return true;
}

static void wasm_field(bly_field_type type, const char *name, const char *text,
                       double real, uint64_t count)
{
    bly_json_field(&wasm_json, &(bly_field){
        .name = name, .type = type, .text = text, .real = real, .count = count,
        .length = text != NULL ? strlen(text) : 0,
    });
}

static void wasm_bracket(bly_field_type type, const char *name)
{
    wasm_field(type, name, NULL, 0, 0);
}

static void wasm_close(void)
{
    wasm_bracket(BLY_FIELD_END, NULL);
}

static void wasm_word(const char *name, const char *text)
{
    wasm_field(BLY_FIELD_TEXT, name, text, 0, 0);
}

static void wasm_real(const char *name, double number)
{
    wasm_field(BLY_FIELD_REAL, name, NULL, number, 0);
}

static void wasm_begin(bly_field_type type)
{
    free(wasm_text.at);
    memset(&wasm_text, 0, sizeof wasm_text);
    wasm_json = (bly_json){ .put = wasm_more, .style = BLY_JSON_SCRIPT };
    wasm_bracket(type, NULL);
}

static const char *wasm_end(void)
{
    wasm_close();
    return wasm_json.failed ? NULL : wasm_text.at;
}

/* ---- Statuses ------------------------------------------------------------ */

WASM_EXPORT(why) const char *wasm_why(void)
{
    return bly_why_in("javascript");
}

WASM_EXPORT(version) const char *wasm_version(void)
{
    return bly_version();
}

WASM_EXPORT(status) const char *wasm_status(int status)
{
    switch (status) {
#define WASM_STATUS(name, value, text) case value: return #name;
        BLY_STATUS_MAP(WASM_STATUS)
#undef WASM_STATUS
    default: return "";
    }
}

/* ---- Lists --------------------------------------------------------------- */

static void wasm_abilities(uint64_t can)
{
    wasm_bracket(BLY_FIELD_ARRAY, "can");
    for (int i = 0; i < BLY_ABILITIES; i++)
        if ((can >> i & 1) != 0)
            wasm_word(NULL, bly_ability(UINT64_C(1) << i));
    wasm_close();
}

static void wasm_option(const bly_option_info *o)
{
    wasm_bracket(BLY_FIELD_OBJECT, NULL);
    wasm_word("name", o->name);
    wasm_word("range", o->range);
    wasm_word("standard", o->standard);
    wasm_word("help", o->help);
    wasm_close();
}

static void wasm_kind(const bly_kind_info *k)
{
    wasm_bracket(BLY_FIELD_OBJECT, NULL);
    wasm_word("name", k->name);
    wasm_word("family", k->family);
    wasm_word("summary", k->summary);
    wasm_abilities(k->can);
    wasm_word("tier", k->tier);
    wasm_bracket(BLY_FIELD_ARRAY, "options");
    for (size_t i = 0; k->options[i] != NULL; i++)
        wasm_option(k->options[i]);
    wasm_close();
    wasm_close();
}

WASM_EXPORT(kinds) const char *wasm_kinds(void)
{
    const bly_kind_info *const *kinds = bly_kinds(NULL);
    wasm_begin(BLY_FIELD_ARRAY);
    for (size_t i = 0; kinds[i] != NULL; i++)
        wasm_kind(kinds[i]);
    return wasm_end();
}

/* ---- Progress ------------------------------------------------------------ */

/* The build with the sets only is too small for this, and its calls are short.
 */
#ifdef BLY_SMALL
static const bly_progress *const wasm_watch = NULL;
#else
/* Implemented in JavaScript: reports the progress of the current call. Returns
   1 to cancel it. */
__attribute__((import_module("bloomery"), import_name("progress")))
int wasm_tell(double done, double total);

static int wasm_report(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    return wasm_tell((double)done, (double)total);
}

static const bly_progress wasm_progress = { wasm_report, NULL };
static const bly_progress *wasm_watch;  /* NULL: calls report nothing        */

/* Turns progress reports on or off, for the filter of the next call, or 0 for a
 * call that makes one. */
WASM_EXPORT(watch) void wasm_set_watch(bly_filter *f, int on)
{
    wasm_watch = on ? &wasm_progress : NULL;
    if (f != NULL)
        bly_progress_set(f, wasm_watch);
}
#endif

/* ---- Settings ------------------------------------------------------------ */

static bly_spec wasm_spec;
static bly_options wasm_options;

/* Sets the spec of the next filter that is planned, made or built. */
WASM_EXPORT(spec) void wasm_set_spec(uint64_t capacity, double rate,
                                     uint64_t seed, const char *hash,
                                     const void *secret)
{
    wasm_spec = (bly_spec){ .capacity = capacity, .rate = rate, .seed = seed,
                            .hash = hash, .secret = secret, .threads = 1,
                            .progress = wasm_watch };
}

/* Sets the options of the next filter read from bytes. */
WASM_EXPORT(options) void wasm_set_options(const void *secret,
                                           const char *format,
                                           uint64_t memory_limit)
{
    wasm_options = (bly_options){ .secret = secret, .format = format,
                                  .memory_limit = memory_limit,
                                  .threads = 1, .progress = wasm_watch };
}

static bly_status wasm_done;

/* Returns the status of the last call that returned a text or 0. */
WASM_EXPORT(done) int wasm_said(void)
{
    return wasm_done;
}

WASM_EXPORT(plan) const char *wasm_plan(const char *kind, uint64_t grown)
{
    bly_plan_t plan;
    wasm_done = bly_plan_grown(&plan, kind, &wasm_spec, grown);
    if (wasm_done < 0)
        return NULL;
    wasm_begin(BLY_FIELD_OBJECT);
    bly_plan_each(&plan, bly_json_field, &wasm_json);
    return wasm_end();
}

/* ---- Advice -------------------------------------------------------------- */

/* The costs of all kinds are a tenth of the bytes that the sets may have. */
#ifndef BLY_SMALL
/* The name of ability number i; 0: there are not so many. */
WASM_EXPORT(ability) const char *wasm_ability(int i)
{
    return i < BLY_ABILITIES ? bly_ability(UINT64_C(1) << i) : NULL;
}

static void wasm_truth(const char *name, bool yes)
{
    wasm_field(BLY_FIELD_BOOL, name, NULL, 0, yes);
}

static void wasm_advice(const bly_advice *a)
{
    wasm_bracket(BLY_FIELD_OBJECT, NULL);
    wasm_word("kind", a->kind);
    wasm_word("tier", a->tier);
    wasm_truth("fits", a->fits);
    wasm_truth("beaten", a->beaten);
    wasm_word("why", a->why);
    wasm_word("limit", a->limit);
    wasm_word("lacks", a->lacks);
    if (a->fits) {
        wasm_real("nsPresent", a->ns_present);
        wasm_real("nsAbsent", a->ns_absent);
        wasm_real("nsLookup", a->ns_lookup);
        wasm_real("nsAdd", a->ns_add);
        wasm_bracket(BLY_FIELD_OBJECT, "plan");
        bly_plan_each(&a->plan, bly_json_field, &wasm_json);
        wasm_close();
    }
    wasm_close();
}

/* Advises on the capacity and rate of the spec. */
WASM_EXPORT(advise) const char *wasm_advise(double present, uint64_t can,
                                            int fixed, int unknown, int aim,
                                            uint64_t memory)
{
    bly_need need = { .capacity = wasm_spec.capacity, .rate = wasm_spec.rate,
                      .present = present, .can = can, .fixed = fixed != 0,
                      .unknown = unknown != 0,
                      .aim = (bly_aim)aim, .memory = memory };
    bly_ranking *ranking;
    wasm_done = bly_advise(&ranking, &need);
    if (wasm_done < 0)
        return NULL;
    wasm_begin(BLY_FIELD_ARRAY);
    for (size_t i = 0; i < bly_ranking_count(ranking); i++)
        wasm_advice(bly_ranking_at(ranking, i));
    bly_ranking_free(ranking);
    return wasm_end();
}
#endif

/* ---- Keys ---------------------------------------------------------------- */

static bly_keys wasm_keys;

/* Sets n keys of the same length. */
WASM_EXPORT(keys_width) void wasm_keys_width(size_t n, const void *data,
                                             size_t width)
{
    wasm_keys = (bly_keys){ .n = n, .data = data, .width = width };
}

/* Sets n keys in `data`, with their ends in `offsets`. */
WASM_EXPORT(keys_offsets) void wasm_keys_offsets(size_t n, const void *data)
{
    wasm_keys = (bly_keys){ .n = n, .data = data, .offsets32 = wasm.offsets };
}

/* Writes the key of a number to 8 bytes of `room`. */
WASM_EXPORT(real) void wasm_real_key(unsigned char *key, double number)
{
    bly_real_key(key, number);
}

WASM_EXPORT(integer) void wasm_integer_key(unsigned char *key, int64_t number)
{
    bly_integer_key(key, number);
}

/* Parses the name of a form into the first of `numbers`. */
WASM_EXPORT(form_read) int wasm_form_read(const char *text)
{
    return bly_form_read(wasm.numbers, text);
}

WASM_EXPORT(form_of) uint32_t wasm_form_of(const bly_filter *f)
{
    return (uint32_t)bly_form_of(f);
}

WASM_EXPORT(form_set) int wasm_form_set(bly_filter *f, uint32_t form)
{
    return bly_form_set(f, form);
}

/* Converting keys would be a twentieth of the size of the sets-only module. */
#ifndef BLY_SMALL
/* The key of a value, where the form makes other bytes of it: to be given back,
 * the first of `numbers` are its bytes; 0: `done` says what was wrong. A number
 * is the 8 bytes at `data`. */
WASM_EXPORT(form_key) void *wasm_form_key(uint32_t form, int type,
                                          const void *data, size_t n)
{
    bly_value value = { .type = (bly_value_type)type, .data = data,
                        .length = n };
    bly_key key;
    if (value.type == BLY_INTEGER)
        memcpy(&value.integer, data, sizeof value.integer);
    if (value.type == BLY_REAL)
        memcpy(&value.real, data, sizeof value.real);
    size_t bytes = bly_form_room(form, n);
    void *room = bytes < SIZE_MAX ? malloc(bytes + 1) : NULL;
    wasm_done = room == NULL ? BLY_ENOMEM
              : (bly_form_nests(form) ? bly_nested_key
                                      : bly_form_key)(&key, form, &value, room);
    if (wasm_done < 0) {
        free(room);
        return NULL;
    }
    if (key.length > 0)
        memmove(room, key.data, key.length);
    wasm.numbers[0] = key.length;
    return room;
}
#endif

/* The types of JavaScript's typed arrays. */
enum { WASM_INT8, WASM_UINT8, WASM_INT16, WASM_UINT16, WASM_INT32, WASM_UINT32,
       WASM_INT64, WASM_UINT64, WASM_FLOAT32, WASM_FLOAT64 };

#define WASM_EACH(type, key_of)                                                \
    do {                                                                       \
        for (size_t i = 0; i < n; i++) {                                       \
            type v;                                                            \
            memcpy(&v, wasm.room + i * sizeof v, sizeof v);                    \
            key_of(wasm.wide + 8 * i, v);                                      \
        }                                                                      \
    } while (0)

/* Returns the first of n numbers in `room` that is not a signed 64-bit integer,
 * or n. */
static size_t wasm_large(size_t n)
{
    size_t i = 0;
    while (i < n && (wasm.room[8 * i + 7] & 0x80) == 0)
        i++;
    return i;
}

/* Converts n numbers in `room` to keys, and sets them. Returns how many: fewer
 * if the next one is too large. */
WASM_EXPORT(keys_numbers) size_t wasm_keys_numbers(int type, size_t n)
{
    const void *keys = wasm.wide;
    switch (type) {
    case WASM_INT8:    WASM_EACH(int8_t, bly_integer_key); break;
    case WASM_UINT8:   WASM_EACH(uint8_t, bly_integer_key); break;
    case WASM_INT16:   WASM_EACH(int16_t, bly_integer_key); break;
    case WASM_UINT16:  WASM_EACH(uint16_t, bly_integer_key); break;
    case WASM_INT32:   WASM_EACH(int32_t, bly_integer_key); break;
    case WASM_UINT32:  WASM_EACH(uint32_t, bly_integer_key); break;
    case WASM_FLOAT32: WASM_EACH(float, bly_real_key); break;
    case WASM_FLOAT64: WASM_EACH(double, bly_real_key); break;
    case WASM_UINT64:  n = wasm_large(n);
                       keys = wasm.room; break;
    default:           keys = wasm.room; break; /* they are keys as they lie */
    }
    wasm_keys_width(n, keys, 8);
    return n;
}

/* ---- Keys that are kept, to build of ------------------------------------- */

static struct {
    unsigned char *data;
    uint64_t      *ends;                /* NULL: all have one width          */
    size_t         used, room, n, ends_room, width;
} wasm_kept;

WASM_EXPORT(forget) void wasm_forget(void)
{
    free(wasm_kept.data);
    free(wasm_kept.ends);
    memset(&wasm_kept, 0, sizeof wasm_kept);
}

/* Makes room for `more` elements after the `used` ones. Returns NULL, with the
 * array unchanged, if out of memory. */
static void *wasm_grown(void *at, size_t *room, size_t used, size_t more,
                        size_t size)
{
    if (at != NULL && *room - used >= more)
        return at;
    size_t want = *room + *room / 2 + more + 1;
    if (want < more || want > SIZE_MAX / size)
        return NULL;
    void *grown = realloc(at, want * size);
    if (grown != NULL)
        *room = want;
    return grown;
}

static bool wasm_keep_ends(const bly_keys *k)
{
    uint64_t *ends = wasm_grown(wasm_kept.ends, &wasm_kept.ends_room,
                                wasm_kept.n, k->n + 1, sizeof *ends);
    if (ends == NULL)
        return false;
    wasm_kept.ends = ends;
    ends[0] = 0;
    for (size_t i = 0; i < k->n; i++)
        ends[wasm_kept.n + 1 + i] = wasm_kept.used + k->offsets32[i + 1];
    return true;
}

/* Keeps the keys that are set: keys of one width, or keys with ends, including
 * numbers; a long key is set alone, with a width. Returns false if out of
 * memory. */
WASM_EXPORT(keep) bool wasm_keep(bool with_ends)
{
    bly_keys k = wasm_keys;
    if (with_ends && k.offsets32 == NULL) {
        for (size_t i = 0; i <= k.n; i++)
            wasm.offsets[i] = (uint32_t)(i * k.width);
        k.offsets32 = wasm.offsets;
    }
    size_t bytes = k.offsets32 ? k.offsets32[k.n] : k.n * k.width;
    unsigned char *data = wasm_grown(wasm_kept.data, &wasm_kept.room,
                                     wasm_kept.used, bytes, 1);
    if (data == NULL)
        return false;
    wasm_kept.data = data;
    if (k.offsets32 != NULL && !wasm_keep_ends(&k))
        return false;
    if (bytes > 0)
        memcpy(data + wasm_kept.used, k.data, bytes);
    wasm_kept.width = k.offsets32 ? 0 : k.width;
    wasm_kept.used += bytes;
    wasm_kept.n += k.n;
    return true;
}

/* ---- Keys that lie within others ----------------------------------------- */

/* Filters of domains, networks and paths. Counts and labels are those of a key
 * itself. The sets-only module cannot make such keys. */
#ifdef BLY_SMALL
#define wasm_nests(f)      false
#define wasm_find(f, key)  false
#define wasm_enter(f, key) BLY_OK
#define wasm_mark(labels, form) BLY_OK
#define wasm_states(form)  ((void)(form), false)
#else
static bool wasm_nests(const bly_filter *f)
{
    return bly_form_nests(bly_form_of(f));
}

static bool wasm_find(const bly_filter *f, bly_key key)
{
    uint16_t found;
    bly_nested_find(f, bly_form_of(f), &key, 1, &found);
    return found != BLY_NESTED_NONE;
}

static bly_status wasm_enter(bly_filter *f, bly_key key)
{
    bool seen = bly_contains(f, key.data, key.length);
    bly_status status = bly_nested_add(f, bly_form_of(f), &key, 1, NULL);
    return status >= 0 && seen ? BLY_SEEN : status;
}

/* Returns whether a filter states this form from the beginning. */
static bool wasm_states(uint32_t form)
{
    return bly_form_nests(form);
}

/* Appends the markers of the keys that are kept. With labels there are none:
 * bly_build refuses these. */
static bly_status wasm_mark(const uint64_t *labels, uint64_t form)
{
    bool levels[BLY_NESTED_LEVELS] = { false };
    if (!bly_form_nests(form) || labels != NULL || wasm_kept.n == 0)
        return BLY_OK;
    for (size_t i = 0; i < wasm_kept.n; i++) {
        uint64_t at = wasm_kept.ends[i];
        bly_key kept = { wasm_kept.data + at,
                         (size_t)(wasm_kept.ends[i + 1] - at) };
        levels[bly_nested_level(form, kept)] = true;
    }
    for (unsigned i = 0; i < BLY_NESTED_LEVELS; i++) {
        unsigned char room[2];
        if (!levels[i])
            continue;
        wasm_keys = (bly_keys){ .n = 1, .width = 2,
                                .data = bly_nested_marker(room, i).data };
        if (!wasm_keep(true))
            return BLY_ENOMEM;
    }
    return BLY_OK;
}

/* Returns key i of those that are set, which have ends. */
static bly_key wasm_key_at(size_t i)
{
    uint32_t at = wasm_keys.offsets32[i];
    return (bly_key){ (const char *)wasm_keys.data + at,
                      wasm_keys.offsets32[i + 1] - at };
}
#endif

/* ---- Make and free ------------------------------------------------------- */

static bly_filter *wasm_made;

/* Returns the filter that the last call made. */
WASM_EXPORT(made) bly_filter *wasm_what(void)
{
    return wasm_made;
}

WASM_EXPORT(new) int wasm_new(const char *kind)
{
    return bly_new(&wasm_made, kind, &wasm_spec);
}

/* Builds from the keys kept, which were made by a form; `labels` is 0, or has
 * one per key. Only a form whose keys lie within others is stated here: it
 * cannot be later, as the filter has keys. */
WASM_EXPORT(build) int wasm_build(const char *kind, const uint64_t *labels,
                                  uint32_t form)
{
    bly_status status = wasm_mark(labels, form);
    if (status != BLY_OK)
        return status;
    bly_keys keys = { .n = wasm_kept.n };
    keys.data = wasm_kept.data;
    keys.offsets64 = wasm_kept.ends;
    keys.width = wasm_kept.n > 0 ? wasm_kept.width : 8;
    keys.labels = labels;
    if (wasm_spec.capacity == 0)
        wasm_spec.capacity = wasm_kept.n > 0 ? wasm_kept.n : 1;
    bly_spec spec = wasm_spec;
    spec.form = wasm_states(form) ? form : spec.form;
    return bly_build(&wasm_made, kind, &spec, &keys);
}

WASM_EXPORT(unpack) int wasm_unpack(const void *packed, size_t bytes)
{
    return bly_unpack(&wasm_made, packed, bytes, &wasm_options);
}

WASM_EXPORT(copy) int wasm_copy(const bly_filter *f)
{
    const bly_options options = { .progress = wasm_watch };
    return bly_copy(&wasm_made, f, &options);
}

WASM_EXPORT(like) int wasm_like(const bly_filter *f)
{
    return bly_like(&wasm_made, f, NULL);
}

WASM_EXPORT(free) void wasm_free(bly_filter *f)
{
    bly_free(f);
}

/* ---- Single keys: `n` bytes at `key` ------------------------------------- */

WASM_EXPORT(contains) int wasm_contains(const bly_filter *f, const void *key,
                                        size_t n)
{
    return wasm_nests(f) ? wasm_find(f, ((bly_key){ key, n }))
                         : bly_contains(f, key, n);
}

WASM_EXPORT(add) int wasm_add(bly_filter *f, const void *key, size_t n)
{
    return wasm_nests(f) ? (int)wasm_enter(f, ((bly_key){ key, n }))
                         : (int)bly_add(f, key, n);
}

WASM_EXPORT(remove) int wasm_remove(bly_filter *f, const void *key, size_t n)
{
    return bly_remove(f, key, n);
}

WASM_EXPORT(put) int wasm_put(bly_filter *f, const void *key, size_t n,
                              uint64_t label)
{
    return bly_put(f, key, n, label);
}

/* Store results in the first of `numbers`. */
WASM_EXPORT(count) void wasm_count(const bly_filter *f, const void *key,
                                   size_t n)
{
    wasm.numbers[0] = bly_count(f, key, n);
}

WASM_EXPORT(get) int wasm_get(const bly_filter *f, const void *key, size_t n)
{
    return bly_get(f, key, n, &wasm.numbers[0]);
}

WASM_EXPORT(hash) void wasm_hash(const bly_filter *f, const void *key, size_t n)
{
    wasm.numbers[0] = bly_hash(f, key, n);
}

/* ---- The keys that are set ----------------------------------------------- */

WASM_EXPORT(contains_many) int wasm_contains_many(const bly_filter *f)
{
    if (!wasm_nests(f))
        return bly_contains_many(f, &wasm_keys, wasm.yes);
    for (size_t i = 0; i < wasm_keys.n; i++)
        wasm.yes[i] = wasm_find(f, wasm_key_at(i));
    return BLY_OK;
}

/* Sets `yes` for keys that may have been present. */
WASM_EXPORT(add_many) int wasm_add_many(bly_filter *f)
{
    bly_status status = BLY_OK;
    if (!wasm_nests(f))
        return bly_add_many(f, &wasm_keys, wasm.yes, NULL);
    for (size_t i = 0; status >= 0 && i < wasm_keys.n; i++) {
        status = wasm_enter(f, wasm_key_at(i));
        wasm.yes[i] = status == BLY_SEEN;
    }
    return status < 0 ? status : BLY_OK;
}

WASM_EXPORT(remove_many) int wasm_remove_many(bly_filter *f)
{
    return bly_remove_many(f, &wasm_keys, NULL);
}

WASM_EXPORT(count_many) int wasm_count_many(const bly_filter *f)
{
    return bly_count_many(f, &wasm_keys, wasm.numbers);
}

WASM_EXPORT(put_many) int wasm_put_many(bly_filter *f)
{
    return bly_put_many(f, &wasm_keys, wasm.labels, NULL);
}

WASM_EXPORT(get_many) int wasm_get_many(const bly_filter *f)
{
    memset(wasm.numbers, 0, wasm_keys.n * sizeof *wasm.numbers);
    return bly_get_many(f, &wasm_keys, wasm.yes, wasm.numbers);
}

/* ---- Filters ------------------------------------------------------------- */

WASM_EXPORT(unite) int wasm_unite(bly_filter *f, const bly_filter *other)
{
    return bly_unite(f, other);
}

WASM_EXPORT(intersect) int wasm_intersect(bly_filter *f,
                                          const bly_filter *other)
{
    return bly_intersect(f, other);
}

WASM_EXPORT(subtract) int wasm_subtract(bly_filter *f, const bly_filter *other)
{
    return bly_subtract(f, other);
}

static void wasm_estimate(const char *name, bly_estimate e)
{
    wasm_bracket(BLY_FIELD_OBJECT, name);
    wasm_real("value", e.value);
    wasm_real("sd", e.sd);
    wasm_close();
}

WASM_EXPORT(overlap) const char *wasm_overlap(const bly_filter *a,
                                              const bly_filter *b)
{
    bly_overlap_t o;
    wasm_done = bly_overlap(&o, a, b);
    if (wasm_done < 0)
        return NULL;
    wasm_begin(BLY_FIELD_OBJECT);
    wasm_estimate("a", o.a);
    wasm_estimate("b", o.b);
    wasm_estimate("either", o.either);
    wasm_estimate("both", o.both);
    wasm_estimate("differ", o.differ);
    wasm_estimate("jaccard", o.jaccard);
    return wasm_end();
}

WASM_EXPORT(kind) const char *wasm_kind_of(const bly_filter *f)
{
    return bly_kind_of(f);
}

/* Returns whether the filter stores labels. */
WASM_EXPORT(labelled) bool wasm_labelled(const bly_filter *f)
{
    return (bly_can(f) & BLY_CAN_LABEL) != 0;
}

WASM_EXPORT(clear) int wasm_clear(bly_filter *f)
{
    return bly_clear(f);
}

WASM_EXPORT(resize) int wasm_resize(bly_filter *f, uint64_t capacity)
{
    return bly_resize(f, capacity);
}

WASM_EXPORT(fold) int wasm_fold(bly_filter *f, uint64_t times)
{
    return bly_fold(f, times);
}

WASM_EXPORT(info) const char *wasm_info(const bly_filter *f)
{
    bly_info_t s;
    wasm_done = bly_info(&s, f);
    if (wasm_done < 0)
        return NULL;
    wasm_begin(BLY_FIELD_OBJECT);
    bly_info_each(&s, f, bly_json_field, &wasm_json);
    return wasm_end();
}

/* ---- Results ------------------------------------------------------------- */

/* Returns the image in place, valid until the filter changes; the first of
 * `numbers` is its size. */
WASM_EXPORT(image) const void *wasm_image(const bly_filter *f)
{
    size_t bytes = 0;
    const void *image = bly_image(f, &bytes);
    wasm.numbers[0] = bytes;
    return image;
}

/* Returns the packed form, to be freed; 0 if `done` has an error. */
WASM_EXPORT(pack) void *wasm_pack(const bly_filter *f)
{
    size_t bytes = 0;
    const void *image = bly_image(f, &bytes);
    void *packed = image != NULL ? malloc(bytes) : NULL;
    wasm_done = packed != NULL ? bly_pack(f, packed, bytes, &bytes)
                               : BLY_ENOMEM;
    wasm.numbers[0] = bytes;
    if (wasm_done < 0) {
        free(packed);
        return NULL;
    }
    return packed;
}

/* ---- Keys that a filter lists -------------------------------------------- */

/* No kind of the sets lists its keys. */
#ifndef BLY_SMALL
/* Writes a key as an object, with its bytes in hexadecimal digits. */
static bool wasm_list_one(void *unused, const bly_listed *l)
{
    enum { LONGEST = 255 };
    const unsigned char *key = l->key;
    char digits[2 * LONGEST + 1];
    (void)unused;
    wasm_bracket(BLY_FIELD_OBJECT, NULL);
    wasm_field(BLY_FIELD_COUNT, "hash", NULL, 0, l->hash);
    wasm_real("side", l->side);
    if (key != NULL && l->length <= LONGEST) {
        for (size_t i = 0; i < l->length; i++)
            snprintf(digits + 2 * i, 3, "%02x", key[i]);
        digits[2 * l->length] = '\0';
        wasm_word("key", digits);
    }
    wasm_close();
    return !wasm_json.failed;
}

WASM_EXPORT(list) const char *wasm_list(const bly_filter *f)
{
    wasm_begin(BLY_FIELD_ARRAY);
    wasm_done = bly_list_keys(f, wasm_list_one, NULL);
    return wasm_done < 0 ? NULL : wasm_end();
}
#endif
