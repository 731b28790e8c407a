/* native.c - keys of Go as the library takes them, and its calls: native.h.
 *
 * Keys whose bytes are already those of the filter's form go to the library
 * where they lie. Other keys are converted some hundred at a time, in memory
 * that stays in the processor's cache.
 */
#include "native.h"

#include <bloomery/nested.h>
#include <bloomery/sketch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Results ------------------------------------------------------------- */

static char *tie_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy != NULL ? memcpy(copy, text, n) : NULL;
}

/* Returns a status, and if it is an error the library's reason. */
static tie_answer tie_told(bly_status status)
{
    tie_answer answer = { .status = (int)status };
    if (status < 0) {
        answer.number = bly_errno();
        answer.why = tie_text(bly_why_in("go"));
    }
    return answer;
}

static tie_answer tie_value(bly_status status, uint64_t value)
{
    tie_answer answer = tie_told(status);
    answer.value = value;
    return answer;
}

/* Returns an error of this file. */
static tie_answer tie_wrong(bly_status status, const char *why)
{
    return (tie_answer){ .status = (int)status, .why = tie_text(why) };
}

static tie_answer tie_no_memory(void)
{
    return tie_wrong(BLY_ENOMEM, bly_strerror(BLY_ENOMEM));
}

/* ---- Forms --------------------------------------------------------------- */

static bool tie_is_text(int type)
{
    return type == BLY_TEXT || type == BLY_BYTES;
}

/* Returns the form that the first keys of a filter set. */
static uint64_t tie_form_of(int type)
{
    return type == BLY_TEXT ? BLY_KEYS_TEXT
         : type == BLY_BYTES ? BLY_KEYS_BYTES : BLY_KEYS_NUMBER;
}

/* Returns whether values of a type are keys as they are. */
static bool tie_is_key(uint64_t form, int type)
{
    uint64_t class = form & BLY_FORM_CLASS;
    if (form == BLY_KEYS_UNSTATED)
        return tie_is_text(type) || type == BLY_INTEGER;
    switch (type) {
    case BLY_TEXT:
        return class == BLY_KEYS_TEXT
            && (form & (BLY_FORM_CASE | BLY_FORM_TRIM)) == 0;
    case BLY_BYTES:
        return class == BLY_KEYS_BYTES || class == BLY_KEYS_HEX;
    case BLY_INTEGER:
        return class == BLY_KEYS_NUMBER || class == BLY_KEYS_INT64;
    case TIE_UNSIGNED:
        return class == BLY_KEYS_INT64;
    default:
        return false;
    }
}

static void tie_write(unsigned char to[8], uint64_t bits)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

static uint64_t tie_read(const void *from)
{
    const unsigned char *at = from;
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)at[i] << 8 * i;
    return bits;
}

/* A value on the way to a key. `why` is a reason that the library does not
 * know; otherwise bly_why has it. */
typedef struct {
    bly_key key;
    char    why[200];
} tie_key;

/* Makes the key of an integer from 2^63 on. Classes of other keys refuse it
 * whatever its value. */
static bly_status tie_large(tie_key *to, uint64_t form, uint64_t large,
                            void *room)
{
    bly_value value = { .type = BLY_INTEGER };
    switch (form & BLY_FORM_CLASS) {
    case BLY_KEYS_INT64:
        tie_write(room, large);
        to->key = (bly_key){ room, 8 };
        return BLY_OK;
    case BLY_KEYS_FLOAT:
    case BLY_KEYS_DOUBLE:
        value.type = BLY_REAL;
        value.real = (double)large;
        if (value.real < 0x1p64 && (uint64_t)value.real == large)
            break;                      /* a double is equal to it           */
        /* fall through */
    case BLY_KEYS_UNSTATED:
    case BLY_KEYS_NUMBER:
    case BLY_KEYS_INT32:
        snprintf(to->why, sizeof to->why, "%llu is not one of the numbers that "
                 "the filter's keys are: give it as text, or make the filter "
                 "with WithKeys(\"int64\")", (unsigned long long)large);
        return BLY_EPARAM;
    }
    return bly_form_key(&to->key, form, &value, room);
}

