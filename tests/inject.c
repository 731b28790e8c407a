/* inject.c - every system call and allocation fails in turn.
 *
 * A job is a typical use of a file: build and save, open and query, map and
 * add, work page by page. Each is repeated: a first run without failures counts
 * the calls; then the first call fails, the second, … each in several ways:
 * once with an error, permanently, interrupted once by a signal, and with half
 * of the bytes read or written. Then:
 *
 *  - interruptions and short transfers change nothing: every status is BLY_OK;
 *  - any other failure is reported, or had no effect;
 *  - the file is the old one, byte for byte, or a complete new one, or is
 *    marked as unfinished; whatever opens finds all keys;
 *  - no descriptor stays open, no memory leaks, and the folder holds nothing
 *    else.
 *
 * The linker's --wrap directs the library's calls here. Flushes do nothing, as
 * the power stays on (tests/power.c cuts it).
 */
#include <errno.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bloomery/foreign.h>
#include <bloomery/inline.h>
#include <bloomery/paged.h>
#include <bloomery/parts.h>

#include "test.h"
#include "folder.h"
#include "wrap.h"

#include "verbs/registry.h"

/* ---- Failures ----------------------------------------------------------- */

typedef enum {
    INJECT_NOTHING, INJECT_ONCE, INJECT_ON, INJECT_SIGNAL, INJECT_HALF,
    INJECT_WAYS
} inject_way;

static struct {
    bool       armed;           /* inside the library                       */
    inject_way way;
    uint64_t   at, calls;       /* which call fails, and the total          */
    bool       done;            /* it came                                  */
    bool       tidying;         /* a call failed that would have cleaned up  */
} inject;

static uint64_t inject_points, inject_runs;

/* Returns whether this call fails now. */
static bool inject_turn(bool signal, bool half)
{
    if (!inject.armed)
        return false;
    uint64_t call = inject.calls++;
    if (inject.way == INJECT_NOTHING
        || (inject.way == INJECT_ON ? call < inject.at : call != inject.at)
        || (inject.way == INJECT_SIGNAL && !signal)
        || (inject.way == INJECT_HALF && !half))
        return false;
    inject.done = true;
    return true;
}

static bool inject_fails(int error)
{
    if (!inject_turn(false, false))
        return false;
    errno = error;
    return true;
}

/* Handles a call that a signal may interrupt. */
static bool inject_interrupts(int error)
{
    if (!inject_turn(true, false))
        return false;
    errno = inject.way == INJECT_SIGNAL ? EINTR : error;
    return true;
}

/* Returns -1 for a failure, else how many of n bytes to transfer. */
static ssize_t inject_bytes(size_t n, int error)
{
    if (!inject_turn(true, n > 1))
        return (ssize_t)n;
    errno = inject.way == INJECT_SIGNAL ? EINTR : error;
    return inject.way == INJECT_HALF ? (ssize_t)(n / 2) : -1;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = wrap_mode(flags, rest);
    va_end(rest);
    return inject_fails(EMFILE) ? -1 : __real_open(path, flags, mode);
}

WRAP(ssize_t, read, int file, void *to, size_t n)
{
    ssize_t some = inject_bytes(n, EIO);
    return some < 0 ? -1 : __real_read(file, to, (size_t)some);
}

WRAP(ssize_t, write, int file, const void *from, size_t n)
{
    ssize_t some = inject_bytes(n, ENOSPC);
    return some < 0 ? -1 : __real_write(file, from, (size_t)some);
}

WRAP(ssize_t, pread, int file, void *to, size_t n, off_t at)
{
    ssize_t some = inject_bytes(n, EIO);
    return some < 0 ? -1 : __real_pread(file, to, (size_t)some, at);
}

WRAP(ssize_t, pwrite, int file, const void *from, size_t n, off_t at)
{
    ssize_t some = inject_bytes(n, ENOSPC);
    return some < 0 ? -1 : __real_pwrite(file, from, (size_t)some, at);
}

WRAP(off_t, lseek, int file, off_t at, int from)
{
    return inject_fails(EIO) ? -1 : __real_lseek(file, at, from);
}

WRAP(int, fsync, int file)
{
    (void)file;
    return inject_interrupts(EIO) ? -1 : 0;
}

