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
#include <bloomery/nested.h>
#include <bloomery/sketch.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* `open`: the filter is empty and has no form, so the first keys added set it.
 * `any`: they do not, as the caller chose. `form` is the one in the filter's
 * header, which a mapped file may lose. */
typedef struct {
    bly_filter      *filter;            /* NULL: closed                      */
    uint64_t         form;              /* of its keys                       */
    pthread_rwlock_t lock;
    atomic_uint      forks;             /* held_forks when the lock was made */
    bool             open, any;
    bool             in_place;          /* changes go to its file            */
    bool             mapped;            /* lookups read its file             */
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

/* ---- The form of a filter's keys ----------------------------------------- */

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
    h->form = bly_form_of(h->filter);
    h->open = false;
    return BLY_OK;
}

/* The first keys in a filter fix its form. Returns the status of adding them,
 * which may have stopped half way. */
static int held_added(held *h, uint64_t form, int status)
{
    bly_info_t info;
    if (!h->open || bly_info(&info, h->filter) < 0 || info.items == 0)
        return status;
    int stated = held_state_first(h, form);
    return status >= 0 && stated < 0 ? stated : status;
}

/* ---- Mapped files that are cut short ------------------------------------- */

/* Reading a mapped page that is no longer in its file raises SIGBUS. A lookup
 * then ends with HELD_CUT: the handler jumps back to where it began, which is
 * safe because a lookup of the library only reads, without locks, memory or
 * tasks of its own. So do calls that read only the header, and like() of a
 * filter that is not changed in its file, which takes no lock. It may leak the
 * memory of the new filter. Any other SIGBUS has the effect that it had before.
 *
 * `held_back`: where this thread's lookup began; NULL: it is in none. */
static pthread_once_t held_bus_once = PTHREAD_ONCE_INIT;
static _Thread_local sigjmp_buf *volatile held_back;
static struct sigaction held_old_bus;

