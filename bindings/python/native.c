/* native.c - filters as Python holds them: each with a lock.
 *
 * cffi lets other threads of Python run while a function works. So what the
 * library asks of its callers, that no call is beside one that changes a
 * filter, is kept here: questions go side by side, a change goes alone. A
 * filter that was closed says HELD_CLOSED.
 *
 * Python programs fork while other threads work: multiprocessing does, and
 * servers do. The child must find every filter whole and no lock held by a
 * thread that it does not have:
 *
 * - Changes, and the calls that take the library's own lock of a filter (those
 *   that seal it or copy its image), pass a gate. A fork closes the gate and
 *   waits until nobody is inside. So it waits for changes, but neither for
 *   lookups nor for a save that writes to a slow file or a pipe.
 * - Locks of filters are not taken for a fork. In the child each is made anew
 *   when it is first used, because the library counts forks.
 *
 * The gate is entered with the locks of filters held, and nothing is waited for
 * inside it but the processor and the disk. So a fork cannot deadlock, whatever
 * locks its thread and the others hold, the interpreter's included.
 *
 * This is done by pthread_atfork, and not by os.register_at_fork. Its handlers
 * run inside fork(), where no code of Python runs between them. A handler in
 * Python would let others run with the gate closed: other handlers, and the
 * finalizers of the collector. They can use filters, or wait for a thread that
 * does. Servers that fork in C, as uWSGI does, do not call it at all.
 */
#include <bloomery.h>
#include <bloomery/advice.h>
#include <bloomery/foreign.h>
#include <bloomery/form.h>
#include <bloomery/sketch.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    HELD_CLOSED = -1000,
    HELD_MIXED  = -1001,                /* a first batch of several classes  */
    HELD_BEYOND = -1002,                /* an integer beyond the form's range*/
    HELD_FALLS  = -1003                 /* offsets that fall                 */
};

/* `open`: the filter is empty and states no form of its keys, so the first keys
 * that are added state it. `any`: they do not, because the caller said so. */
typedef struct {
    bly_filter      *filter;            /* NULL: closed                      */
    pthread_rwlock_t lock;
    atomic_uint      forks;             /* held_forks when the lock was made */
    bool             open, any;
} held;

/* ---- Forks --------------------------------------------------------------- */

static const pthread_rwlock_t held_open_lock = PTHREAD_RWLOCK_INITIALIZER;
static const pthread_mutex_t held_open_mutex = PTHREAD_MUTEX_INITIALIZER;

static pthread_rwlock_t held_gate = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t held_turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool held_forking;        /* held_turn is a fork's             */
static unsigned held_forks;             /* between the first process and this*/
static bool held_unsafe;                /* the system refused the handlers   */

/* Changes that follow each other closely in several threads could keep a fork
 * waiting for the gate. So a change that comes later waits for its turn. */
static void held_before_fork(void)
{
    pthread_mutex_lock(&held_turn);
    atomic_store(&held_forking, true);
    pthread_rwlock_wrlock(&held_gate);
}

static void held_in_parent(void)
{
    pthread_rwlock_unlock(&held_gate);
    atomic_store(&held_forking, false);
    pthread_mutex_unlock(&held_turn);
}

/* Makes the locks anew. The child's only thread has another number than the one
 * that took them, so that glibc would not unlock a lock held to write. */
static void held_in_child(void)
{
    held_gate = held_open_lock;
    held_turn = held_open_mutex;
    atomic_store(&held_forking, false);
    held_forks++;
}

/* Runs when the module is loaded, before there is a filter. */
__attribute__((constructor)) static void held_begin(void)
{
    held_unsafe = pthread_atfork(held_before_fork, held_in_parent,
                                 held_in_child) != 0;
}

/* Makes the lock of a filter anew if it comes from before a fork: threads that
 * held it then do not exist here. */
static void held_renew(held *h)
{
    if (atomic_load_explicit(&h->forks, memory_order_acquire) == held_forks)
        return;
    pthread_mutex_lock(&held_turn);
    if (atomic_load(&h->forks) != held_forks) {
        h->lock = held_open_lock;
        atomic_store_explicit(&h->forks, held_forks, memory_order_release);
    }
    pthread_mutex_unlock(&held_turn);
}

static void held_lock(held *h, bool change)
{
    held_renew(h);
    if (change)
        pthread_rwlock_wrlock(&h->lock);
    else
        pthread_rwlock_rdlock(&h->lock);
}

static void held_unlock(held *h)
{
    pthread_rwlock_unlock(&h->lock);
}

/* Enters the gate, with the locks of all filters that are needed held. */
static void held_enter(void)
{
    if (atomic_load(&held_forking)) {
        pthread_mutex_lock(&held_turn);
        pthread_mutex_unlock(&held_turn);
    }
    pthread_rwlock_rdlock(&held_gate);
}