WRAP(int, getentropy, void *to, size_t n)
{
    return inject_fails(EIO) ? -1 : __real_getentropy(to, n);
}

WRAP(int, fdatasync, int file)
{
    (void)file;
    return inject_interrupts(EIO) ? -1 : 0;
}

WRAP(int, syncfs, int file)
{
    (void)file;
    return inject_fails(EIO) ? -1 : 0;
}

WRAP(int, msync, void *from, size_t n, int flags)
{
    (void)from, (void)n, (void)flags;
    return inject_fails(EIO) ? -1 : 0;
}

WRAP(int, ftruncate, int file, off_t n)
{
    return inject_interrupts(ENOSPC) ? -1 : __real_ftruncate(file, n);
}

WRAP(int, fstat, int file, struct stat *out)
{
    return inject_fails(EIO) ? -1 : __real_fstat(file, out);
}

WRAP(int, stat, const char *path, struct stat *out)
{
    return inject_fails(EIO) ? -1 : __real_stat(path, out);
}

WRAP(ssize_t, readlink, const char *path, char *to, size_t n)
{
    return inject_fails(EIO) ? -1 : __real_readlink(path, to, n);
}

WRAP(int, fchmod, int file, mode_t mode)
{
    return inject_fails(EPERM) ? -1 : __real_fchmod(file, mode);
}

WRAP(int, linkat, int from, const char *old, int to, const char *new, int how)
{
    return inject_fails(EIO) ? -1 : __real_linkat(from, old, to, new, how);
}

WRAP(int, rename, const char *old, const char *new)
{
    return inject_fails(EIO) ? -1 : __real_rename(old, new);
}

WRAP(int, unlink, const char *path)
{
    bool fails = inject_fails(EIO);
    inject.tidying |= fails;
    return fails ? -1 : __real_unlink(path);
}

WRAP(int, access, const char *path, int how)
{
    return inject_fails(EIO) ? -1 : __real_access(path, how);
}

WRAP(int, flock, int file, int how)
{
    return inject_interrupts(EWOULDBLOCK) ? -1 : __real_flock(file, how);
}

/* The library uses it for locking only. */
int __real_fcntl(int file, int what, ...);
int __wrap_fcntl(int file, int what, ...);
int __wrap_fcntl(int file, int what, ...)
{
    va_list rest;
    va_start(rest, what);
    void *lock = va_arg(rest, void *);
    va_end(rest);
    return inject_fails(ENOLCK) ? -1 : __real_fcntl(file, what, lock);
}

WRAP(void *, mmap, void *at, size_t n, int may, int how, int file, off_t from)
{
    return inject_fails(ENOMEM) ? MAP_FAILED
                                : __real_mmap(at, n, may, how, file, from);
}

WRAP(int, posix_memalign, void **out, size_t alignment, size_t n)
{
    return inject_fails(ENOMEM) ? ENOMEM
                                : __real_posix_memalign(out, alignment, n);
}

WRAP(void *, malloc, size_t n)
{
    return inject_fails(ENOMEM) ? NULL : __real_malloc(n);
}

WRAP(void *, calloc, size_t n, size_t each)
{
    return inject_fails(ENOMEM) ? NULL : __real_calloc(n, each);
}

/* Refuses the ring, so that reads arrive as calls. */
int __wrap_io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
int __wrap_io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    (void)entries, (void)ring, (void)flags;
    return -ENOSYS;
}

/* ---- Memory that is counted --------------------------------------------- */

static uint64_t inject_live;

static void *inject_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    (void)context;
    if (posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    inject_live++;
    return memory;
}

static void inject_release(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    inject_live--;
    free(memory);
}

static const bly_allocator inject_allocator = {
    inject_allocate, inject_release, NULL
};
static const bly_options inject_options = { .allocator = &inject_allocator };

/* ---- Keys and files ----------------------------------------------------- */

enum { OLD = 60, ALL = 90, ROOM = 200 };

static uint64_t inject_hashes[ALL];
static const char inject_path[] = "inject.bly";

static void inject_keys(const char *kind)
{
    bool numbers = strcmp(kind, "egh") == 0;
    for (uint64_t i = 0; i < ALL; i++)
        inject_hashes[i] = numbers ? i + 1 : test_random(1, i);
}

