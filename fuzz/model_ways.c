/* model_ways.c - instructions of the machine of model.h: ways to save and open
 * a filter, work in its file, two handles of one file, threads.
 */
#include "machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/paged.h"
#include "bloomery/parts.h"
#include "forge.h"

/* ---- Memory ------------------------------------------------------------ */

/* Unpacks and replaces A. A may have grown beyond the machine's allocator, as
 * in model_reopen(). */
static void model_unpack(model *m, const uint8_t *packed, size_t bytes)
{
    bly_filter *back = NULL;
    size_t whole;
    bly_image(m->a.filter, &whole);
    model_expect(m, bly_check(packed, bytes, NULL) == BLY_OK,
                 "check refuses what was packed");
    bly_status status = bly_unpack(&back, packed, bytes, &m->options);
    model_expect(m, status == BLY_OK
                        || (status == BLY_ENOMEM && whole > MODEL_IMAGE),
                 "what was packed cannot be unpacked");
    if (back == NULL)
        return;
    model_same(m, m->a.filter, back);
    model_law(m, back, m->a.set);
    model_replace(&m->a.filter, back);
}

/* A flipped bit is detected. */
static void model_unpack_broken(model *m, uint8_t *packed, size_t bytes)
{
    bly_filter *broken = NULL;
    size_t bit = model_u16(m) % (8 * bytes);
    packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    model_expect(m, bly_unpack(&broken, packed, bytes, &m->options) < 0,
                 "unpack takes a damaged filter");
    bly_free(broken);
}

void model_op_pack(model *m)
{
    size_t room, bytes = 0;
    bly_image(m->a.filter, &room);
    uint8_t *packed = malloc(room);
    if (packed == NULL)
        return;
    bool good = bly_pack(m->a.filter, packed, room, &bytes) == BLY_OK
             && bytes <= room;
    model_expect(m, good, "a filter cannot be packed");
    if (good) {
        model_unpack(m, packed, bytes);
        model_unpack_broken(m, packed, bytes);
    }
    free(packed);
}

/* ---- Saved in parts ---------------------------------------------------- */

static bool model_part(void *context, uint64_t from, void *into, size_t n)
{
    const model *m = context;
    size_t bytes;
    const uint8_t *image = bly_raw(m->a.filter, &bytes);
    if (from > bytes || n > bytes - from)
        return false;
    memcpy(into, image + from, n);
    return true;
}

/* Saves A in parts, with only a header in memory and no limit. */
void model_op_parts(model *m)
{
    char path[MODEL_PATH];
    bly_filter *like = NULL;
    bly_info_t stat;
    bly_info(&stat, m->a.filter);
    if (bly_copy(&like, m->a.filter, NULL) != BLY_OK)
        return;
    if (!model_file(m, path)) {
        bly_free(like);
        return;
    }
    bly_status status
        = bly_save_parts(like, path,
                         stat.items_exact ? stat.items : UINT64_MAX,
                         model_part, m);
    model_expect(m, status == BLY_OK || status == BLY_EUNSUPPORTED,
                 "a filter cannot be saved in parts");
    if (status == BLY_OK)
        model_reopen(m, path, 0);
    bly_free(like);
    unlink(path);
}

/* ---- In the file ------------------------------------------------------- */

/* Adds a batch to A and to the filter open in its file. Returns false if they
 * diverge, because only memory has room to grow. */
static bool model_add_both(model *m, bly_filter *file)
{
    uint64_t from = model_u16(m), items = model_items(m);
    size_t n = model_batch(m), done = 0;
    if (!exact_room(m->a.set, n))
        return false;
    model_draw_hashes(m, from, n);
    bly_status there = bly_add_hashes(file, m->hash, n, NULL, &done);
    bly_status here = bly_add_hashes(m->a.filter, m->hash, n, NULL, NULL);
    model_added_many(m, n, items, here);
    if (there == BLY_EFULL && model_can(m, BLY_CAN_GROW))
        return false;
    model_expect(m, there == here, "in the file and in memory differ");
    bly_contains_hashes(file, m->hash, done, m->answer);
    for (size_t i = 0; i < done && model_keeps(m); i++)
        model_found(m, m->answer[i], "a key just added is not in the file");
    return there == here && !m->over;
}

/* Removes a key from both, if possible. */
static void model_remove_both(model *m, bly_filter *file)
{
    exact_entry *entry = exact_pick(m->a.set, model_u16(m));
    if (entry == NULL || !model_can(m, BLY_CAN_REMOVE))
        return;
    bly_status there = bly_remove_hash(file, entry->hash);
    bly_status here = bly_remove_hash(m->a.filter, entry->hash);
    model_removed(m, here);
    model_expect(m, there == here, "in the file and in memory differ");
    if (here == BLY_OK)
        exact_remove(m->a.set, entry);
}

