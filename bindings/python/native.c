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
 * A long call asks Python every 20 ms whether to go on, for Ctrl-C and progress
 * callbacks. This takes the interpreter's lock, and the thread that forks may
 * hold that lock. So no thread asks inside the gate:
 *
 * - Keys are added, removed and looked up HELD_PART at a time. Between two
 *   parts no lock is held, and Python runs.
 * - A long change of a whole filter works on a copy of its image, so the filter
 *   is whole when the call asks. The call leaves the gate until it has an
 *   answer.
 * - A filter is sealed inside the gate, then copied or written outside.
 *
 * This is done by pthread_atfork, and not by os.register_at_fork. Its handlers
 * run inside fork(), where no code of Python runs between them. A handler in
 * Python would let others run with the gate closed: other handlers, and the
 * finalizers of the collector. They can use filters, or wait for a thread that
 * does. Servers that fork in C, as uWSGI does, do not call it at all.
 */
#include <bloomery.h>
#include <bloomery/advice.h>
#include <bloomery/fields.h>
#include <bloomery/foreign.h>
#include <bloomery/form.h>
#include <bloomery/sketch.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HELD_MORE   = 1000,                 /* a part of the keys is done        */
    HELD_CLOSED = -1000,
    HELD_MIXED  = -1001,                /* a first batch of several classes  */
    HELD_BEYOND = -1002,                /* an integer beyond the form's range*/
    HELD_FALLS  = -1003,                /* offsets that fall                 */
    HELD_BUSY   = -1004,                /* in use by a call of this thread   */
    HELD_RAISED = -1005                 /* Python raised while it was asked  */
};

/* `open`: the filter is empty and has no form, so the first keys added set it.
 * `any`: they do not, as the caller chose. */