static bool inject_adds(const char *kind)
{
    return (bly_kind_find(kind)->can & BLY_CAN_ADD) != 0;
}

/* Returns whether whole keys are hashed: the keys are the bytes of these
 * hashes. */
static bool inject_whole(const bly_filter *filter)
{
    return strcmp(bly_kind_find(bly_kind_of(filter))->family, "foreign") == 0;
}

/* Makes a filter of the first n keys. */
static bly_status inject_make(bly_filter **out, const char *kind, size_t n)
{
    bly_spec spec = { .capacity = ROOM, .allocator = &inject_allocator };
    if (!inject_adds(kind))
        spec.capacity = 0;
    if (strcmp(bly_kind_find(kind)->family, "foreign") == 0)
        return bly_build(out, kind, &spec,
                         &(bly_keys){ .n = n, .data = inject_hashes,
                                      .width = sizeof *inject_hashes });
    return bly_build(out, kind, &spec,
                     &(bly_keys){ .n = n, .hashes = inject_hashes });
}

/* A file's contents. */
typedef struct { uint8_t *bytes; size_t n; } inject_file;

static inject_file inject_read(void)
{
    struct stat about;
    inject_file f = { NULL, 0 };
    int file = open(inject_path, O_RDONLY);
    assert_true(file >= 0 && fstat(file, &about) == 0);
    f.n = (size_t)about.st_size;
    f.bytes = malloc(f.n);
    assert_true(read(file, f.bytes, f.n) == (ssize_t)f.n);
    close(file);
    return f;
}

/* ---- Jobs ---------------------------------------------------------------- */

typedef struct {
    const char *name;
    uint64_t    needs;          /* abilities of the kind                     */
    bool        writes;         /* the file may change                       */
    bool        in_place;       /* and be left unfinished                    */
    bly_status (*run)(const char *kind);
} inject_job;

/* Checks that the first n keys are found. */
static void inject_finds(const bly_filter *filter, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (inject_whole(filter)
            ? !bly_contains(filter, &inject_hashes[i], sizeof *inject_hashes)
            : !bly_contains_hash(filter, inject_hashes[i]))
            fail_msg("key %zu is lost", i);
}

static bly_status inject_save(const char *kind)
{
    bly_filter *filter = NULL;
    bly_status status = inject_make(&filter, kind, ALL);
    if (status == BLY_OK)
        status = bly_save(filter, inject_path);
    bly_free(filter);
    return status;
}

static bly_status inject_attach(const char *kind)
{
    bly_filter *filter = NULL;
    bly_status status = inject_make(&filter, kind, ALL);
    if (status == BLY_OK)
        status = bly_attach(filter, "data", 4);
    if (status == BLY_OK)
        status = bly_save(filter, inject_path);
    bly_free(filter);
    return status;
}

static bly_status inject_ask(int flags)
{
    bly_filter *filter = NULL;
    bly_info_t stat;
    bly_status status = bly_open(&filter, inject_path, flags, &inject_options);
    if (status != BLY_OK)
        return status;
    inject_finds(filter, OLD);
    status = bly_info(&stat, filter);
    inject_finds(filter, OLD);
    bly_status synced = bly_sync(filter);       /* reports trouble of lookups */
    bly_free(filter);
    return status != BLY_OK ? status : synced;
}

static bly_status inject_open(const char *kind)
{
    (void)kind;
    return inject_ask(0);
}

static bly_status inject_map(const char *kind)
{
    (void)kind;
    return inject_ask(BLY_MAP);
}

static bly_status inject_map_verify(const char *kind)
{
    (void)kind;
    return inject_ask(BLY_MAP | BLY_VERIFY);
}

static bly_status inject_paged(const char *kind)
{
    (void)kind;
    return inject_ask(BLY_PAGED);
}

static bly_status inject_peek(const char *kind)
{
    bly_header header;
    bly_status status = bly_peek_file(&header, inject_path);
    if (status == BLY_OK)
        assert_string_equal(header.kind, kind);
    return status;
}