/* Makes the key of a value, which for a number is its 8 bytes. `room` has
 * tie_room bytes. */
static bly_status tie_make(tie_key *to, uint64_t form, int type,
                           const void *data, size_t length, void *room)
{
    to->why[0] = '\0';
    to->key = (bly_key){ data, length };
    if (tie_is_key(form, type))
        return BLY_OK;
    uint64_t bits = tie_is_text(type) ? 0 : tie_read(data);
    if (type == TIE_UNSIGNED && bits >> 63 != 0)
        return tie_large(to, form, bits, room);
    bly_value value = { .type = (bly_value_type)type, .data = data,
                        .length = length };
    if (type == TIE_UNSIGNED)
        value.type = BLY_INTEGER;
    value.integer = (int64_t)bits;
    memcpy(&value.real, &bits, sizeof value.real);
    if (!tie_is_text(type)) {
        value.data = NULL;
        value.length = 0;
    }
    return bly_form_nests(form) ? bly_nested_key(&to->key, form, &value, room)
                                : bly_form_key(&to->key, form, &value, room);
}

static size_t tie_room(uint64_t form, int type, size_t length)
{
    return bly_form_room(form, tie_is_text(type) ? length : 0);
}

static tie_answer tie_refused(bly_status status, const tie_key *made)
{
    return made->why[0] != '\0' ? tie_wrong(status, made->why)
                                : tie_told(status);
}

/* The first keys in a filter fix its form. */
static bly_status tie_state_first(tie *t, uint64_t form)
{
    if (!t->open)
        return BLY_OK;
    bly_status status = bly_form_set(t->filter, form);
    t->any = status == BLY_EUNSUPPORTED;
    if (status < 0 && !t->any)
        return status;
    t->form = bly_form_of(t->filter);
    t->open = false;
    return BLY_OK;
}

/* ---- One key ------------------------------------------------------------- */

static bool tie_find(const tie *t, bly_key key)
{
    uint16_t found;
    if (!bly_form_nests(t->form))
        return bly_contains(t->filter, key.data, key.length);
    bly_nested_find(t->filter, t->form, &key, 1, &found);
    return found != BLY_NESTED_NONE;
}

static bly_status tie_enter(const tie *t, bly_key key)
{
    if (!bly_form_nests(t->form))
        return bly_add(t->filter, key.data, key.length);
    bool seen = bly_contains(t->filter, key.data, key.length);
    bly_status status = bly_nested_add(t->filter, t->form, &key, 1, NULL);
    return status >= 0 && seen ? BLY_SEEN : status;
}

/* Does an operation for a key that is ready. */
static tie_answer tie_do(tie *t, int verb, int type, bly_key key,
                         uint64_t label)
{
    bly_filter *f = t->filter;
    bly_status status;
    uint64_t value = 0;
    switch (verb) {
    case TIE_CONTAINS:
        return (tie_answer){ .value = tie_find(t, key) };
    case TIE_COUNT:
        return (tie_answer){ .value = bly_count(f, key.data, key.length) };
    case TIE_HASH:
        return (tie_answer){ .value = bly_hash(f, key.data, key.length) };
    case TIE_GET:
        status = bly_get(f, key.data, key.length, &value) ? BLY_SEEN : BLY_OK;
        return (tie_answer){ .status = status, .value = value };
    case TIE_REMOVE:
        return tie_told(bly_remove(f, key.data, key.length));
    case TIE_PUT:
        status = bly_put(f, key.data, key.length, label);
        break;
    default:
        status = tie_enter(t, key);
    }
    if (status >= 0 && t->open) {
        bly_status stated = tie_state_first(t, tie_form_of(type));
        status = stated < 0 ? stated : status;
    }
    return tie_told(status);
}

enum { TIE_FEW = 256 };

