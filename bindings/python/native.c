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
#include <bloomery/sketch.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HELD_CLOSED = -1000 };

typedef struct {
    bly_filter      *filter;            /* NULL: closed                      */
    pthread_rwlock_t lock;
    atomic_uint      forks;             /* held_forks when the lock was made */
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

/* ---- Make and close ------------------------------------------------------ */

static int held_hold(held **out, bly_filter *filter)
{
    held *h = calloc(1, sizeof *h);
    if (h == NULL || held_unsafe) {
        free(h);
        bly_free(filter);
        return BLY_ENOMEM;
    }
    *h = (held){ .filter = filter, .lock = held_open_lock,
                 .forks = held_forks };
    *out = h;
    return BLY_OK;
}

/* What a call made of it, after what it said. */
static int held_made(int status, held **out, bly_filter *const *filter)
{
    return status < 0 ? status : held_hold(out, *filter);
}

static int held_new(held **out, const char *kind, const bly_spec *spec)
{
    bly_filter *made = NULL;
    return held_made((int)bly_new(&made, kind, spec), out, &made);
}

static int held_build(held **out, const char *kind, const bly_spec *spec,
                      const bly_keys *keys, const uint64_t *labels)
{
    bly_filter *made = NULL;
    return held_made((int)bly_build_keys(&made, kind, spec, keys, labels), out,
                     &made);
}

static int held_open(held **out, const char *path, int flags,
                     const bly_options *options)
{
    bly_filter *made = NULL;
    return held_made((int)bly_open(&made, path, flags, options), out, &made);
}

static int held_unpack(held **out, const void *packed, size_t bytes,
                       const bly_options *options)
{
    bly_filter *made = NULL;
    return held_made((int)bly_unpack(&made, packed, bytes, options), out,
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

static int held_contains(held *h, const char *key, size_t length)
{
    HELD_READ(bly_contains(f, key, length));
}

static int held_add(held *h, const char *key, size_t length)
{
    HELD_CHANGE(bly_add(f, key, length));
}

static int held_remove(held *h, const char *key, size_t length)
{
    HELD_CHANGE(bly_remove(f, key, length));
}

static int held_count(held *h, const char *key, size_t length, uint64_t *count)
{
    HELD_READ((*count = bly_count(f, key, length), BLY_OK));
}

static int held_put(held *h, const char *key, size_t length, uint64_t label)
{
    HELD_CHANGE(bly_put(f, key, length, label));
}

static int held_get(held *h, const char *key, size_t length, uint64_t *label)
{
    HELD_READ(bly_get(f, key, length, label));
}

static int held_contains_keys(held *h, const bly_keys *keys, bool *present)
{
    HELD_READ(bly_contains_keys(f, keys, present));
}

static int held_add_keys(held *h, const bly_keys *keys, bool *seen,
                         size_t *done)
{
    HELD_CHANGE(bly_add_keys(f, keys, seen, done));
}

static int held_remove_keys(held *h, const bly_keys *keys, int *each)
{
    HELD_CHANGE(bly_remove_keys(f, keys, (bly_status *)each));
}

static int held_count_keys(held *h, const bly_keys *keys, uint64_t *counts)
{
    HELD_READ(bly_count_keys(f, keys, counts));
}

static int held_put_keys(held *h, const bly_keys *keys, const uint64_t *labels)
{
    HELD_CHANGE(bly_put_keys(f, keys, labels, NULL));
}

static int held_get_keys(held *h, const bly_keys *keys, bool *found,
                         uint64_t *labels)
{
    HELD_READ(bly_get_keys(f, keys, found, labels));
}

static int held_clear(held *h)
{
    HELD_CHANGE(bly_clear(f));
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

static int held_like(held **out, held *h)
{
    bly_filter *made = NULL;
    HELD_COPY(held_made((int)bly_like(&made, f, NULL), out, &made));
}

static int held_copy(held **out, held *h)
{
    bly_filter *made = NULL;
    HELD_COPY(held_made((int)bly_copy(&made, f, NULL), out, &made));
}

/* ---- Two filters --------------------------------------------------------- */

/* The locks of two filters are always taken in the order of their places, so
 * that a |= b and b |= a in two threads both come to an end. */
typedef bly_status held_verb(bly_filter *into, const bly_filter *other);

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
        status = (int)verb(into->filter, other->filter);
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

static int held_overlap(held *a, held *b, bly_overlap_t *out)
{
    int status = HELD_CLOSED;
    held_lock(a < b ? a : b, false);
    if (a != b)
        held_lock(a < b ? b : a, false);
    if (a->filter != NULL && b->filter != NULL)
        status = (int)bly_overlap(out, a->filter, b->filter);
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