/* Adds the other keys in the file, and closes it. */
static bly_status inject_add(int flags)
{
    bly_filter *filter = NULL;
    bly_status status = bly_open(&filter, inject_path, flags, &inject_options);
    if (status != BLY_OK)
        return status;
    for (size_t i = OLD; i < ALL && status >= 0; i++)
        status = bly_add_hash(filter, inject_hashes[i]);
    if (status >= 0)
        status = bly_sync(filter);
    if (status >= 0)
        inject_finds(filter, ALL);
    if (status >= 0)
        status = bly_seal(filter);
    bly_free(filter);
    return status;
}

static bly_status inject_map_add(const char *kind)
{
    (void)kind;
    return inject_add(BLY_MAP | BLY_WRITE);
}

/* Adds them through a view. */
static bly_status inject_view_add(const char *kind)
{
    bly_filter *filter = NULL;
    bly_inline_blocked view;
    bly_status status = bly_open(&filter, inject_path, BLY_MAP | BLY_WRITE,
                                 &inject_options);
    (void)kind;
    if (status != BLY_OK)
        return status;
    if (bly_inline_blocked_of(&view, filter) != BLY_OK)
        status = BLY_EUNSUPPORTED;
    if (status == BLY_OK)
        status = bly_inline_begin(filter);
    if (status == BLY_OK) {
        for (size_t i = OLD; i < ALL; i++)
            bly_inline_blocked_add(&view, inject_hashes[i]);
        bly_inline_end(filter, ALL - OLD);
        inject_finds(filter, ALL);
        status = bly_seal(filter);
    }
    bly_free(filter);
    return status;
}

/* Clears the filter, and adds all keys again. */
static bly_status inject_map_clear(const char *kind)
{
    bly_filter *filter = NULL;
    bly_status status = bly_open(&filter, inject_path, BLY_MAP | BLY_WRITE,
                                 &inject_options);
    (void)kind;
    if (status == BLY_OK)
        status = bly_clear(filter);
    for (size_t i = 0; i < ALL && status >= 0; i++)
        status = bly_add_hash(filter, inject_hashes[i]);
    if (status >= 0)
        status = bly_seal(filter);
    bly_free(filter);
    return status;
}

static bly_status inject_paged_add(const char *kind)
{
    (void)kind;
    return inject_add(BLY_PAGED | BLY_WRITE);
}

static bly_status inject_create(const char *kind)
{
    bly_spec spec = { .capacity = ROOM, .allocator = &inject_allocator };
    bly_filter *filter = NULL;
    bly_status status = bly_create(&filter, inject_path, kind, &spec);
    if (status != BLY_OK)
        return status;
    for (size_t i = 0; i < ALL && status >= 0; i++)
        status = bly_add_hash(filter, inject_hashes[i]);
    if (status >= 0)
        status = bly_seal(filter);
    bly_free(filter);
    return status;
}

static const inject_job inject_jobs[] = {
    { "save",        0,            true,  false, inject_save },
    { "attach",      0,            true,  false, inject_attach },
    { "open",        0,            false, false, inject_open },
    { "map",         0,            false, false, inject_map },
    { "map, verify", 0,            false, false, inject_map_verify },
    { "peek",        0,            false, false, inject_peek },
    { "map, add",    BLY_CAN_ADD,  true,  true,  inject_map_add },
    { "map, clear",  BLY_CAN_ADD,  true,  true,  inject_map_clear },
    { "map, view",   BLY_CAN_ADD,  true,  true,  inject_view_add },
    { "paged",       BLY_CAN_PAGE, false, false, inject_paged },
    { "paged, add",  BLY_CAN_PAGE, true,  true,  inject_paged_add },
    { "create",      BLY_CAN_PAGE, true,  false, inject_create },
};

/* ---- A run -------------------------------------------------------------- */

/* Puts the old file there, and nothing else. */
static inject_file inject_prepare(const char *kind)
{
    bly_filter *filter = NULL;
    assert_status(inject_make(&filter, kind, OLD), BLY_OK);
    assert_status(bly_save(filter, inject_path), BLY_OK);
    bly_free(filter);
    return inject_read();
}

static bool inject_unchanged(const inject_file *old)
{
    inject_file now = inject_read();
    bool same = now.n == old->n && memcmp(now.bytes, old->bytes, now.n) == 0;
    free(now.bytes);
    return same;
}