static void held_leave(void)
{
    pthread_rwlock_unlock(&held_gate);
}

/* ---- Keys ---------------------------------------------------------------- */

/* Types of keys are those of bly_value, and one for integers from 2^63 to
 * 2^64 - 1. Numbers are 8 bytes, the lowest first: an integer as such, a real
 * number as a double. Texts, bytes and integers are keys as they are, if the
 * form of the filter is the whole class or is not stated. */
enum { HELD_LARGE = BLY_REAL + 1 };

/* Keys as in bly_keys, of one type, or each of its own in `types`. valid[i] is
 * 0 for a missing value, which is not a key; NULL: none is missing. */
typedef struct {
    size_t               n;
    const void          *data;
    const uint32_t      *offsets32;
    const uint64_t      *offsets64;
    size_t               width;
    uint64_t             padded;
    int                  type;
    const unsigned char *types, *valid;
} held_batch;

static bool held_is_key(uint64_t form, int type)
{
    uint64_t class = form & BLY_FORM_CLASS;
    if (form == BLY_KEYS_UNSTATED)
        return type == BLY_TEXT || type == BLY_BYTES || type == BLY_INTEGER;
    switch (type) {
    case BLY_TEXT:
        return class == BLY_KEYS_TEXT
            && (form & (BLY_FORM_CASE | BLY_FORM_TRIM)) == 0;
    case BLY_BYTES:
        return class == BLY_KEYS_BYTES || class == BLY_KEYS_HEX;
    case BLY_INTEGER:
        return class == BLY_KEYS_NUMBER || class == BLY_KEYS_INT64;
    default:
        return false;
    }
}

/* The form that keys of a type state when they are the first of a filter. */
static uint64_t held_form_of_type(int type)
{
    return type == BLY_TEXT ? BLY_KEYS_TEXT
         : type == BLY_BYTES ? BLY_KEYS_BYTES : BLY_KEYS_NUMBER;
}