static void held_bus_error(int number, siginfo_t *info, void *context)
{
    sigjmp_buf *back = held_back;
    if (back != NULL) {
        held_back = NULL;
        siglongjmp(*back, 1);
    }
    if (held_old_bus.sa_handler == SIG_IGN && info->si_code <= 0)
        return;                         /* sent by a process, and ignored    */
    if ((held_old_bus.sa_flags & SA_SIGINFO) != 0) {
        held_old_bus.sa_sigaction(number, info, context);
    } else if (held_old_bus.sa_handler != SIG_DFL
               && held_old_bus.sa_handler != SIG_IGN) {
        held_old_bus.sa_handler(number);
    } else {                            /* ends the process                  */
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void held_catch_bus(void)
{
    struct sigaction own = {
        .sa_sigaction = held_bus_error,
        .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK,
    };
    sigemptyset(&own.sa_mask);
    sigaction(SIGBUS, &own, &held_old_bus);
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
    uint64_t form = bly_form_of(filter);
    bool unstated = form == BLY_KEYS_UNSTATED;
    *h = (held){
        .filter = filter, .form = form,
        .lock = held_open_lock, .forks = held_forks,
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

/* A filter that is built from keys which arrive a batch at a time. They are
 * hashed as they arrive, or kept by kinds that need whole keys. */
typedef struct {
    const char *kind;
    bly_spec   *spec;
    bool        any, stated, whole;     /* whole: keys are kept in `row`     */
    uint64_t    form;                   /* of the keys so far                */
    size_t      rows, n;                /* with missing values, and without  */
    size_t      n_labels;
    uint64_t   *labels;                 /* of all rows; NULL: none. Those of
                                           missing values are taken out      */
    held_space  hashes;
    held_ready  ready;
    held_row   *row;
    bool        levels[BLY_NESTED_LEVELS];  /* of keys that need markers     */
} held_building;

static held_building *held_building_place(void)
{
    held_building *b = calloc(1, sizeof *b);
    if (b != NULL)
        b->row = held_row_place();
    if (b == NULL || b->row != NULL)
        return b;
    free(b);
    return NULL;
}

static void held_building_free(held_building *b)
{
    if (b == NULL)
        return;
    held_row_free(b->row);
    held_ready_free(&b->ready);
    free(b->hashes.at);
    free(b);
}

/* Returns whether a kind, or its options, need whole keys: then it can be made
 * empty, but refuses a hash. */
static bool held_needs_keys(const char *kind, const bly_spec *spec)
{
    bly_filter *made = NULL;
    bly_spec small = *spec;
    small.capacity = 1;
    small.progress = NULL;
    bool needs = bly_new(&made, kind, &small) >= 0
              && bly_add_hash(made, bly_hash(made, "", 0)) == BLY_EUNSUPPORTED;
    bly_free(made);
    return needs;
}

/* Refuses keys that lie within others where nothing looks these up. */
static int held_refuse_form(uint64_t form)
{
    const bly_value text = { .type = BLY_TEXT, .data = "" };
    bly_key key;
    return (int)bly_form_key(&key, form, &text, NULL);
}

/* Begins to build. Without a form in spec, the keys set it unless `any`. */
static void held_building_begin(held_building *b, const char *kind,
                                bly_spec *spec, bool any, uint64_t *labels,
                                size_t n_labels)
{
    b->kind = kind;
    b->spec = spec;
    b->any = any;
    b->form = spec->form;
    b->stated = any || spec->form != BLY_KEYS_UNSTATED;
    b->labels = labels;
    b->n_labels = n_labels;
    b->whole = labels == NULL && held_needs_keys(kind, spec);
}

/* Finds the form of all keys so far. */
static int held_building_form(held_building *b, const held_batch *batch)
{
    uint64_t form;
    if (b->stated)
        return BLY_OK;
    int status = held_first_form(&form, batch);
    if (status < 0 || form == BLY_KEYS_UNSTATED)
        return status;
    if (b->form == BLY_KEYS_UNSTATED)
        b->form = form;
    return bly_form_same(b->form, form) ? BLY_OK : HELD_MIXED;
}

/* Takes the labels of missing values out. */
static void held_building_labels(held_building *b, const held_batch *slice)
{
    size_t to = b->n, from = b->rows;
    for (size_t i = 0; i < slice->n && from + i < b->n_labels; i++)
        if (held_is_there(slice, i))
            b->labels[to++] = b->labels[from + i];
}

/* Appends the hashes of keys. */
static int held_building_append(held_building *b, const bly_keys *keys)
{
    size_t n = keys->n;
    uint64_t *hashes = n <= SIZE_MAX / 16 - b->n
                     ? held_grow(&b->hashes, (b->n + n + 1) * sizeof *hashes)
                     : NULL;
    int status = hashes == NULL ? BLY_ENOMEM
               : (int)bly_hash_many(hashes + b->n, b->kind, b->spec, keys);
    b->n += status >= 0 ? n : 0;
    return status;
}

static int held_building_hash(held_building *b, held_batch *slice)
{
    held_make_ready(&b->ready, b->form, slice);
    if (b->ready.status < 0)
        return b->ready.status;
    if (b->labels != NULL)
        held_building_labels(b, slice);
    if (bly_form_nests(b->form))
        for (size_t i = 0; i < b->ready.keys.n; i++)
            b->levels[bly_nested_level(b->form,
                                       held_key_at(&b->ready.keys, i))] = true;
    b->rows += slice->n;
    return held_building_append(b, &b->ready.keys);
}

/* Appends the markers of keys that lie within others. */
static int held_building_mark(held_building *b)
{
    int status = BLY_OK;
    for (unsigned i = 0; status >= 0 && i < BLY_NESTED_LEVELS; i++) {
        unsigned char room[2];
        bly_key marker = bly_nested_marker(room, i);
        if (b->levels[i])
            status = held_building_append(b, &(bly_keys){ .n = 1,
                                                          .keys = &marker });
    }
    return status;
}

static int held_building_take(held_building *b, const held_batch *batch,
                              held_watch *w)
{
    int status = held_building_form(b, batch);
    b->spec->progress = NULL;
    for (size_t at = 0; status >= 0 && at < batch->n; ) {
        held_batch slice;
        if (!held_slice(&slice, batch, at, b->form))
            status = HELD_FALLS;
        else if (held_tell(w, at, batch->n))
            status = HELD_RAISED;
        else
            status = held_building_hash(b, &slice);
        at += slice.n;
    }
    return status;
}

/* Adds the keys of a batch. */
static int held_building_add(held_building *b, const held_batch *batch,
                             void *task)
{
    held_watch w;
    if (b->whole) {
        b->rows += batch->n;
        return held_row_join(b->row, batch);
    }
    held_begin_watch(&w, task);
    return held_end_watch(&w, held_building_take(b, batch, &w));
}

/* Builds from the keys themselves. */
static int held_build_whole(bly_filter **made, held_building *b)
{
    held_ready *ready = &b->ready;
    held_batch batch;
    held_row_end(b->row, &batch);
    int status = held_building_form(b, &batch);
    if (status >= 0 && bly_form_nests(b->form))
        status = held_refuse_form(b->form);
    if (status < 0)
        return status;
    b->spec->form = b->form;
    b->n = batch.n - held_missing(&batch);
    held_make_ready(ready, b->form, &batch);
    if (ready->status < 0)
        return ready->status;
    return (int)bly_build(made, b->kind, b->spec, &ready->keys);
}

/* Builds the filter. */
static int held_building_end(held *out, held_building *b, void *task)
{
    static const uint64_t none;
    bly_filter *made = NULL;
    held_watch w;
    uint64_t wanted = b->stated ? b->form : BLY_KEYS_UNSTATED;
    size_t unmarked = b->n;
    b->spec->form = b->form;
    b->spec->progress = &held_progress;
    held_begin_watch(&w, task);
    int status = b->whole || b->labels != NULL ? BLY_OK
               : held_building_mark(b);
    if (b->spec->capacity == 0) {
        b->spec->capacity = b->rows + (b->n - unmarked);
        b->spec->capacity += b->spec->capacity == 0;
    }
    bly_keys keys = { .n = b->n, .labels = b->labels,
                      .hashes = b->n > 0 ? b->hashes.at : &none };
    if (status >= 0)
        status = b->whole ? held_build_whole(&made, b)
               : (int)bly_build(&made, b->kind, b->spec, &keys);
    status = held_end_watch(&w, status);
    return held_made(status, out, made, wanted, b->any, b->n == 0);
}

static int held_do_hash(uint64_t *hashes, const char *kind,
                        const bly_spec *spec, const held_batch *batch,
                        held_watch *w)
{
    held_ready ready = { .status = BLY_OK };
    int status = BLY_OK;
    for (size_t at = 0; status >= 0 && at < batch->n; ) {
        held_batch slice;
        status = held_slice(&slice, batch, at, spec->form) ? BLY_OK
               : HELD_FALLS;
        if (status >= 0 && held_tell(w, at, batch->n))
            status = HELD_RAISED;
        if (status < 0)
            break;
        held_make_ready(&ready, spec->form, &slice);
        status = ready.status < 0 ? ready.status
               : (int)bly_hash_many(hashes + at, kind, spec, &ready.keys);
        at += slice.n;
    }
    held_ready_free(&ready);
    return status;
}

/* Hashes the keys of a batch without missing values. */
static int held_hash_keys(uint64_t *hashes, const char *kind,
                          const bly_spec *spec, const held_batch *batch,
                          void *task)
{
    held_watch w;
    held_begin_watch(&w, task);
    return held_end_watch(&w, held_do_hash(hashes, kind, spec, batch, &w));
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
    if (status < 0)
        return status;
    out->in_place = (flags & BLY_WRITE) != 0;
    out->mapped = (flags & BLY_MAP) != 0;
    if (out->mapped)
        pthread_once(&held_bus_once, held_catch_bus);
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
    HELD_READ((*form = h->form, *any = h->any, BLY_OK));
}

/* "any" leaves a filter without a form as it is, for keys of any class. */
static int held_state(held *h, uint64_t form)
{
    int status = (int)bly_form_set(h->filter, form);
    if (status >= 0) {
        h->form = form;
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

static int held_do_mapped(bly_filter *f, held_deed *deed, bly_key key,
                          uint64_t *number)
{
    sigjmp_buf back;
    if (sigsetjmp(back, 0) != 0)
        return HELD_CUT;
    held_back = &back;
    int status = deed(f, key, number);
    held_back = NULL;
    return status;
}

/* Only lookups of a mapped file can be ended. */
static inline int held_do(held *h, bool looks, held_deed *deed, bly_key key,
                          uint64_t *number)
{
    return looks && h->mapped ? held_do_mapped(h->filter, deed, key, number)
                              : deed(h->filter, key, number);
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

/* Look up and add keys that lie within others. Counts and labels are those of a
 * key itself. */
static int held_do_find(bly_filter *f, bly_key key, uint64_t *number)
{
    uint16_t found;
    (void)number;
    bly_nested_find(f, bly_form_of(f), &key, 1, &found);
    return found != BLY_NESTED_NONE;
}

static int held_do_enter(bly_filter *f, bly_key key, uint64_t *number)
{
    bool seen = bly_contains(f, key.data, key.length);
    int status = (int)bly_nested_add(f, bly_form_of(f), &key, 1, NULL);
    (void)number;
    return status >= 0 && seen ? BLY_SEEN : status;
}

static held_deed *held_nested(held_deed *deed)
{
    return deed == held_do_contains ? held_do_find
         : deed == held_do_add ? held_do_enter : deed;
}

enum { HELD_ROOM = 256 };

/* A lookup, an add or a removal. */
typedef enum { HELD_LOOKS, HELD_ADDS, HELD_REMOVES } held_use;

static int held_slowly(held *h, uint64_t form, held_use use, int type,
                       bly_key key, held_deed *deed, uint64_t *number)
{
    size_t size = bly_form_room(form, held_is_text(type) ? key.length : 0);
    char few[HELD_ROOM], *room = few;
    if (size > sizeof few)
        room = size <= SIZE_MAX / 4 ? malloc(size) : NULL;
    int status = room == NULL ? BLY_ENOMEM
               : held_key_by(&key, form, type, key.data, key.length, room);
    if (status >= 0)
        status = held_do(h, use == HELD_LOOKS,
                         bly_form_nests(form) ? held_nested(deed) : deed, key,
                         number);
    if (room != few)
        free(room);
    return status >= 0 && use == HELD_ADDS ? held_added(h, form, status)
                                           : status;
}

static inline int held_one(held *h, held_use use, int type, const char *data,
                           size_t length, held_deed *deed, uint64_t *number)
{
    bly_key key = { data, length };
    uint64_t form = h->form;
    bool first = use == HELD_ADDS && h->open;
    if (!first && held_is_key(form, type))
        return held_do(h, use == HELD_LOOKS, deed, key, number);
    return held_slowly(h, first ? held_form_of_type(type) : form, use, type,
                       key, deed, number);
}

static int held_contains(held *h, int type, const char *data, size_t length)
{
    HELD_READ(held_one(h, HELD_LOOKS, type, data, length, held_do_contains,
                       NULL));
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
    HELD_CHANGE(held_one(h, HELD_ADDS, type, data, length, held_do_add, NULL));
}

static int held_remove(held *h, int type, const char *data, size_t length)
{
    HELD_CHANGE(held_one(h, HELD_REMOVES, type, data, length, held_do_remove,
                         NULL));
}

static int held_count(held *h, int type, const char *data, size_t length,
                      uint64_t *count)
{
    HELD_READ(held_one(h, HELD_LOOKS, type, data, length, held_do_count,
                       count));
}

static int held_put(held *h, int type, const char *data, size_t length,
                    uint64_t label)
{
    HELD_CHANGE(held_one(h, HELD_ADDS, type, data, length, held_do_put,
                         &label));
}

static int held_get(held *h, int type, const char *data, size_t length,
                    uint64_t *label)
{
    HELD_READ(held_one(h, HELD_LOOKS, type, data, length, held_do_get, label));
}

/* Applies `job` to the keys that the filter's form makes, a part at a time. */
typedef struct {
    held_batch     *batch;
    bool           *flags;              /* answers; NULL: not wanted         */
    uint64_t       *numbers;
    const uint64_t *labels;
    size_t          before;             /* keys before the batch             */
    held_use        use;                /* removing goes on after keys that
                                           are not there                     */
} held_work;

typedef int held_job(bly_filter *f, const bly_keys *keys,
                     const held_work *work);

static int held_do_job(held *h, const bly_keys *keys, const held_work *work,
                       held_job *job)
{
    sigjmp_buf back;
    if (!h->mapped || work->use != HELD_LOOKS)
        return job(h->filter, keys, work);
    if (sigsetjmp(back, 0) != 0)
        return HELD_CUT;
    held_back = &back;
    int status = job(h->filter, keys, work);
    held_back = NULL;
    return status;
}

/* Does the keys of a slice, and sets its answers. */
static int held_do_part(held *h, uint64_t form, const held_work *work,
                        held_ready *ready, held_job *job)
{
    int status = BLY_OK;
    held_make_ready(ready, form, work->batch);
    ready->keys.before = work->before;
    if (work->use == HELD_ADDS || ready->status >= 0)
        status = held_do_job(h, &ready->keys, work, job);
    if (work->use == HELD_ADDS)
        status = held_added(h, form, status);
    if (status >= 0 && ready->status >= 0) {
        if (work->flags != NULL)
            held_spread_flags(work->flags, work->batch);
        if (work->numbers != NULL)
            held_spread_numbers(work->numbers, work->batch);
    }
    return status < 0 ? status : ready->status < 0 ? ready->status : status;
}

/* Does the next slice of a batch. Answers are about all keys or none, while
 * those before one that cannot be are added. A first batch of several classes
 * adds nothing. */
static int held_next(held *h, held_work work, held_ready *ready, held_job *job)
{
    held_batch *all = work.batch, slice;
    uint64_t form = h->form;
    int status = BLY_OK;
    if (work.use == HELD_ADDS && h->open)
        status = held_first_form(&form, all);
    if (status >= 0 && !held_slice(&slice, all, all->done, form))
        status = HELD_FALLS;
    if (status < 0)
        return status;
    work.batch = &slice;
    work.before = all->done;
    if (work.flags != NULL)
        work.flags += all->done;
    if (work.numbers != NULL)
        work.numbers += all->done;
    if (work.labels != NULL)
        work.labels += all->done;
    size_t rows = slice.n;              /* fewer after a fault in one of them*/
    status = held_do_part(h, form, &work, ready, job);
    if (status >= 0 || (work.use == HELD_REMOVES && (status == BLY_EABSENT
                                         || status == BLY_EUNSAFE)))
        all->done += rows;
    return status;
}

/* Does the next slices of a batch, and returns HELD_MORE if others are left. */
static int held_many(held *h, held_work work, held_job *job)
{
    held_batch *all = work.batch;
    held_ready ready = { .status = BLY_OK };
    size_t until = all->n - all->done < HELD_PART ? all->n
                                                  : all->done + HELD_PART;
    int status;
    do
        status = held_next(h, work, &ready, job);
    while (status >= 0 && all->done < until);
    held_ready_free(&ready);
    return status >= 0 && all->done < all->n ? HELD_MORE : status;
}

/* Looks up a batch of keys that lie within others, some at a time. */
static int held_find_keys(bly_filter *f, const bly_keys *keys, bool *present)
{
    enum { SOME = 128 };
    bly_key some[SOME];
    uint16_t found[SOME];
    for (size_t i = 0, n; i < keys->n; i += n) {
        n = keys->n - i < SOME ? keys->n - i : SOME;
        for (size_t j = 0; j < n; j++)
            some[j] = held_key_at(keys, i + j);
        bly_nested_find(f, bly_form_of(f), some, n, found);
        for (size_t j = 0; j < n; j++)
            present[i + j] = found[j] != BLY_NESTED_NONE;
    }
    return BLY_OK;
}

static int held_enter_keys(bly_filter *f, const bly_keys *keys, bool *added)
{
    int status = BLY_OK;
    for (size_t i = 0; status >= 0 && i < keys->n; i++) {
        status = held_do_enter(f, held_key_at(keys, i), NULL);
        if (added != NULL)
            added[i] = status != BLY_SEEN;
    }
    return status < 0 ? status : BLY_OK;
}

static int held_job_contains(bly_filter *f, const bly_keys *keys,
                             const held_work *work)
{
    if (bly_form_nests(bly_form_of(f)))
        return held_find_keys(f, keys, work->flags);
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
    if (bly_form_nests(bly_form_of(f)))
        return held_enter_keys(f, keys, work->flags);
    int status = (int)bly_add_many(f, keys, work->flags, NULL);
    for (size_t i = 0; work->flags != NULL && i < keys->n; i++)
        work->flags[i] = !work->flags[i];
    return status;
}

/* added[i], unless NULL, becomes whether the key was new. */
static int held_add_keys(held *h, held_batch *batch, bool *added)
{
    held_work work = { .batch = batch, .flags = added, .use = HELD_ADDS };
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
    held_work work = { .batch = batch, .use = HELD_REMOVES };
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

/* Puts the labels of keys; `labels` has those of missing values, too. */
static int held_job_put(bly_filter *f, const bly_keys *keys,
                        const held_work *work)
{
    const held_batch *b = work->batch;
    if (b->valid == NULL || work->labels == NULL)
        return (int)bly_put_many(f, keys, work->labels, NULL);
    uint64_t *some = malloc((b->n + 1) * sizeof *some);
    size_t n = 0;
    for (size_t i = 0; some != NULL && i < b->n; i++)
        if (held_is_there(b, i))
            some[n++] = work->labels[i];
    int status = some == NULL ? BLY_ENOMEM
               : (int)bly_put_many(f, keys, some, NULL);
    free(some);
    return status;
}

static int held_put_keys(held *h, held_batch *batch, const uint64_t *labels)
{
    held_work work = { .batch = batch, .labels = labels, .use = HELD_ADDS };
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
        h->open = !h->any && h->form == BLY_KEYS_UNSTATED;
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
    bly_info_t info;
    int status = (int)bly_info(&info, f);
    if (status < 0)
        return status;
    return bly_info_each(&info, f, held_collect, out) ? BLY_OK : BLY_ENOMEM;
}

static int held_stat(held *h, held_fields *out, void *task)
{
    HELD_LONG(false, held_stat_each(out, f));
}

/* Does a job that reads only the header of a filter. */
typedef int held_glance(const held *h, void *out);

static int held_do_glance(const held *h, held_glance *glance, void *out)
{
    sigjmp_buf back;
    if (!h->mapped)
        return glance(h, out);
    if (sigsetjmp(back, 0) != 0)
        return HELD_CUT;
    held_back = &back;
    int status = glance(h, out);
    held_back = NULL;
    return status;
}

static int held_glance_header(const held *h, void *out)
{
    bly_header_of(out, h->filter);
    return BLY_OK;
}

static int held_header(held *h, bly_header *out)
{
    HELD_READ(held_do_glance(h, held_glance_header, out));
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

static int held_glance_can(const held *h, void *out)
{
    *(uint64_t *)out = bly_can(h->filter);
    return BLY_OK;
}

static int held_can(held *h, uint64_t *can)
{
    HELD_READ(held_do_glance(h, held_glance_can, can));
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

static int held_glance_like(const held *h, void *out)
{
    return (int)bly_like(out, h->filter, NULL);
}

static int held_alike(held *out, const held *h)
{
    bly_filter *made = NULL;
    int status = h->in_place ? held_glance_like(h, &made)
               : held_do_glance(h, held_glance_like, &made);
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

/* The locks of two filters are taken in the order of their addresses, so that a
 * |= b and b |= a cannot deadlock. */
typedef bly_status held_verb(bly_filter *into, const bly_filter *other);

/* Both filters are locked. One without keys and form goes with any other. */
static int held_join(held *into, const held *other, held_verb *verb)
{
    int status = (int)verb(into->filter, other->filter);
    if (status < 0)
        return status;
    into->form = bly_form_of(into->filter);
    into->open = into->open && into->form == BLY_KEYS_UNSTATED
              && (other->open || verb == bly_intersect);
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
        status = (int)bly_overlap(out, a->filter, b->filter);
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