/* Checks the file after a run that returned `status`. */
static void inject_check(const inject_job *job, const inject_file *old,
                         bly_status status)
{
    bly_filter *filter = NULL;
    bool changed = !inject_unchanged(old);
    bool fine = status == BLY_OK || status == BLY_EUNFLUSHED;
    if (!job->writes || (!fine && !job->in_place)) {
        assert_false(changed);
        return;
    }
    bly_status opened = bly_open(&filter, inject_path, 0, NULL);
    if (opened == BLY_EUNSEALED && !fine)
        return;
    assert_status(opened, BLY_OK);
    inject_finds(filter, fine ? ALL : OLD);
    bly_free(filter);
}

static bly_status inject_one(const inject_job *job, const char *kind,
                             const inject_file *old, inject_way way,
                             uint64_t at)
{
    size_t files = folder_entries(".");
    size_t open_files = folder_entries("/proc/self/fd");
    inject.way = way;
    inject.at = at;
    inject.calls = 0;
    inject.done = inject.tidying = false;
    inject.armed = true;
    bly_status status = job->run(kind);
    inject.armed = false;
    inject_runs++;
    if ((way == INJECT_SIGNAL || way == INJECT_HALF) && status < 0)
        fail_msg("%s, %s: call %llu %s: %s", kind, job->name,
                 (unsigned long long)at, way == INJECT_HALF ? "halved"
                 : "interrupted", bly_why());
    assert_int_equal(inject_live, 0);
    assert_int_equal(folder_entries("/proc/self/fd"), open_files);
    if (!inject.tidying)
        assert_int_equal(folder_entries("."), files);
    inject_check(job, old, status);
    return status;
}

/* Restores the old file if it has changed. */
static void inject_restore(const inject_file *old)
{
    if (inject_unchanged(old) && folder_entries(".") == 1)
        return;
    assert_int_equal(system("rm -f .bloomery-* inject.bly"), 0);
    int file = open(inject_path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    assert_true(file >= 0
                && write(file, old->bytes, old->n) == (ssize_t)old->n);
    close(file);
}

/* Other systems' files that need no format name are opened like our own. A kind
 * may neither build nor add: it has a function of its own. */
static bool inject_can(const inject_job *job, const bly_kind *kind)
{
    bool other = kind->foreign != NULL;
    if (kind->add == NULL && kind->building == NULL)
        return false;
    if (other && (kind->foreign->looks == NULL || job->run == inject_peek
                  || job->in_place))
        return false;
    return (registry_can(kind) & job->needs) == job->needs;
}

static void inject_all(const inject_job *job, const char *kind)
{
    inject_file old = inject_prepare(kind);
    bly_status whole = inject_one(job, kind, &old, INJECT_NOTHING, 0);
    uint64_t calls = inject.calls, step = test_work(1, 4, 5);
    inject_restore(&old);
    if (whole == BLY_EUNSUPPORTED) {    /* packed: cannot be mapped; no data */
        free(old.bytes);
        return;
    }
    assert_status(whole, BLY_OK);
    inject_points += calls;
    static uint64_t turn;       /* fail different calls each time */
    for (int way = INJECT_ONCE; way < INJECT_WAYS; way++)
        for (uint64_t at = turn++ % step; at < calls; at += step) {
            inject_one(job, kind, &old, (inject_way)way, at);
            inject_restore(&old);
        }
    free(old.bytes);
}

static void inject_kind(const bly_kind *kind)
{
    inject_keys(kind->name);
    for (size_t j = 0; j < sizeof inject_jobs / sizeof *inject_jobs; j++)
        if (inject_can(&inject_jobs[j], kind))
            inject_all(&inject_jobs[j], kind->name);
}

static void test_each_call_fails(void **state)
{
    (void)state;
    for (size_t i = 0; registry_kinds[i] != NULL; i++)
        inject_kind(registry_kinds[i]);
    for (size_t i = 0; registry_foreign[i] != NULL; i++)
        inject_kind(registry_foreign[i]);
    printf("  %llu points of failure, %llu runs\n",
           (unsigned long long)inject_points, (unsigned long long)inject_runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_fails),
    };
    return cmocka_run_group_tests_name("inject", tests, folder_enter,
                                       folder_leave);
}