/* Paged work needs a buffer larger than the limit of the machine's
 * allocator. */
static bly_options model_unbound(const model *m)
{
    return (bly_options){ .secret = m->options.secret };
}

/* Opens a second handle of a file that is being written, or sealed. */
static void model_second(model *m, const char *path, int flags,
                         bly_status wanted)
{
    bly_filter *second = NULL;
    const bly_options options = model_unbound(m);
    model_expect(m, bly_open(&second, path, flags, &options) == wanted,
                 "a second handle is not as the file's writer left it");
    if (second != NULL)
        model_law(m, second, m->a.set);
    bly_free(second);
}

/* Makes changes durable by seal or sync. Afterwards others may read a sealed
 * file: a mapped one is sealed by either. */
static void model_settle(model *m, bly_filter *file, const char *path,
                         int flags, bool seals)
{
    model_expect(m, (seals ? bly_seal(file) : bly_sync(file)) == BLY_OK,
                 "a file cannot be sealed");
    if (seals || flags == BLY_MAP)
        model_second(m, path, flags, BLY_OK);
}

/* Makes some rounds of adds, each settled or not. Returns false if A has gone
 * on without the file. */
static bool model_write_rounds(model *m, bly_filter *file, const char *path,
                               int flags, uint8_t how)
{
    for (int round = how % 3; round >= 0; round--, how >>= 2) {
        if (!model_add_both(m, file))
            return false;
        if (flags == BLY_MAP)
            model_remove_both(m, file);
        if (how & 4)
            model_settle(m, file, path, flags, (how & 8) != 0);
    }
    return true;
}

/* A file that cannot be changed is refused: packed, or, for paged work, without
 * pages. */
static bool model_unwritable(model *m, int flags)
{
    return flags == BLY_MAP ? model_can(m, BLY_CAN_PACK)
                            : !model_can(m, BLY_CAN_PAGE);
}

/* Saves A, works on it in its file, closes it and reads it again. */
static void model_write(model *m, int flags)
{
    char path[MODEL_PATH];
    uint8_t how = model_u8(m);
    bly_filter *file = NULL;
    const bly_options options = model_unbound(m);
    if (!model_saved(m, path))
        return;
    bly_status status = bly_open(&file, path, flags | BLY_WRITE, &options);
    model_expect(m, status == (model_unwritable(m, flags) ? BLY_EUNSUPPORTED
                                                          : BLY_OK),
                 "odd status of opening to write");
    if (file != NULL && flags == BLY_PAGED)
        model_expect(m, bly_buffer(file, 4096) == BLY_OK,
                     "the buffer cannot be set");
    if (file != NULL && flags == BLY_PAGED)
        model_second(m, path, BLY_PAGED | BLY_WRITE, BLY_EIO);
    bool along = file != NULL && model_can(m, BLY_CAN_ADD)
              && model_write_rounds(m, file, path, flags, how);
    bly_free(file);
    if (along && flags == BLY_PAGED)
        model_second(m, path, BLY_PAGED, BLY_OK);
    if (along)
        model_reopen(m, path, 0);
    unlink(path);
}

void model_op_map_write(model *m)
{
    model_write(m, BLY_MAP);
}

void model_op_page(model *m)
{
    model_write(m, BLY_PAGED);
}

/* Adds all keys of A to a new file. */
static void model_fill(model *m, bly_filter *file, const char *path)
{
    const exact *set = m->a.set;
    bly_filter *made = NULL;
    for (size_t i = 0; i < set->used; i++)
        if (set->entry[i].count > 0)
            model_expect(m, bly_add_hash(file, set->entry[i].hash) >= 0,
                         "a key is refused page by page");
    model_expect(m, bly_seal(file) == BLY_OK, "a new file cannot be sealed");
    model_second(m, path, 0, BLY_OK);
    if (bly_open(&made, path, BLY_VERIFY | BLY_MAP, &m->options) == BLY_OK)
        model_expect(m, !set->pure || m->resized
                        || model_same_payload(made, m->a.filter),
                     "the file is another than the filter in memory");
    bly_free(made);
}

void model_op_create(model *m)
{
    char path[MODEL_PATH];
    bly_filter *file = NULL;
    bly_spec spec = m->spec;
    spec.allocator = NULL;
    if (!model_file(m, path))
        return;
    bly_status status = bly_create(&file, path, m->report->kind, &spec);
    model_expect(m, status == BLY_OK || status == BLY_EPARAM
                    || (status == BLY_EUNSUPPORTED
                        && !model_can(m, BLY_CAN_PAGE)),
                 "odd status of create");
    if (file != NULL)
        model_fill(m, file, path);
    bly_free(file);
    unlink(path);
}