typedef struct {
    bly_filter      *filter;            /* NULL: closed                      */
    pthread_rwlock_t lock;
    atomic_uint      forks;             /* held_forks when the lock was made */
    bool             open, any;
    bool             in_place;          /* changes go to its file            */
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

/* Returns the number of forks so far, for held_unlock. */
static unsigned held_lock(held *h, bool change)
{
    held_renew(h);
    if (change)
        pthread_rwlock_wrlock(&h->lock);
    else
        pthread_rwlock_rdlock(&h->lock);
    return held_forks;
}

/* After a fork during a callback, the child does not hold the lock. */
static void held_unlock(held *h, unsigned forks)
{
    if (forks == held_forks)
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

/* ---- Asking Python ------------------------------------------------------- */

/* When Python may be called, given the state of the gate. */
typedef enum {
    HELD_OUTSIDE,
    HELD_INSIDE,                        /* no: something may be half done    */
    HELD_LEAVES                         /* yes, but the gate is left for it  */
} held_gate_use;

/* A long call of this thread, and the filters that it has locked. */
typedef struct held_watch held_watch;
struct held_watch {
    held_watch   *outer;                /* the call that asked Python, which
                                           made this one                     */
    const held   *own, *other;
    void         *task;                 /* passed to Python; may be NULL     */
    uint64_t      at;                   /* when Python is asked next         */
    held_gate_use gate;
    bool          raised;               /* Python raised: the call ends      */
};

static _Thread_local held_watch *held_now;
static atomic_uint held_asking;         /* threads that are asking Python    */
static uint64_t held_every = 20000000;  /* nanoseconds between two questions */

/* Implemented in Python: runs signal handlers, and reports to the task unless
 * NULL. Returns 1 if that raised an exception. */
static int held_ask(void *task, uint64_t done, uint64_t total);

static uint64_t held_clock(void)
{
    struct timespec now = { .tv_sec = 0 };
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void held_begin_watch(held_watch *w, void *task)
{
    *w = (held_watch){ .outer = held_now, .task = task };
    held_now = w;
}

static int held_end_watch(const held_watch *w, int status)
{
    held_now = w->outer;
    return w->raised ? HELD_RAISED : status;
}

/* Python may call other filters meanwhile. These calls are not part of this
 * one, so it does not call Python while they last. */
static void held_do_ask(held_watch *w, uint64_t done, uint64_t total)
{
    held_gate_use gate = w->gate;
    w->gate = HELD_INSIDE;
    if (gate == HELD_LEAVES)
        held_leave();
    atomic_fetch_add(&held_asking, 1);
    w->raised = held_ask(w->task, done, total) != 0;
    atomic_fetch_sub(&held_asking, 1);
    if (gate == HELD_LEAVES)
        held_enter();
    w->gate = gate;
}

/* Asks if it is time to. Returns true if the call is to end. */
static bool held_tell(held_watch *w, uint64_t done, uint64_t total)
{
    if (w->gate == HELD_INSIDE || w->raised)
        return w->raised;
    uint64_t now = held_clock();
    if (w->at == 0)
        w->at = now + held_every;
    if (now < w->at)
        return false;
    held_do_ask(w, done, total);
    w->at = held_clock() + held_every;
    return w->raised;
}

static int held_report(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    return held_now != NULL && held_tell(held_now, done, total);
}

static const bly_progress held_progress = { held_report, NULL };

/* Returns whether the filter is locked by a call that has called Python, which
 * now makes another call: it would deadlock. */
static bool held_is_busy(const held *h)
{
    if (atomic_load_explicit(&held_asking, memory_order_relaxed) == 0)
        return false;
    for (const held_watch *w = held_now; w != NULL; w = w->outer)
        if (w->own == h || w->other == h)
            return true;
    return false;
}

/* ---- Keys ---------------------------------------------------------------- */

/* Keys of a batch between two questions: some milliseconds; and of a loop over
 * them that is no call of the library. */
enum { HELD_PART = 1 << 17, HELD_STEP = 1 << 13 };

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
    size_t               done;          /* rows that are done                */
    size_t               before;        /* rows of batches before this one   */
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

/* Returns the form set by the first keys of a filter, from their type. */
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

/* Makes the key of an integer from 2^63 to 2^64 - 1. Classes of other keys
 * refuse it whatever its value. */
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

/* Makes the key of a value in a form; `room` has bly_form_room bytes. */
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

/* Finds key i of a batch. Returns false if its offsets decrease. */
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

/* Makes keys of real numbers, equal to those of bly_form_key but faster, for a
 * filter whose numbers are keys by value, or without a form. Returns false in
 * other cases. */
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

/* `w` may be NULL. */
static void held_make_ready(held_ready *r, uint64_t form, const held_batch *b,
                            held_watch *w)
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
        if (w != NULL && i % HELD_STEP == 0 && held_tell(w, 0, b->n))
            r->status = HELD_RAISED;
        else if (!held_at(&from, b, i))
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

/* Returns the labels of keys that are not missing, copied if some are. Returns
 * NULL, with n > 0, if out of memory. */
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

/* Returns the form that a first batch sets. */
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

/* The first keys in a filter fix its form. Returns the status of adding them,
 * which may have stopped half way. */
static int held_added(held *h, uint64_t form, int status)
{
    bly_info_t stat;
    if (!h->open || bly_info(&stat, h->filter) < 0 || stat.items == 0)
        return status;
    int stated = held_state_first(h, form);
    return status >= 0 && stated < 0 ? stated : status;
}

/* ---- Make and close ------------------------------------------------------ */

/* Returns a handle, closed until it gets a filter, or NULL. Python makes it
 * before a call that fills it, so that nothing leaks if an interrupt follows
 * the call. */
static held *held_place(void)
{
    held *h = calloc(1, sizeof *h);
    if (h != NULL)
        *h = (held){ .lock = held_open_lock, .forks = held_forks };
    return h;
}

static int held_hold(held *h, bly_filter *filter, bool any, bool empty)
{
    if (held_unsafe) {
        bly_free(filter);
        return BLY_ENOMEM;
    }
    bool unstated = bly_form_of(filter) == BLY_KEYS_UNSTATED;
    *h = (held){
        .filter = filter, .lock = held_open_lock, .forks = held_forks,
        .any = unstated && any, .open = unstated && !any && empty,
    };
    bly_progress_set(filter, &held_progress);
    return BLY_OK;
}

/* Returns whether a filter just read is empty: its image is in memory, with the
 * number of keys in its header. */
static bool held_is_empty(const bly_filter *filter)
{
    bly_header header;
    const void *image = bly_image(filter, NULL);
    return image != NULL
        && bly_peek(&header, image, BLY_HEADER_BYTES) == BLY_OK
        && header.items == 0;
}

static int held_read(int status, held *out, bly_filter *filter)
{
    if (status >= 0)
        return held_hold(out, filter, false, held_is_empty(filter));
    bly_free(filter);
    return status;
}

/* Sets the requested form, or fails. */
static int held_made(int status, held *out, bly_filter *filter, uint64_t form,
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

static int held_new(held *out, const char *kind, bly_spec *spec, bool any,
                    void *task)
{
    bly_filter *made = NULL;
    held_watch w;
    held_begin_watch(&w, task);
    spec->progress = &held_progress;
    int status = held_end_watch(&w, (int)bly_new(&made, kind, spec));
    return held_made(status, out, made, spec->form, any, true);
}

/* spec has the form of the keys. */
static int held_build_by(bly_filter **made, const char *kind, bly_spec *spec,
                         const held_batch *batch, const uint64_t *labels,
                         held_watch *w)
{
    held_ready ready;
    uint64_t *some = NULL;
    held_make_ready(&ready, spec->form, batch, w);
    int status = ready.status;
    if (labels != NULL && status >= 0) {
        some = held_labels(labels, batch);
        status = some == NULL ? BLY_ENOMEM : BLY_OK;
    }
    spec->progress = &held_progress;
    ready.keys.labels = some;
    if (status >= 0)
        status = (int)bly_build(made, kind, spec, &ready.keys);
    free(some);
    held_ready_free(&ready);
    return status;
}

static bool held_none(const held_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (held_is_there(b, i))
            return false;
    return true;
}

/* Builds without a form in spec; unless `any`, the keys set it. */
static int held_build(held *out, const char *kind, bly_spec *spec, bool any,
                      const held_batch *batch, const uint64_t *labels,
                      void *task)
{
    uint64_t wanted = spec->form;
    bly_filter *made = NULL;
    held_watch w;
    int status = wanted == BLY_KEYS_UNSTATED && !any
               ? held_first_form(&spec->form, batch) : BLY_OK;
    if (status < 0)
        return status;
    held_begin_watch(&w, task);
    status = held_end_watch(&w, held_build_by(&made, kind, spec, batch, labels,
                                              &w));
    return held_made(status, out, made, wanted, any, held_none(batch));
}

static int held_hash_keys(uint64_t *hashes, const char *kind, bly_spec *spec,
                          const held_batch *batch, void *task)
{
    held_ready ready;
    held_watch w;
    held_begin_watch(&w, task);
    held_make_ready(&ready, spec->form, batch, &w);
    spec->progress = &held_progress;
    int status = ready.status < 0 ? ready.status
               : (int)bly_hash_many(hashes, kind, spec, &ready.keys);
    held_ready_free(&ready);
    return held_end_watch(&w, status);
}

static int held_open(held *out, const char *path, int flags,
                     bly_options *options, void *task)
{
    bly_filter *made = NULL;
    held_watch w;
    held_begin_watch(&w, task);
    options->progress = &held_progress;
    int status = held_end_watch(&w, (int)bly_open(&made, path, flags,
                                                  options));
    status = held_read(status, out, made);
    if (status >= 0)
        out->in_place = (flags & BLY_WRITE) != 0;
    return status;
}

static int held_unpack(held *out, const void *packed, size_t bytes,
                       bly_options *options, void *task)
{
    bly_filter *made = NULL;
    held_watch w;
    held_begin_watch(&w, task);
    options->progress = &held_progress;
    int status = held_end_watch(&w, (int)bly_unpack(&made, packed, bytes,
                                                    options));
    return held_read(status, out, made);
}

/* Errors of sealing a file are told; the filter is gone all the same. */
static int held_close(held *h)
{
    if (held_is_busy(h))
        return HELD_BUSY;
    unsigned forks = held_lock(h, true);
    held_enter();
    int status = h->filter != NULL ? (int)bly_seal(h->filter) : BLY_OK;
    if (status == BLY_EREADONLY || status == BLY_EUNSUPPORTED)
        status = BLY_OK;                /* there was nothing to seal         */
    bly_free(h->filter);
    h->filter = NULL;
    held_leave();
    held_unlock(h, forks);
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

/* ---- A filter ------------------------------------------------------------ */

/* Calls with the filter f of h locked for reading, or for a change. Lookups
 * need no gate; HELD_COPY is for other readers. */
#define HELD_BY(change, enter, leave, call)                                    \
    if (held_is_busy(h))                                                       \
        return HELD_BUSY;                                                      \
    int status = HELD_CLOSED;                                                  \
    unsigned forks = held_lock(h, change);                                     \
    enter;                                                                     \
    bly_filter *f = h->filter;                                                 \
    if (f != NULL)                                                             \
        status = (int)(call);                                                  \
    leave;                                                                     \
    held_unlock(h, forks);                                                     \
    return status
#define HELD_READ(call)   HELD_BY(false, (void)0, (void)0, call)
#define HELD_COPY(call)   HELD_BY(false, held_enter(), held_leave(), call)
#define HELD_CHANGE(call) HELD_BY(true, held_enter(), held_leave(), call)

/* Does the same for long calls, which call Python. Changes to a filter mapped
 * for writing happen in place, and do not. */
static void held_watch_begin(held_watch *w, held *h, void *task, bool change)
{
    held_begin_watch(w, task);
    w->own = h;
    if (change) {
        w->gate = h->in_place ? HELD_INSIDE : HELD_LEAVES;
        held_enter();
    }
}

static int held_watch_end(const held_watch *w, int status, bool change)
{
    if (change)
        held_leave();
    return held_end_watch(w, status);
}

#define HELD_LONG(change, call)                                                \
    held_watch watch;                                                          \
    HELD_BY(change, held_watch_begin(&watch, h, task, change),                 \
            status = held_watch_end(&watch, status, change), call)

/* Seals a filter within the gate, so that the library needs no lock of its own
 * while it is copied or written. */
static void held_make_whole(bly_filter *f)
{
    held_watch *w = held_now;
    held_enter();
    w->gate = HELD_INSIDE;
    (void)bly_image(f, NULL);
    w->gate = HELD_OUTSIDE;
    held_leave();
}

static int held_form(held *h, uint64_t *form, bool *any)
{
    HELD_READ((*form = bly_form_of(f), *any = h->any, BLY_OK));
}

/* "any" leaves a filter without a form as it is, for keys of any class. */
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

/* Applies `deed` to the key that the filter's form makes of a typed value. A
 * deed that adds may be the first to set the form. */
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

/* Specialised for one type: one argument less is measurable here. */
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

/* Applies `job` to the keys that the filter's form makes, a part at a time. */
typedef struct {
    held_batch     *batch;
    bool           *flags;              /* answers; NULL: not wanted         */
    uint64_t       *numbers;
    const uint64_t *labels;
    bool            adds;
    bool            goes_on;            /* after keys that are not there     */
} held_work;

typedef int held_job(bly_filter *f, const bly_keys *keys,
                     const held_work *work);

/* Takes the next rows of a batch as a batch. Returns false if its offsets
 * decrease, as they might lead beyond its data. */
static bool held_part(held_batch *part, const held_batch *b)
{
    size_t at = b->done, n = b->n - at < HELD_PART ? b->n - at : HELD_PART;
    *part = *b;
    part->n = n;
    if (b->types != NULL)
        part->types += at;
    if (b->valid != NULL)
        part->valid += at;
    if (b->offsets32 != NULL) {
        part->offsets32 += at;
        return part->offsets32[n] <= b->offsets32[b->n];
    }
    if (b->offsets64 != NULL) {
        part->offsets64 += at;
        return part->offsets64[n] <= b->offsets64[b->n];
    }
    part->data = (const char *)b->data + at * b->width;
    return true;
}

static int held_do_part(held *h, uint64_t form, const held_work *work,
                        held_job *job)
{
    held_ready ready;
    int status = BLY_OK;
    held_make_ready(&ready, form, work->batch, NULL);
    if (work->adds || ready.status >= 0)
        status = job(h->filter, &ready.keys, work);
    if (work->adds)
        status = held_added(h, form, status);
    if (status >= 0 && ready.status >= 0) {
        if (work->flags != NULL)
            held_spread(work->flags, sizeof *work->flags, work->batch);
        if (work->numbers != NULL)
            held_spread(work->numbers, sizeof *work->numbers, work->batch);
    }
    held_ready_free(&ready);
    return status < 0 ? status : ready.status < 0 ? ready.status : status;
}

/* Does the next part of a batch, and says HELD_MORE if others are left. Answers
 * are about all keys or none, while those before one that cannot be are added.
 * A first batch of several classes adds nothing. */
static int held_many(held *h, held_work work, held_job *job)
{
    held_batch *all = work.batch, part;
    uint64_t form = bly_form_of(h->filter);
    int status = held_part(&part, all) ? BLY_OK : HELD_FALLS;
    if (status >= 0 && work.adds && h->open)
        status = held_first_form(&form, all);
    if (status < 0)
        return status;
    work.batch = &part;
    if (work.flags != NULL)
        work.flags += all->done;
    if (work.numbers != NULL)
        work.numbers += all->done;
    if (work.labels != NULL)
        work.labels += all->done;
    status = held_do_part(h, form, &work, job);
    if (status < 0 && !(work.goes_on && (status == BLY_EABSENT
                                         || status == BLY_EUNSAFE)))
        return status;
    all->done += part.n;
    return status >= 0 && all->done < all->n ? HELD_MORE : status;
}

static int held_job_contains(bly_filter *f, const bly_keys *keys,
                             const held_work *work)
{
    return (int)bly_contains_many(f, keys, work->flags);
}

static int held_contains_keys(held *h, held_batch *batch, bool *present)
{
    held_work work = { .batch = batch, .flags = present };
    HELD_READ(held_many(h, work, held_job_contains));
}

static int held_job_add(bly_filter *f, const bly_keys *keys,
                        const held_work *work)
{
    int status = (int)bly_add_many(f, keys, work->flags, NULL);
    for (size_t i = 0; work->flags != NULL && i < keys->n; i++)
        work->flags[i] = !work->flags[i];
    return status;
}

/* added[i], unless NULL, becomes whether the key was new. */
static int held_add_keys(held *h, held_batch *batch, bool *added)
{
    held_work work = { .batch = batch, .flags = added, .adds = true };
    HELD_CHANGE(held_many(h, work, held_job_add));
}

static int held_job_remove(bly_filter *f, const bly_keys *keys,
                           const held_work *work)
{
    (void)work;
    return (int)bly_remove_many(f, keys, NULL);
}

static int held_remove_keys(held *h, held_batch *batch)
{
    held_work work = { .batch = batch, .goes_on = true };
    HELD_CHANGE(held_many(h, work, held_job_remove));
}

static int held_job_count(bly_filter *f, const bly_keys *keys,
                          const held_work *work)
{
    return (int)bly_count_many(f, keys, work->numbers);
}

static int held_count_keys(held *h, held_batch *batch, uint64_t *counts)
{
    held_work work = { .batch = batch, .numbers = counts };
    HELD_READ(held_many(h, work, held_job_count));
}

static int held_job_put(bly_filter *f, const bly_keys *keys,
                        const held_work *work)
{
    if (work->batch->valid == NULL || work->labels == NULL)
        return (int)bly_put_many(f, keys, work->labels, NULL);
    uint64_t *some = held_labels(work->labels, work->batch);
    int status = some == NULL ? BLY_ENOMEM
               : (int)bly_put_many(f, keys, some, NULL);
    free(some);
    return status;
}

static int held_put_keys(held *h, held_batch *batch, const uint64_t *labels)
{
    held_work work = { .batch = batch, .labels = labels, .adds = true };
    HELD_CHANGE(held_many(h, work, held_job_put));
}

static int held_job_get(bly_filter *f, const bly_keys *keys,
                        const held_work *work)
{
    return (int)bly_get_many(f, keys, work->flags, work->numbers);
}

static int held_get_keys(held *h, held_batch *batch, bool *found,
                         uint64_t *labels)
{
    held_work work = { .batch = batch, .flags = found, .numbers = labels };
    HELD_READ(held_many(h, work, held_job_get));
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

static int held_resize(held *h, uint64_t capacity, void *task)
{
    HELD_LONG(true, bly_resize(f, capacity));
}

static int held_fold(held *h, uint64_t times, void *task)
{
    HELD_LONG(true, bly_fold(f, times));
}

static int held_sync(held *h)
{
    HELD_CHANGE(bly_sync(f));
}

static int held_seal(held *h)
{
    HELD_CHANGE(bly_seal(f));
}

/* Fields as Python reads them, with texts of their own. */
typedef struct {
    const char *name, *help;
    int         type;
    bool        absent;
    uint64_t    count;
    double      real;
    char        text[BLY_FORM_TEXT];
} held_field;

typedef struct { held_field *at; size_t n, room; } held_fields;

/* Appends a field to held_fields. Stops if there is no memory. */
static bool held_collect(void *context, const bly_field *field)
{
    held_fields *all = context;
    if (all->n == all->room) {
        size_t room = 2 * all->room + 64;
        held_field *at = realloc(all->at, room * sizeof *at);
        if (at == NULL)
            return false;
        all->at = at;
        all->room = room;
    }
    held_field *out = &all->at[all->n++];
    *out = (held_field){ field->name, field->help, (int)field->type,
                         field->absent, field->count, field->real, "" };
    if (field->text != NULL && field->length < sizeof out->text)
        memcpy(out->text, field->text, field->length + 1);
    return true;
}

static int held_stat_each(held_fields *out, const bly_filter *f)
{
    bly_info_t stat;
    int status = (int)bly_info(&stat, f);
    if (status < 0)
        return status;
    return bly_info_each(&stat, f, held_collect, out) ? BLY_OK : BLY_ENOMEM;
}

static int held_stat(held *h, held_fields *out, void *task)
{
    HELD_LONG(false, held_stat_each(out, f));
}

static int held_plan(held_fields *out, const bly_plan_t *plan)
{
    return bly_plan_each(plan, held_collect, out) ? BLY_OK : BLY_ENOMEM;
}

static held_fields *held_fields_place(void)
{
    return calloc(1, sizeof(held_fields));
}

static void held_fields_free(held_fields *all)
{
    if (all != NULL)
        free(all->at);
    free(all);
}

static int held_can(held *h, uint64_t *can)
{
    HELD_READ((*can = bly_can(f), BLY_OK));
}

static int held_write(bly_filter *f, const char *path, const char *format)
{
    held_make_whole(f);
    return (int)(format == NULL ? bly_save(f, path)
                                : bly_save_as(f, path, format));
}

static int held_save(held *h, const char *path, const char *format, void *task)
{
    HELD_LONG(false, held_write(f, path, format));
}

static int held_alike(held *out, const held *h)
{
    bly_filter *made = NULL;
    int status = (int)bly_like(&made, h->filter, NULL);
    return status < 0 ? status : held_hold(out, made, h->any, true);
}

static int held_like(held *out, held *h)
{
    HELD_COPY(held_alike(out, h));
}

static int held_copy_of(bly_filter **made, bly_filter *f)
{
    const bly_options options = { .progress = &held_progress };
    held_make_whole(f);
    return (int)bly_copy(made, f, &options);
}

static int held_do_copy(bly_filter **made, bool *any, bool *open, held *h,
                        void *task)
{
    *any = h->any;
    *open = h->open;
    HELD_LONG(false, held_copy_of(made, f));
}

static int held_copy(held *out, held *h, void *task)
{
    bly_filter *made = NULL;
    bool any, open;
    int status = held_do_copy(&made, &any, &open, h, task);
    if (status >= 0)
        return held_hold(out, made, any, open);
    bly_free(made);
    return status;
}

/* ---- Two filters --------------------------------------------------------- */

/* Both filters are locked. An empty one without a form is compatible with any
 * other: *made is then a copy with the form of `beside`. */
static int held_go_with(bly_filter **made, const held *h, const held *beside)
{
    uint64_t form = bly_form_of(beside->filter);
    if (!h->open || form == BLY_KEYS_UNSTATED)
        return BLY_OK;
    int status = (int)bly_like(made, h->filter, NULL);
    return status < 0 ? status : (int)bly_form_set(*made, form);
}

/* The locks of two filters are taken in the order of their addresses, so that a
 * |= b and b |= a cannot deadlock. */
typedef bly_status held_verb(bly_filter *into, const bly_filter *other);

/* Joins the other filter to an empty one like `into` with this form, which then
 * takes its place: so `into` gets the form only if they can be joined. A filter
 * that is changed in its file cannot be replaced. */
static int held_try(held *into, uint64_t form, const bly_filter *other,
                    held_verb *verb)
{
    bly_filter *made = NULL;
    int status = (int)bly_like(&made, into->filter, NULL);
    if (status >= 0)
        status = (int)bly_form_set(made, form);
    if (status >= 0 || status == BLY_EUNSUPPORTED) {
        bly_progress_set(made, &held_progress);
        status = (int)verb(made, other);
    }
    if (status >= 0 && !into->in_place) {
        bly_filter *empty = into->filter;
        into->filter = made;
        made = empty;
    }
    bly_free(made);
    return status;
}

static int held_join(held *into, held *other, held_verb *verb)
{
    bly_filter *with = NULL;
    uint64_t form = bly_form_of(other->filter);
    bool first = into->open && form != BLY_KEYS_UNSTATED;
    int status = held_go_with(&with, other, into);
    const bly_filter *from = with != NULL ? with : other->filter;
    if (status >= 0 && first)
        status = held_try(into, form, from, verb);
    if (status >= 0 && form != BLY_KEYS_UNSTATED)
        status = held_state_first(into, form);
    if (status >= 0 && (!first || into->in_place))
        status = (int)verb(into->filter, from);
    if (status >= 0)
        into->open = into->open && other->open;
    bly_free(with);
    return status;
}

static int held_both(held *into, held *other, held_verb *verb, void *task)
{
    int status = HELD_CLOSED;
    unsigned forks = held_forks;
    held_watch w;
    if (held_is_busy(into) || held_is_busy(other))
        return HELD_BUSY;
    if (into < other)
        forks = held_lock(into, true);
    if (into != other)
        forks = held_lock(other, false);
    if (into >= other)
        forks = held_lock(into, true);
    held_watch_begin(&w, into, task, true);
    w.other = other;
    if (into->filter != NULL && other->filter != NULL)
        status = held_join(into, other, verb);
    status = held_watch_end(&w, status, true);
    if (into != other)
        held_unlock(other, forks);
    held_unlock(into, forks);
    return status;
}

static int held_unite(held *into, held *other, void *task)
{
    return held_both(into, other, bly_unite, task);
}

static int held_intersect(held *into, held *other, void *task)
{
    return held_both(into, other, bly_intersect, task);
}

static int held_subtract(held *into, held *other, void *task)
{
    return held_both(into, other, bly_subtract, task);
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

static int held_overlap(held *a, held *b, bly_overlap_t *out, void *task)
{
    int status = HELD_CLOSED;
    held_watch w;
    if (held_is_busy(a) || held_is_busy(b))
        return HELD_BUSY;
    unsigned forks = held_lock(a < b ? a : b, false);
    if (a != b)
        held_lock(a < b ? b : a, false);
    held_watch_begin(&w, a, task, false);
    w.other = b;
    if (a->filter != NULL && b->filter != NULL)
        status = held_compare(a, b, out);
    status = held_watch_end(&w, status, false);
    if (a != b)
        held_unlock(b, forks);
    held_unlock(a, forks);
    return status;
}

/* ---- Results ------------------------------------------------------------- */

/* Copies memory, calling Python on the way. */
static int held_do_read(char *into, const char *from, size_t bytes)
{
    enum { SOME = 1 << 22 };
    for (size_t at = 0; at < bytes; at += SOME) {
        if (held_tell(held_now, at, bytes))
            return HELD_RAISED;
        memcpy(into + at, from + at, bytes - at < SOME ? bytes - at : SOME);
    }
    return BLY_OK;
}

static int held_image_of(bly_filter *f, char **image, size_t *bytes,
                         bool packed)
{
    size_t room = 0;
    held_make_whole(f);
    const void *whole = bly_image(f, &room);
    char *copy = whole != NULL ? malloc(room) : NULL;
    if (whole == NULL)
        return BLY_EUNSUPPORTED;
    if (copy == NULL)
        return BLY_ENOMEM;
    *bytes = room;
    int status = packed ? (int)bly_pack(f, copy, room, bytes)
                        : held_do_read(copy, whole, room);
    *image = copy;
    return status;
}

/* Returns the image, or its packed form, in memory for held_give_at. */
static int held_image(held *h, char **image, size_t *bytes, bool packed,
                      void *task)
{
    HELD_LONG(false, held_image_of(f, image, bytes, packed));
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

static int held_do_list(held *h, held_listing *l, void *task)
{
    HELD_LONG(false, bly_list_keys(f, held_visit, l));
}

/* Returns the keys and their bytes, in memory for held_give_at. */
static int held_list(held *h, held_key **keys, size_t *n, char **bytes,
                     void *task)
{
    held_listing l = { .n = 0 };
    int status = held_do_list(h, &l, task);
    *keys = l.keys;
    *bytes = l.bytes;
    *n = l.n;
    return l.failed ? BLY_ENOMEM : status;
}

/* Frees the result of a call, if there is one: it may have been interrupted. */
static void held_give_at(void *memory)
{
    void *given;
    memcpy(&given, memory, sizeof given);
    free(given);
}

/* Appends the offsets of n keys to those of others, whose bytes end at used. */
static void held_append_offsets(uint64_t *to, const uint64_t *from, size_t n,
                                uint64_t used)
{
    for (size_t i = 0; i <= n; i++)
        to[i] = used + from[i];
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

/* Converts numpy text, n rows of `width` 32-bit characters padded with zeros,
 * to UTF-8 from out[at] on; `out` has room for 4 bytes per character. Escaped
 * bytes (surrogateescape) become the original bytes. Returns the end, or
 * SIZE_MAX if something is not a character. */
static size_t held_utf8(const uint32_t *text, size_t n, size_t width, char *out,
                        uint64_t *offsets, size_t at)
{
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