static uint64_t held_u64(const char *data)
{
    const unsigned char *b = (const unsigned char *)data;
    return b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16
         | (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40
         | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

/* An integer from 2^63 to 2^64 - 1. Classes of other keys refuse it as an
 * integer, whatever its value. */
static int held_large_key(bly_key *key, uint64_t form, const char *data,
                          void *room)
{
    uint64_t class = form & BLY_FORM_CLASS, large = held_u64(data);
    double real = (double)large;
    bly_value value = { .type = BLY_INTEGER };
    switch (class) {
    case BLY_KEYS_INT64:
        *key = (bly_key){ data, 8 };
        return BLY_OK;
    case BLY_KEYS_FLOAT:
    case BLY_KEYS_DOUBLE:
        if (!(real < 0x1p64) || (uint64_t)real != large)
            return HELD_BEYOND;
        value.type = BLY_REAL;
        value.real = real;
        break;
    case BLY_KEYS_UNSTATED:
    case BLY_KEYS_NUMBER:
    case BLY_KEYS_INT32:
        return HELD_BEYOND;
    }
    return (int)bly_form_key(key, form, &value, room);
}

/* The key of a value by a form; `room` has as many bytes as bly_form_room
 * says. */
static int held_key_by(bly_key *key, uint64_t form, int type, const char *data,
                       size_t length, void *room)
{
    *key = (bly_key){ data, length };
    if (held_is_key(form, type))
        return BLY_OK;
    if (type == HELD_LARGE)
        return held_large_key(key, form, data, room);
    bly_value value = { .type = (bly_value_type)type };
    if (type == BLY_INTEGER) {
        value.integer = (int64_t)held_u64(data);
    } else if (type == BLY_REAL) {
        uint64_t bits = held_u64(data);
        memcpy(&value.real, &bits, sizeof value.real);
    } else {
        value.data = data;
        value.length = length;
    }
    return (int)bly_form_key(key, form, &value, room);
}

/* Keys made by a form, in memory of its own where they had to be changed.
 * Where one of them cannot be, `status` says why, and those before it are
 * here. */
typedef struct {
    bly_keys  keys;
    int       status;
    char     *data;
    uint64_t *ends;
    size_t    used, size;
} held_ready;

static void held_ready_free(held_ready *r)
{
    free(r->data);
    free(r->ends);
}

/* Where key i of a batch lies. False: its offsets fall. */
static bool held_at(bly_key *key, const held_batch *b, size_t i)
{
    const char *data = b->data;
    uint64_t begin = i * b->width, end = begin + b->width, last = end;
    if (b->offsets32 != NULL) {
        begin = b->offsets32[i];
        end = b->offsets32[i + 1];
        last = b->offsets32[b->n];
    } else if (b->offsets64 != NULL) {
        begin = b->offsets64[i];
        end = b->offsets64[i + 1];
        last = b->offsets64[b->n];
    }
    if (begin > end || end > last)
        return false;
    while (b->padded != 0 && end > begin && data[end - 1] == 0)
        end--;
    *key = (bly_key){ end > begin ? data + begin : "", (size_t)(end - begin) };
    return true;
}

static bool held_more(held_ready *r, size_t needed)
{
    if (needed <= r->size - r->used)
        return true;
    size_t size = 2 * r->size + 4096;
    if (needed > SIZE_MAX / 4 || size - r->used < needed)
        size = needed > SIZE_MAX / 4 ? 0 : r->used + needed;
    char *more = size != 0 ? realloc(r->data, size) : NULL;
    if (more == NULL)
        return false;
    r->data = more;
    r->size = size;
    return true;
}

static int held_append(held_ready *r, uint64_t form, int type, bly_key from)
{
    bool text = type == BLY_TEXT || type == BLY_BYTES;
    size_t room = bly_form_room(form, text ? from.length : 0);
    bly_key key;
    if (!held_more(r, room > from.length ? room : from.length))
        return BLY_ENOMEM;
    char *to = r->data + r->used;
    int status = held_key_by(&key, form, type, from.data, from.length, to);
    if (status < 0)
        return status;
    if (key.data != to && key.length > 0)
        memmove(to, key.data, key.length);
    r->used += key.length;
    r->ends[++r->keys.n] = r->used;
    return BLY_OK;
}

static int held_type(const held_batch *b, size_t i)
{
    return b->types != NULL ? b->types[i] : b->type;
}

static bool held_is_there(const held_batch *b, size_t i)
{
    return b->valid == NULL || b->valid[i] != 0;
}

/* Real numbers of a filter whose numbers are keys by value, or whose form is
 * not stated: the keys that bly_form_key makes, without its questions. False:
 * something else. */
static bool held_make_reals(held_ready *r, uint64_t form, const held_batch *b)
{
    const char *from = b->data;
    if (b->types != NULL || b->valid != NULL || b->type != BLY_REAL
        || (form != BLY_KEYS_UNSTATED && form != BLY_KEYS_NUMBER)
        || b->width != 8 || !held_more(r, 8 * b->n))
        return false;
    for (size_t i = 0; i < b->n; i++) {
        uint64_t bits = held_u64(from + 8 * i);
        double real;
        memcpy(&real, &bits, sizeof real);
        bly_real_key((unsigned char *)r->data + 8 * i, real);
    }
    r->keys.data = r->data;
    return true;
}

static void held_make_ready(held_ready *r, uint64_t form, const held_batch *b)
{
    *r = (held_ready){ .keys = {
        .n = b->n, .data = b->data, .offsets32 = b->offsets32,
        .offsets64 = b->offsets64, .width = b->width, .padded = b->padded,
    } };
    if (b->types == NULL && b->valid == NULL && held_is_key(form, b->type))
        return;
    if (held_make_reals(r, form, b))
        return;
    r->ends = calloc(b->n + 1, sizeof *r->ends);
    r->keys = (bly_keys){ .offsets64 = r->ends };
    r->status = r->ends == NULL ? BLY_ENOMEM : BLY_OK;
    for (size_t i = 0; r->status >= 0 && i < b->n; i++) {
        bly_key from;
        if (!held_at(&from, b, i))
            r->status = HELD_FALLS;
        else if (held_is_there(b, i))
            r->status = held_append(r, form, held_type(b, i), from);
    }
    r->keys.data = r->data != NULL ? r->data : "";
}

/* Moves the answers of the keys to the rows where the keys are; a missing one
 * has the answer 0. */
static void held_spread(void *answers, size_t size, const held_batch *b)
{
    size_t left = 0;
    char *each = answers;
    if (b->valid == NULL)
        return;
    for (size_t i = 0; i < b->n; i++)
        left += b->valid[i] != 0;
    for (size_t i = b->n; i-- > 0; ) {
        if (b->valid[i] != 0)
            memmove(each + i * size, each + --left * size, size);
        else
            memset(each + i * size, 0, size);
    }
}

/* The labels of the keys that are not missing, in memory of its own if some
 * are. NULL, with n > 0: no memory. */
static uint64_t *held_labels(const uint64_t *labels, const held_batch *b)
{
    uint64_t *some = malloc((b->n + 1) * sizeof *some);
    size_t n = 0;
    for (size_t i = 0; some != NULL && i < b->n; i++)
        if (held_is_there(b, i))
            some[n++] = labels[i];
    return some;
}

/* ---- The form of a filter's keys ----------------------------------------- */

/* The form that a first batch states. */
static int held_first_form(uint64_t *form, const held_batch *b)
{
    *form = BLY_KEYS_UNSTATED;
    for (size_t i = 0; i < b->n; i++) {
        if (!held_is_there(b, i))
            continue;
        uint64_t states = held_form_of_type(held_type(b, i));
        if (*form != BLY_KEYS_UNSTATED && states != *form)
            return HELD_MIXED;
        *form = states;
        if (b->types == NULL)
            break;
    }
    return BLY_OK;
}

/* Keys are about to be added that were made by this form. Files of other
 * systems have no room for it, and take any. */
static int held_state_first(held *h, uint64_t form)
{
    if (!h->open)
        return BLY_OK;
    int status = (int)bly_form_set(h->filter, form);
    h->any = status == BLY_EUNSUPPORTED;
    if (status < 0 && !h->any)
        return status;
    h->open = false;
    return BLY_OK;
}

/* The first keys that are in the filter fix its form. Returns the status of
 * adding them, which may have ended half way. */
static int held_added(held *h, uint64_t form, int status)
{
    bly_stat_t stat;
    if (!h->open || bly_stat(&stat, h->filter) < 0 || stat.items == 0)
        return status;
    int stated = held_state_first(h, form);
    return status >= 0 && stated < 0 ? stated : status;
}

/* ---- Make and close ------------------------------------------------------ */

static int held_hold(held **out, bly_filter *filter, bool any, bool empty)
{
    held *h = calloc(1, sizeof *h);
    if (h == NULL || held_unsafe) {
        free(h);
        bly_free(filter);
        return BLY_ENOMEM;
    }
    bool unstated = bly_form_of(filter) == BLY_KEYS_UNSTATED;
    *h = (held){
        .filter = filter, .lock = held_open_lock, .forks = held_forks,
        .any = unstated && any, .open = unstated && !any && empty,
    };
    *out = h;
    return BLY_OK;
}

/* What was read from elsewhere is not changed yet, so that its image is at
 * hand, with the number of its keys in the header. */
static bool held_is_empty(const bly_filter *filter)
{
    bly_header header;
    const void *image = bly_image(filter, NULL);
    return image != NULL
        && bly_peek(&header, image, BLY_HEADER_BYTES) == BLY_OK
        && header.items == 0;
}

static int held_read(int status, held **out, bly_filter *const *filter)
{
    return status < 0 ? status
                      : held_hold(out, *filter, false, held_is_empty(*filter));
}

/* A form that was asked for is stated, or it is an error. */
static int held_made(int status, held **out, bly_filter *filter, uint64_t form,
                     bool any, bool empty)
{
    if (status >= 0 && form != BLY_KEYS_UNSTATED)
        status = (int)bly_form_set(filter, form);
    if (status < 0) {
        bly_free(filter);
        return status;
    }
    return held_hold(out, filter, any, empty);
}

static int held_new(held **out, const char *kind, const bly_spec *spec,
                    bool any)
{
    bly_filter *made = NULL;
    int status = (int)bly_new(&made, kind, spec);
    return held_made(status, out, made, spec->form, any, true);
}

/* Without a form in spec, and not `any`: the keys state it. */
static int held_build(held **out, const char *kind, bly_spec *spec, bool any,
                      const held_batch *batch, const uint64_t *labels)
{
    uint64_t form = spec->form, wanted = form;
    bly_filter *made = NULL;
    held_ready ready;
    uint64_t *some = NULL;
    int status = wanted == BLY_KEYS_UNSTATED && !any
               ? held_first_form(&form, batch) : BLY_OK;
    if (status < 0)
        return status;
    held_make_ready(&ready, form, batch);
    if (labels != NULL && ready.status >= 0) {
        some = held_labels(labels, batch);
        ready.status = some == NULL ? BLY_ENOMEM : BLY_OK;
    }
    spec->form = form;
    status = ready.status;
    if (status >= 0)
        status = (int)bly_build_keys(&made, kind, spec, &ready.keys, some);
    status = held_made(status, out, made, wanted, any, ready.keys.n == 0);
    free(some);
    held_ready_free(&ready);
    return status;
}

static int held_hash_keys(uint64_t *hashes, const char *kind,
                          const bly_spec *spec, const held_batch *batch)
{
    held_ready ready;
    held_make_ready(&ready, spec->form, batch);
    int status = ready.status < 0 ? ready.status
               : (int)bly_hash_keys(hashes, kind, spec, &ready.keys);
    held_ready_free(&ready);
    return status;
}

static int held_open(held **out, const char *path, int flags,
                     const bly_options *options)
{
    bly_filter *made = NULL;
    return held_read((int)bly_open(&made, path, flags, options), out, &made);
}

static int held_unpack(held **out, const void *packed, size_t bytes,
                       const bly_options *options)
{
    bly_filter *made = NULL;
    return held_read((int)bly_unpack(&made, packed, bytes, options), out,
                     &made);
}

/* Errors of sealing a file are told; the filter is gone all the same. */
static int held_close(held *h)
{
    held_lock(h, true);
    held_enter();
    int status = h->filter != NULL ? (int)bly_seal(h->filter) : BLY_OK;
    if (status == BLY_EREADONLY || status == BLY_EUNSUPPORTED)
        status = BLY_OK;                /* there was nothing to seal         */
    bly_free(h->filter);
    h->filter = NULL;
    held_leave();
    held_unlock(h);
    return status;
}

static void held_free(held *h)
{
    if (h == NULL)
        return;
    held_renew(h);
    bly_free(h->filter);
    pthread_rwlock_destroy(&h->lock);
    free(h);
}

/* ---- One filter ---------------------------------------------------------- */

/* Call with the filter f of h locked to be read, or to be changed. A call that
 * only looks keys up needs no gate; HELD_COPY is for the others that read. */
#define HELD_BY(change, enter, leave, call)                                    \
    int status = HELD_CLOSED;                                                  \
    held_lock(h, change);                                                      \
    enter;                                                                     \
    bly_filter *f = h->filter;                                                 \
    if (f != NULL)                                                             \
        status = (int)(call);                                                  \
    leave;                                                                     \
    held_unlock(h);                                                            \
    return status
#define HELD_READ(call)   HELD_BY(false, (void)0, (void)0, call)
#define HELD_COPY(call)   HELD_BY(false, held_enter(), held_leave(), call)
#define HELD_CHANGE(call) HELD_BY(true, held_enter(), held_leave(), call)

static int held_form(held *h, uint64_t *form, bool *any)
{
    HELD_READ((*form = bly_form_of(f), *any = h->any, BLY_OK));
}

/* "any" leaves a filter that states no form as it is, for keys of any class. */
static int held_state(held *h, uint64_t form)
{
    int status = (int)bly_form_set(h->filter, form);
    if (status >= 0) {
        h->open = false;
        h->any = form == BLY_KEYS_UNSTATED;
    }
    return status;
}

static int held_state_form(held *h, uint64_t form)
{
    HELD_CHANGE(held_state(h, form));
}

/* One key, of a type: `deed` is done with the key that the filter's form makes
 * of it. A deed that adds the key may be the first to state the form. */
typedef int held_deed(bly_filter *f, bly_key key, uint64_t *number);

enum { HELD_ROOM = 256 };

static int held_slowly(held *h, uint64_t form, bool adds, int type, bly_key key,
                       held_deed *deed, uint64_t *number)
{
    bool text = type == BLY_TEXT || type == BLY_BYTES;
    size_t size = bly_form_room(form, text ? key.length : 0);
    char few[HELD_ROOM], *room = few;
    if (size > sizeof few)
        room = size <= SIZE_MAX / 4 ? malloc(size) : NULL;
    int status = room == NULL ? BLY_ENOMEM
               : held_key_by(&key, form, type, key.data, key.length, room);
    if (status >= 0)
        status = deed(h->filter, key, number);
    if (room != few)
        free(room);
    return status >= 0 && adds ? held_added(h, form, status) : status;
}

static inline int held_one(held *h, bool adds, int type, const char *data,
                           size_t length, held_deed *deed, uint64_t *number)
{
    bly_key key = { data, length };
    uint64_t form = bly_form_of(h->filter);
    bool first = adds && h->open;
    if (!first && held_is_key(form, type))
        return deed(h->filter, key, number);
    return held_slowly(h, first ? held_form_of_type(type) : form, adds, type,
                       key, deed, number);
}

static int held_do_contains(bly_filter *f, bly_key key, uint64_t *number)
{
    (void)number;
    return bly_contains(f, key.data, key.length);
}

static int held_do_add(bly_filter *f, bly_key key, uint64_t *number)
{
    (void)number;
    return (int)bly_add(f, key.data, key.length);
}

static int held_do_remove(bly_filter *f, bly_key key, uint64_t *number)
{
    (void)number;
    return (int)bly_remove(f, key.data, key.length);
}

static int held_do_count(bly_filter *f, bly_key key, uint64_t *number)
{
    *number = bly_count(f, key.data, key.length);
    return BLY_OK;
}

static int held_do_put(bly_filter *f, bly_key key, uint64_t *number)
{
    return (int)bly_put(f, key.data, key.length, *number);
}

static int held_do_get(bly_filter *f, bly_key key, uint64_t *number)
{
    return (int)bly_get(f, key.data, key.length, number);
}

static int held_contains(held *h, int type, const char *data, size_t length)
{
    HELD_READ(held_one(h, false, type, data, length, held_do_contains, NULL));
}

/* The same of one type: an argument less is noticed where all else is fast. */
static int held_contains_text(held *h, const char *data, size_t length)
{
    return held_contains(h, BLY_TEXT, data, length);
}

static int held_contains_bytes(held *h, const char *data, size_t length)
{
    return held_contains(h, BLY_BYTES, data, length);
}

static int held_add(held *h, int type, const char *data, size_t length)
{
    HELD_CHANGE(held_one(h, true, type, data, length, held_do_add, NULL));
}

static int held_remove(held *h, int type, const char *data, size_t length)
{
    HELD_CHANGE(held_one(h, false, type, data, length, held_do_remove, NULL));
}

static int held_count(held *h, int type, const char *data, size_t length,
                      uint64_t *count)
{
    HELD_READ(held_one(h, false, type, data, length, held_do_count, count));
}

static int held_put(held *h, int type, const char *data, size_t length,
                    uint64_t label)
{
    HELD_CHANGE(held_one(h, true, type, data, length, held_do_put, &label));
}

static int held_get(held *h, int type, const char *data, size_t length,
                    uint64_t *label)
{
    HELD_READ(held_one(h, false, type, data, length, held_do_get, label));
}

/* Many keys: `job` is done with those that the filter's form makes of them. */
typedef struct {
    const held_batch *batch;
    bool             *flags;            /* answers; NULL: not wanted         */
    uint64_t         *numbers;
    const uint64_t   *labels;
} held_work;

typedef int held_job(bly_filter *f, const bly_keys *keys,
                     const held_work *work);

/* Answers are about all keys or none, while those before one that cannot be
 * are added. */
static int held_many(held *h, bool adds, held_work work, held_job *job)
{
    held_ready ready;
    uint64_t form;
    int status = BLY_OK;
    if (adds && h->open)
        status = held_first_form(&form, work.batch);
    else
        form = bly_form_of(h->filter);
    if (status < 0)
        return status;
    held_make_ready(&ready, form, work.batch);
    if (adds || ready.status >= 0)
        status = job(h->filter, &ready.keys, &work);
    if (adds)
        status = held_added(h, form, status);
    if (status >= 0 && ready.status >= 0) {
        if (work.flags != NULL)
            held_spread(work.flags, sizeof *work.flags, work.batch);
        if (work.numbers != NULL)
            held_spread(work.numbers, sizeof *work.numbers, work.batch);
    }
    held_ready_free(&ready);
    return status < 0 ? status : ready.status < 0 ? ready.status : status;
}

static int held_job_contains(bly_filter *f, const bly_keys *keys,
                             const held_work *work)
{
    return (int)bly_contains_keys(f, keys, work->flags);
}

static int held_contains_keys(held *h, const held_batch *batch, bool *present)
{
    held_work work = { .batch = batch, .flags = present };
    HELD_READ(held_many(h, false, work, held_job_contains));
}

static int held_job_add(bly_filter *f, const bly_keys *keys,
                        const held_work *work)
{
    int status = (int)bly_add_keys(f, keys, work->flags, NULL);
    for (size_t i = 0; work->flags != NULL && i < keys->n; i++)
        work->flags[i] = !work->flags[i];
    return status;
}

/* added[i], unless it is NULL: was the key new? */
static int held_add_keys(held *h, const held_batch *batch, bool *added)
{
    held_work work = { .batch = batch, .flags = added };
    HELD_CHANGE(held_many(h, true, work, held_job_add));
}

static int held_job_remove(bly_filter *f, const bly_keys *keys,
                           const held_work *work)
{
    (void)work;
    return (int)bly_remove_keys(f, keys, NULL);
}

static int held_remove_keys(held *h, const held_batch *batch)
{
    held_work work = { .batch = batch };
    HELD_CHANGE(held_many(h, false, work, held_job_remove));
}

static int held_job_count(bly_filter *f, const bly_keys *keys,
                          const held_work *work)
{
    return (int)bly_count_keys(f, keys, work->numbers);
}

static int held_count_keys(held *h, const held_batch *batch, uint64_t *counts)
{
    held_work work = { .batch = batch, .numbers = counts };
    HELD_READ(held_many(h, false, work, held_job_count));
}

static int held_job_put(bly_filter *f, const bly_keys *keys,
                        const held_work *work)
{
    if (work->batch->valid == NULL || work->labels == NULL)
        return (int)bly_put_keys(f, keys, work->labels, NULL);
    uint64_t *some = held_labels(work->labels, work->batch);
    int status = some == NULL ? BLY_ENOMEM
               : (int)bly_put_keys(f, keys, some, NULL);
    free(some);
    return status;
}

static int held_put_keys(held *h, const held_batch *batch,
                         const uint64_t *labels)
{
    held_work work = { .batch = batch, .labels = labels };
    HELD_CHANGE(held_many(h, true, work, held_job_put));
}

static int held_job_get(bly_filter *f, const bly_keys *keys,
                        const held_work *work)
{
    return (int)bly_get_keys(f, keys, work->flags, work->numbers);
}

static int held_get_keys(held *h, const held_batch *batch, bool *found,
                         uint64_t *labels)
{
    held_work work = { .batch = batch, .flags = found, .numbers = labels };
    HELD_READ(held_many(h, false, work, held_job_get));
}

static int held_empty(held *h)
{
    int status = (int)bly_clear(h->filter);
    if (status >= 0)
        h->open = !h->any && bly_form_of(h->filter) == BLY_KEYS_UNSTATED;
    return status;
}

static int held_clear(held *h)
{
    HELD_CHANGE(held_empty(h));
}

static int held_resize(held *h, uint64_t capacity)
{
    HELD_CHANGE(bly_resize(f, capacity));
}

static int held_fold(held *h, uint64_t times)
{
    HELD_CHANGE(bly_fold(f, times));
}

static int held_sync(held *h)
{
    HELD_CHANGE(bly_sync(f));
}

static int held_seal(held *h)
{
    HELD_CHANGE(bly_seal(f));
}

static int held_stat(held *h, bly_stat_t *out)
{
    HELD_READ(bly_stat(out, f));
}

static int held_can(held *h, uint64_t *can)
{
    HELD_READ((*can = bly_can(f), BLY_OK));
}

/* Seals the filter within the gate, so that the library needs no lock of its
 * own while it writes. */
static int held_write(bly_filter *f, const char *path, const char *format)
{
    held_enter();
    (void)bly_image(f, NULL);
    held_leave();
    return (int)(format == NULL ? bly_save(f, path)
                                : bly_save_as(f, path, format));
}

static int held_save(held *h, const char *path, const char *format)
{
    HELD_READ(held_write(f, path, format));
}

static int held_alike(held **out, const held *h, bool copy)
{
    bly_filter *made = NULL;
    int status = (int)(copy ? bly_copy(&made, h->filter, NULL)
                            : bly_like(&made, h->filter, NULL));
    return status < 0 ? status : held_hold(out, made, h->any, !copy || h->open);
}

static int held_like(held **out, held *h)
{
    HELD_COPY(held_alike(out, h, false));
}

static int held_copy(held **out, held *h)
{
    HELD_COPY(held_alike(out, h, true));
}

/* ---- Two filters --------------------------------------------------------- */

/* Both filters are locked. One that is empty and states no form goes with every
 * other: then *made is like it, with the form of `beside`. */
static int held_go_with(bly_filter **made, const held *h, const held *beside)
{
    uint64_t form = bly_form_of(beside->filter);
    if (!h->open || form == BLY_KEYS_UNSTATED)
        return BLY_OK;
    int status = (int)bly_like(made, h->filter, NULL);
    return status < 0 ? status : (int)bly_form_set(*made, form);
}

/* The locks of two filters are always taken in the order of their places, so
 * that a |= b and b |= a in two threads both come to an end. */
typedef bly_status held_verb(bly_filter *into, const bly_filter *other);

/* Joins the other filter to an empty one like `into` with this form, so that
 * `into` gets the form only if they can be joined. */
static int held_try(const held *into, uint64_t form, const held *other,
                    held_verb *verb)
{
    bly_filter *made = NULL;
    int status = (int)bly_like(&made, into->filter, NULL);
    if (status >= 0)
        status = (int)bly_form_set(made, form);
    if (status >= 0 || status == BLY_EUNSUPPORTED)
        status = (int)verb(made, other->filter);
    bly_free(made);
    return status;
}

static int held_join(held *into, held *other, held_verb *verb)
{
    bly_filter *with = NULL;
    uint64_t form = bly_form_of(other->filter);
    int status = held_go_with(&with, other, into);
    if (status >= 0 && into->open && form != BLY_KEYS_UNSTATED)
        status = held_try(into, form, other, verb);
    if (status >= 0 && form != BLY_KEYS_UNSTATED)
        status = held_state_first(into, form);
    if (status >= 0)
        status = (int)verb(into->filter, with != NULL ? with : other->filter);
    if (status >= 0)
        into->open = into->open && other->open;
    bly_free(with);
    return status;
}

static int held_both(held *into, held *other, held_verb *verb)
{
    int status = HELD_CLOSED;
    if (into < other)
        held_lock(into, true);
    if (into != other)
        held_lock(other, false);
    if (into >= other)
        held_lock(into, true);
    held_enter();
    if (into->filter != NULL && other->filter != NULL)
        status = held_join(into, other, verb);
    held_leave();
    if (into != other)
        held_unlock(other);
    held_unlock(into);
    return status;
}

static int held_unite(held *into, held *other)
{
    return held_both(into, other, bly_unite);
}

static int held_intersect(held *into, held *other)
{
    return held_both(into, other, bly_intersect);
}

static int held_subtract(held *into, held *other)
{
    return held_both(into, other, bly_subtract);
}

static int held_compare(const held *a, const held *b, bly_overlap_t *out)
{
    bly_filter *like_a = NULL, *like_b = NULL;
    held_enter();
    int status = held_go_with(&like_a, a, b);
    if (status >= 0)
        status = held_go_with(&like_b, b, a);
    held_leave();
    if (status >= 0)
        status = (int)bly_overlap(out, like_a != NULL ? like_a : a->filter,
                                  like_b != NULL ? like_b : b->filter);
    bly_free(like_a);
    bly_free(like_b);
    return status;
}

static int held_overlap(held *a, held *b, bly_overlap_t *out)
{
    int status = HELD_CLOSED;
    held_lock(a < b ? a : b, false);
    if (a != b)
        held_lock(a < b ? b : a, false);
    if (a->filter != NULL && b->filter != NULL)
        status = held_compare(a, b, out);
    if (a != b)
        held_unlock(b);
    held_unlock(a);
    return status;
}

/* ---- What is given out --------------------------------------------------- */

static int held_image_of(const bly_filter *f, char **image, size_t *bytes,
                         bool packed)
{
    size_t room = 0;
    const void *whole = bly_image(f, &room);
    char *copy = whole != NULL ? malloc(room) : NULL;
    bly_status status = BLY_OK;
    if (whole == NULL)
        return BLY_EUNSUPPORTED;
    if (copy == NULL)
        return BLY_ENOMEM;
    *bytes = room;
    if (packed)
        status = bly_pack(f, copy, room, bytes);
    else
        memcpy(copy, whole, room);
    if (status < 0)
        free(copy);
    else
        *image = copy;
    return (int)status;
}

/* The image, or its packed form, in memory that goes back by held_give. */
static int held_image(held *h, char **image, size_t *bytes, bool packed)
{
    HELD_COPY(held_image_of(f, image, bytes, packed));
}

typedef struct { uint64_t hash; size_t at, length; int side; } held_key;

/* Keys that a filter lists. */
typedef struct {
    held_key *keys;
    char     *bytes;
    size_t    n, room, used, size;
    bool      failed;
} held_listing;

static bool held_visit(void *context, const bly_listed *listed)
{
    held_listing *l = context;
    if (l->n == l->room) {
        size_t room = 2 * l->room + 64;
        held_key *more = realloc(l->keys, room * sizeof *more);
        l->failed = more == NULL;
        if (l->failed)
            return false;
        l->keys = more;
        l->room = room;
    }
    if (l->size - l->used < listed->length) {
        size_t size = 2 * l->size + listed->length + 1024;
        char *more = realloc(l->bytes, size);
        l->failed = more == NULL;
        if (l->failed)
            return false;
        l->bytes = more;
        l->size = size;
    }
    if (listed->key != NULL)
        memcpy(l->bytes + l->used, listed->key, listed->length);
    l->keys[l->n++] = (held_key){
        .hash = listed->hash, .at = listed->key != NULL ? l->used : SIZE_MAX,
        .length = listed->length, .side = listed->side,
    };
    l->used += listed->length;
    return true;
}

/* The keys and their bytes, in memory that goes back by held_give. */
static int held_list(held *h, held_key **keys, size_t *n, char **bytes)
{
    held_listing l = { .n = 0 };
    int status = HELD_CLOSED;
    held_lock(h, false);
    if (h->filter != NULL)
        status = (int)bly_list_keys(h->filter, held_visit, &l);
    held_unlock(h);
    if (l.failed)
        status = BLY_ENOMEM;
    if (status < 0) {
        free(l.keys);
        free(l.bytes);
        return status;
    }
    *keys = l.keys;
    *bytes = l.bytes;
    *n = l.n;
    return status;
}

static void held_give(void *memory)
{
    free(memory);
}

/* ---- Text ---------------------------------------------------------------- */

static size_t held_put_utf8(char *out, uint32_t c)
{
    unsigned char *to = (unsigned char *)out;
    if (c < 0x80) {
        to[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (unsigned char)(0xC0 | c >> 6);
        to[1] = (unsigned char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (unsigned char)(0xE0 | c >> 12);
        to[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (unsigned char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (unsigned char)(0xF0 | (c >> 18 & 7));
    to[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (unsigned char)(0x80 | (c & 0x3F));
    return 4;
}

/* numpy's text, n rows of `width` numbers of 32 bits that end before the zeros
 * at their end, as UTF-8; `out` has room for 4 bytes of each. What stands for a
 * byte that was no text (surrogateescape) becomes that byte again. Returns the
 * bytes; SIZE_MAX: something in it is no character. */
static size_t held_utf8(const uint32_t *text, size_t n, size_t width, char *out,
                        uint64_t *offsets)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++, text += width) {
        size_t length = width;
        offsets[i] = at;
        while (length > 0 && text[length - 1] == 0)
            length--;
        for (size_t j = 0; j < length; j++) {
            uint32_t c = text[j];
            if (c >= 0xDC80 && c <= 0xDCFF)
                out[at++] = (char)(c & 0xFF);
            else if ((c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF)
                return SIZE_MAX;
            else
                at += held_put_utf8(out + at, c);
        }
    }
    offsets[n] = at;
    return at;
}