static tie_answer tie_slowly(tie *t, int verb, int type, const char *data,
                             size_t length, uint64_t label)
{
    size_t size = tie_room(t->form, type, length);
    char few[TIE_FEW], *room = size <= sizeof few ? few : malloc(size);
    tie_key made;
    if (room == NULL)
        return tie_no_memory();
    bly_status status = tie_make(&made, t->form, type, data, length, room);
    tie_answer answer = status < 0 ? tie_refused(status, &made)
                      : tie_do(t, verb, type, made.key, label);
    if (room != few)
        free(room);
    return answer;
}

int tie_contains(const tie *t, int type, const char *data, size_t length)
{
    if (!tie_is_key(t->form, type))
        return -1;
    return bly_contains(t->filter, data, length);
}

int tie_contains_number(const tie *t, int type, uint64_t bits)
{
    unsigned char data[8];
    tie_write(data, bits);
    return tie_contains(t, type, (const char *)data, sizeof data);
}

tie_answer tie_one(tie *t, int verb, int type, const char *data, size_t length,
                   uint64_t label)
{
    if (!tie_is_key(t->form, type))
        return tie_slowly(t, verb, type, data, length, label);
    return tie_do(t, verb, type, (bly_key){ data, length }, label);
}

tie_answer tie_number(tie *t, int verb, int type, uint64_t bits,
                      uint64_t label)
{
    unsigned char data[8];
    tie_write(data, bits);
    return tie_one(t, verb, type, (const char *)data, sizeof data, label);
}

/* ---- Many keys ----------------------------------------------------------- */

/* A batch that is being worked on. */
typedef struct {
    int             verb, type;
    size_t          n;
    const char     *data;
    const uint64_t *offsets;
    bool           *flags;
    uint64_t       *numbers;
    uint64_t        before;             /* keys before these                 */
} tie_batch;

static bly_key tie_row(const tie_batch *b, size_t i)
{
    if (b->offsets == NULL)
        return (bly_key){ b->data + 8 * i, 8 };
    size_t from = (size_t)b->offsets[i];
    return (bly_key){ b->data + from, (size_t)b->offsets[i + 1] - from };
}

static bool *tie_flags(const tie_batch *b, size_t from)
{
    return b->flags != NULL ? b->flags + from : NULL;
}

static uint64_t *tie_numbers(const tie_batch *b, size_t from)
{
    return b->numbers != NULL ? b->numbers + from : NULL;
}

/* Adds or looks up keys that lie within others. */
static tie_answer tie_nest(tie *t, const tie_batch *b, size_t from,
                           const bly_keys *keys)
{
    uint16_t found[TIE_FEW];
    size_t done = 0;
    bool *flags = tie_flags(b, from);
    if (b->verb == TIE_CONTAINS) {
        bly_nested_find(t->filter, t->form, keys->keys, keys->n, found);
        for (size_t i = 0; i < keys->n; i++)
            flags[i] = found[i] != BLY_NESTED_NONE;
        return (tie_answer){ .value = keys->n };
    }
    for (; flags != NULL && done < keys->n; done++) {
        bly_status entered = tie_enter(t, keys->keys[done]);
        if (entered < 0)
            return tie_value(entered, done);
        flags[done] = entered == BLY_SEEN;
    }
    if (flags != NULL)
        return (tie_answer){ .value = done };
    bly_status status = bly_nested_add(t->filter, t->form, keys->keys, keys->n,
                                       &done);
    return tie_value(status, done);
}

/* Does an operation for keys that are ready, of which the first is row `from`
 * of the batch. */