/* ---- Two handles ------------------------------------------------------- */

static void model_replaced(model *m, const bly_filter *filter,
                           const char *path, bool wanted)
{
    bool replaced = !wanted;
    model_expect(m, bly_replaced(&replaced, filter, path) == BLY_OK
                    && replaced == wanted,
                 "it is told wrong whether a file was replaced");
}

static void model_peek_file(model *m, const char *path)
{
    bly_header h;
    bly_info_t s;
    bly_info(&s, m->a.filter);
    model_expect(m, bly_peek_file(&h, path) == BLY_OK && h.known && h.sealed
                    && (h.capacity == s.capacity || model_can(m, BLY_CAN_GROW))
                    && strcmp(h.kind, s.kind) == 0
                    && (h.packed || h.bytes == s.bytes),
                 "the file's header says something else than stat");
}

/* A handle of A's file still reads A while B is saved in its place. */
void model_op_handles(model *m)
{
    static const int flags[] = { BLY_MAP, BLY_MAP | BLY_VERIFY };
    char path[MODEL_PATH];
    bly_filter *old = NULL;
    uint8_t how = model_u8(m) % 2;
    if (!model_saved(m, path))
        return;
    model_peek_file(m, path);
    if (bly_open(&old, path, flags[how], &m->options) == BLY_OK) {
        model_replaced(m, old, path, false);
        model_expect(m, bly_save(m->b.filter, path) == BLY_OK,
                     "a filter cannot be saved over another");
        model_replaced(m, old, path, true);
        model_same(m, m->a.filter, old);
        model_law(m, old, m->a.set);
        model_op_swap(m);
        model_reopen(m, path, flags[how]);
        model_op_swap(m);
    }
    bly_free(old);
    unlink(path);
}

/* ---- Threads ----------------------------------------------------------- */

enum { MODEL_THREADS = 2, MODEL_SHARE = 48 };

typedef struct {
    bly_filter     *filter;
    const uint64_t *hashes;
    bool            adds;
    bool            answer[MODEL_SHARE];
} model_thread;

static void *model_thread_run(void *context)
{
    model_thread *t = context;
    if (t->adds)
        bly_add_hashes(t->filter, t->hashes, MODEL_SHARE, NULL, NULL);
    bly_contains_hashes(t->filter, t->hashes, MODEL_SHARE, t->answer);
    return NULL;
}

/* Each thread adds, if told to, and queries its share of m->hash. */
static void model_threads(model *m, bly_filter *filter, bool adds)
{
    model_thread thread[MODEL_THREADS];
    pthread_t id[MODEL_THREADS];
    size_t begun = 0;
    for (size_t i = 0; i < MODEL_THREADS; i++)
        thread[i] = (model_thread){ .filter = filter, .adds = adds,
                                    .hashes = m->hash + i * MODEL_SHARE };
    while (begun < MODEL_THREADS
           && pthread_create(&id[begun], NULL, model_thread_run,
                             &thread[begun]) == 0)
        begun++;
    for (size_t i = 0; i < begun; i++)
        pthread_join(id[i], NULL);
    for (size_t i = begun; i < MODEL_THREADS; i++)
        model_thread_run(&thread[i]);
    for (size_t i = 0; i < MODEL_THREADS * MODEL_SHARE; i++)
        model_expect(m, thread[i / MODEL_SHARE].answer[i % MODEL_SHARE]
                        == bly_contains_hash(filter, m->hash[i]),
                     "a thread was told something else");
}

/* Shares a handle of A's file, which then replaces A. A may have grown beyond
 * the machine's allocator, as in model_reopen(). */
static void model_share(model *m, const char *path)
{
    bly_filter *shared = NULL;
    size_t whole;
    bly_image(m->a.filter, &whole);
    bly_status status = bly_open(&shared, path, BLY_SHARED, &m->options);
    model_expect(m, status == (model_can(m, BLY_CAN_SHARE) ? BLY_OK
                                                     : BLY_EUNSUPPORTED)
                        || (status == BLY_ENOMEM && whole > MODEL_IMAGE),
                 "odd status of opening for threads");
    if (shared == NULL)
        return;
    model_threads(m, shared, true);
    for (size_t i = 0; i < MODEL_THREADS * MODEL_SHARE; i++)
        exact_add(m->a.set, m->hash[i], 1);
    model_replace(&m->a.filter, shared);
    model_law(m, m->a.filter, m->a.set);
}

void model_op_threads(model *m)
{
    char path[MODEL_PATH];
    const size_t n = MODEL_THREADS * MODEL_SHARE;
    model_draw_hashes(m, model_u16(m), n);
    model_threads(m, m->a.filter, false);
    if (!exact_room(m->a.set, n) || !model_saved(m, path))
        return;
    model_share(m, path);
    unlink(path);
}