static tie_answer tie_do_many(tie *t, const tie_batch *b, size_t from,
                              const bly_keys *keys)
{
    bly_filter *f = t->filter;
    bool *flags = tie_flags(b, from);
    uint64_t *numbers = tie_numbers(b, from);
    bly_status status;
    size_t done = keys->n;
    if (bly_form_nests(t->form)
        && (b->verb == TIE_CONTAINS || b->verb == TIE_ADD))
        return tie_nest(t, b, from, keys);
    switch (b->verb) {
    case TIE_CONTAINS:
        status = bly_contains_many(f, keys, flags);
        break;
    case TIE_COUNT:
        status = bly_count_many(f, keys, numbers);
        break;
    case TIE_GET:
        status = bly_get_many(f, keys, flags, numbers);
        break;
    case TIE_REMOVE:
        status = bly_remove_many(f, keys, NULL);
        break;
    case TIE_PUT:
        status = bly_put_many(f, keys, numbers, &done);
        break;
    default:
        status = bly_add_many(f, keys, flags, &done);
    }
    if ((b->verb == TIE_PUT || b->verb == TIE_ADD) && done > 0 && t->open) {
        bly_status stated = tie_state_first(t, tie_form_of(b->type));
        status = status >= 0 && stated < 0 ? stated : status;
    }
    return tie_value(status, done);
}

/* Returns whether all unsigned integers are also signed ones. */
static bool tie_all_small(const tie_batch *b)
{
    uint64_t any = 0;
    for (size_t i = 0; i < b->n; i++)
        any |= tie_read(b->data + 8 * i);
    return any >> 63 == 0;
}

/* Makes keys of rows `from` and on, in rooms one after another. Stops at an
 * error, when `most` are made, or when the rest of the room is too small. */
static bly_status tie_make_some(tie_key *last, bly_key *keys, size_t most,
                                size_t *made, uint64_t form,
                                const tie_batch *b, size_t from, char *room,
                                size_t size)
{
    for (*made = 0; *made < most; ++*made) {
        bly_key row = tie_row(b, from + *made);
        size_t need = tie_room(form, b->type, row.length);
        if (need > size && *made > 0)
            return BLY_OK;
        bly_status status = tie_make(last, form, b->type, row.data, row.length,
                                     room);
        if (status < 0)
            return status;
        keys[*made] = last->key;
        room += need;
        size -= need;
    }
    return BLY_OK;
}

/* Returns the size of a room for a batch: of TIE_FEW numbers, or the largest
 * key. */
static size_t tie_batch_room(uint64_t form, const tie_batch *b)
{
    size_t most = 16 * TIE_FEW;
    for (size_t i = 0; b->offsets != NULL && i < b->n; i++) {
        size_t need = tie_room(form, b->type, tie_row(b, i).length);
        most = need > most ? need : most;
    }
    return most;
}

/* Keeps the first error of several answers. */
static void tie_keep(tie_answer *first, tie_answer next)
{
    if (first->status >= 0)
        *first = next;
    else
        free(next.why);
}

/* Does an operation for keys that must be converted. Removals continue after an
 * error, as those of bly_remove_many; other operations stop at it. */
static tie_answer tie_convert(tie *t, const tie_batch *b)
{
    bly_key keys[TIE_FEW];
    size_t size = tie_batch_room(t->form, b), from = 0, done = 0;
    char *room = malloc(size);
    tie_answer answer = { .status = BLY_OK };
    tie_key last;
    if (room == NULL)
        return tie_no_memory();
    while (from < b->n && (answer.status >= 0 || b->verb == TIE_REMOVE)) {
        size_t left = b->n - from, most = left < TIE_FEW ? left : TIE_FEW, made;
        bly_status status = tie_make_some(&last, keys, most, &made, t->form, b,
                                          from, room, size);
        tie_answer refused = { .status = BLY_OK };
        if (status < 0)
            refused = tie_refused(status, &last);
        if (made > 0) {
            tie_answer did = tie_do_many(t, b, from, &(bly_keys){
                .n = made, .keys = keys, .before = b->before + from });
            done = from + (size_t)did.value;
            tie_keep(&answer, did);
        }
        tie_keep(&answer, refused);
        from += made + (status < 0);
    }
    free(room);
    answer.value = done;
    return answer;
}

tie_answer tie_many(tie *t, int verb, int type, size_t n, const char *data,
                    const uint64_t *offsets, bool *flags, uint64_t *numbers,
                    uint64_t before)
{
    tie_batch b = { verb, type, n, data, offsets, flags, numbers, before };
    if (n == 0)
        return (tie_answer){ .status = BLY_OK };
    if (type == TIE_UNSIGNED && tie_is_key(t->form, BLY_INTEGER)
        && tie_all_small(&b))
        b.type = BLY_INTEGER;
    if (!tie_is_key(t->form, b.type))
        return tie_convert(t, &b);
    return tie_do_many(t, &b, 0, &(bly_keys){
        .n = n, .data = data, .offsets64 = offsets,
        .width = offsets == NULL ? 8 : 0, .before = before,
    });
}

/* ---- Make and open ------------------------------------------------------- */

/* Gives a filter to Go. */
static tie_answer tie_hold(bly_filter *filter, bool any, bool empty)
{
    tie *t = malloc(sizeof *t);
    if (t == NULL) {
        bly_free(filter);
        return tie_no_memory();
    }
    uint64_t form = bly_form_of(filter);
    bool unstated = form == BLY_KEYS_UNSTATED;
    *t = (tie){ filter, form, unstated && !any && empty, unstated && any };
    return (tie_answer){ .made = t };
}

/* Reads the text of a form; NULL and "any" are none. */
static bly_status tie_keys(bly_spec *spec, const char *keys, bool *any)
{
    *any = keys != NULL && strcmp(keys, "any") == 0;
    return keys == NULL ? BLY_OK : bly_form_read(&spec->form, keys);
}

tie_answer tie_new(const char *kind, const bly_spec *spec, const char *keys)
{
    bly_spec wanted = *spec;
    bly_filter *made;
    bool any;
    bly_status status = tie_keys(&wanted, keys, &any);
    if (status >= 0 && (wanted.flags & BLY_SHARED) != 0 && keys == NULL)
        return tie_wrong(BLY_EPARAM, "the first keys of a shared filter do not "
                         "set its class: state it with WithKeys(\"text\"), "
                         "\"bytes\", \"number\" or another form");
    if (status >= 0)
        status = bly_new(&made, kind, &wanted);
    return status < 0 ? tie_told(status) : tie_hold(made, any, true);
}

/* All keys of a build, converted, with a marker for each level of keys that lie
 * within others. */
typedef struct {
    bly_key      *keys;
    char         *room;
    size_t        n;
    bool          levels[BLY_NESTED_LEVELS];
    unsigned char markers[2 * BLY_NESTED_LEVELS];
} tie_built;

static void tie_mark(tie_built *to)
{
    for (unsigned i = 0; i < BLY_NESTED_LEVELS; i++)
        if (to->levels[i])
            to->keys[to->n++] = bly_nested_marker(to->markers + 2 * i, i);
}

static bly_status tie_build_keys(tie_built *to, tie_key *last, uint64_t form,
                                 const tie_batch *b)
{
    size_t size = 0;
    for (size_t i = 0; i < b->n; i++)
        size += tie_room(form, b->type, tie_row(b, i).length);
    to->keys = malloc((b->n + BLY_NESTED_LEVELS) * sizeof *to->keys);
    to->room = malloc(size > 0 ? size : 1);
    if (to->keys == NULL || to->room == NULL) {
        snprintf(last->why, sizeof last->why, "%s", bly_strerror(BLY_ENOMEM));
        return BLY_ENOMEM;
    }
    bly_status status = tie_make_some(last, to->keys, b->n, &to->n, form, b, 0,
                                      to->room, size);
    if (status < 0 || !bly_form_nests(form))
        return status;
    for (size_t i = 0; i < to->n; i++)
        to->levels[bly_nested_level(form, to->keys[i])] = true;
    tie_mark(to);
    return BLY_OK;
}

/* Builds a filter, whose keys state its form if none was given. */
static tie_answer tie_build_of(const char *kind, const bly_spec *spec,
                               const bly_keys *keys, uint64_t form, bool any)
{
    bly_filter *made;
    bly_status status = bly_build(&made, kind, spec, keys);
    if (status >= 0 && spec->form == BLY_KEYS_UNSTATED && !any
        && form != BLY_KEYS_UNSTATED) {
        status = bly_form_set(made, form);
        any = status == BLY_EUNSUPPORTED;
        if (status < 0 && !any) {
            tie_answer answer = tie_told(status);
            bly_free(made);
            return answer;
        }
        status = BLY_OK;
    }
    return status < 0 ? tie_told(status) : tie_hold(made, any, keys->n == 0);
}

tie_answer tie_build(const char *kind, const bly_spec *spec, const char *keys,
                     int type, size_t n, const char *data,
                     const uint64_t *offsets, const uint64_t *labels)
{
    bly_spec wanted = *spec;
    tie_batch b = { TIE_ADD, type, n, data, offsets, NULL, NULL };
    bly_keys all = { .n = n, .data = data, .offsets64 = offsets,
                     .width = offsets == NULL ? 8 : 0, .labels = labels };
    bool any;
    bly_status status = tie_keys(&wanted, keys, &any);
    if (status < 0)
        return tie_told(status);
    uint64_t first = n > 0 && keys == NULL ? tie_form_of(type)
                                           : BLY_KEYS_UNSTATED;
    if (tie_is_key(wanted.form, type) || n == 0)
        return tie_build_of(kind, &wanted, &all, first, any);
    tie_built *built = calloc(1, sizeof *built);
    tie_key last = { .why = "" };
    if (built == NULL)
        return tie_no_memory();
    status = tie_build_keys(built, &last, wanted.form, &b);
    bly_keys made = { .n = labels != NULL ? n : built->n, .keys = built->keys,
                      .labels = labels };       /* markers have no labels    */
    tie_answer answer = status < 0 ? tie_refused(status, &last)
        : tie_build_of(kind, &wanted, &made, first, any);
    free(built->keys);
    free(built->room);
    free(built);
    return answer;
}

/* Returns whether a filter that was just read is empty. A mapped file that
 * states no form keeps none: its bytes are not changed by looking. */
static bool tie_is_empty(const bly_filter *filter)
{
    bly_header header;
    bly_header_of(&header, filter);
    return header.items == 0;
}

tie_answer tie_open(const char *path, int flags, const bly_options *options)
{
    bly_filter *made;
    bly_status status = bly_open(&made, path, flags, options);
    return status < 0 ? tie_told(status)
         : tie_hold(made, (flags & BLY_SHARED) != 0, tie_is_empty(made));
}

tie_answer tie_unpack(const char *data, size_t n, const bly_options *options)
{
    bly_filter *made;
    bly_status status = bly_unpack(&made, n > 0 ? data : "", n, options);
    return status < 0 ? tie_told(status)
                      : tie_hold(made, false, tie_is_empty(made));
}

tie_answer tie_plan(bly_plan_t *out, const char *kind, const bly_spec *spec)
{
    return tie_told(bly_plan(out, kind, spec));
}

/* Returns the ranking in `memory`, for bly_ranking_free. */
tie_answer tie_advise(const bly_need *need)
{
    bly_ranking *ranking = NULL;
    tie_answer answer = tie_told(bly_advise(&ranking, need));
    answer.memory = ranking;
    return answer;
}

void tie_free(tie *t)
{
    bly_free(t->filter);
    free(t);
}

tie_answer tie_close(tie *t)
{
    bly_status status = bly_seal(t->filter);
    if (status == BLY_EREADONLY || status == BLY_EUNSUPPORTED)
        status = BLY_OK;                /* there was nothing to seal         */
    tie_answer answer = tie_told(status);
    tie_free(t);
    return answer;
}

/* ---- A whole filter ------------------------------------------------------ */

tie_answer tie_copy(const tie *t)
{
    bly_filter *made;
    bly_status status = bly_copy(&made, t->filter, NULL);
    return status < 0 ? tie_told(status) : tie_hold(made, t->any, t->open);
}

tie_answer tie_like(const tie *t)
{
    bly_filter *made;
    bly_status status = bly_like(&made, t->filter, NULL);
    return status < 0 ? tie_told(status) : tie_hold(made, t->any, true);
}

tie_answer tie_clear(tie *t)
{
    bly_status status = bly_clear(t->filter);
    if (status >= 0)
        t->open = !t->any && t->form == BLY_KEYS_UNSTATED;
    return tie_told(status);
}

tie_answer tie_resize(tie *t, uint64_t capacity)
{
    return tie_told(bly_resize(t->filter, capacity));
}

tie_answer tie_fold(tie *t, uint64_t times)
{
    return tie_told(bly_fold(t->filter, times));
}

tie_answer tie_sync(tie *t)
{
    return tie_told(bly_sync(t->filter));
}

tie_answer tie_state_keys(tie *t, const char *keys)
{
    uint64_t form;
    bly_status status = bly_form_read(&form, keys);
    if (status >= 0 && form != BLY_KEYS_UNSTATED)
        status = bly_form_set(t->filter, form);
    if (status >= 0) {
        t->form = bly_form_of(t->filter);
        t->any = t->form == BLY_KEYS_UNSTATED;
        t->open = false;
    }
    return tie_told(status);
}

tie_answer tie_info(bly_info_t *out, const tie *t)
{
    return tie_told(bly_info(out, t->filter));
}

tie_answer tie_save(const tie *t, const char *path)
{
    return tie_told(bly_save(t->filter, path));
}

tie_answer tie_pack(const tie *t)
{
    size_t bytes = 0;
    if (bly_image(t->filter, &bytes) == NULL)
        return tie_told(BLY_EUNSUPPORTED);
    void *memory = malloc(bytes);
    if (memory == NULL)
        return tie_no_memory();
    bly_status status = bly_pack(t->filter, memory, bytes, &bytes);
    tie_answer answer = tie_value(status, bytes);
    if (status < 0)
        free(memory);
    else
        answer.memory = memory;
    return answer;
}

/* ---- Two filters --------------------------------------------------------- */

static bly_status tie_verb(bly_filter *into, const bly_filter *other, int verb)
{
    return verb == TIE_UNITE ? bly_unite(into, other)
         : verb == TIE_INTERSECT ? bly_intersect(into, other)
                                 : bly_subtract(into, other);
}

/* A filter without keys and form goes with any other. */
tie_answer tie_join(tie *into, const tie *other, int verb)
{
    bly_status status = tie_verb(into->filter, other->filter, verb);
    if (status >= 0) {
        into->form = bly_form_of(into->filter);
        into->open = into->open && into->form == BLY_KEYS_UNSTATED
                  && (other->open || verb == TIE_INTERSECT);
    }
    return tie_told(status);
}

tie_answer tie_overlap(bly_overlap_t *out, const tie *a, const tie *b)
{
    return tie_told(bly_overlap(out, a->filter, b->filter));
}

/* ---- Lists --------------------------------------------------------------- */

typedef struct {
    tie_listed *rows;
    size_t      n, room;
    bool        full;                   /* no more memory                    */
} tie_rows;

static bool tie_add_row(void *context, const bly_listed *listed)
{
    tie_rows *all = context;
    if (all->n == all->room) {
        size_t room = 2 * all->room + 64;
        tie_listed *rows = realloc(all->rows, room * sizeof *rows);
        all->full = rows == NULL;
        if (all->full)
            return false;
        all->rows = rows;
        all->room = room;
    }
    tie_listed row = { listed->hash, NULL, listed->length, listed->side };
    if (listed->key != NULL) {
        row.key = malloc(listed->length + 1);
        all->full = row.key == NULL;
        if (all->full)
            return false;
        memcpy(row.key, listed->key, listed->length);
    }
    all->rows[all->n++] = row;
    return true;
}

tie_answer tie_list(const tie *t)
{
    tie_rows all = { .rows = NULL };
    tie_answer answer = tie_told(bly_list_keys(t->filter, tie_add_row, &all));
    if (all.full)
        answer = tie_no_memory();
    if (answer.status < 0) {
        for (size_t i = 0; i < all.n; i++)
            free(all.rows[i].key);
        free(all.rows);
        return answer;
    }
    answer.value = all.n;
    answer.memory = all.rows;
    return answer;
}
