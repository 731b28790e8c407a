/* io.c - files: a failed save loses nothing, and no invalid file is opened.
 *
 * Every test runs in its own folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "bloomery/paged.h"
#include "folder.h"

#include "image/image.h"
#include "verbs/registry.h"

static bly_filter *io_filter(uint64_t n)
{
    bly_spec spec = { .capacity = 1000 };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, "standard", &spec), BLY_OK);
    for (uint64_t i = 0; i < n; i++)
        bly_add_hash(filter, test_random(1, i));
    return filter;
}

static uint64_t io_items(const char *path)
{
    bly_filter *filter = NULL;
    assert_status(bly_open(&filter, path, 0, NULL), BLY_OK);
    bly_info_t stat;
    bly_info(&stat, filter);
    for (uint64_t i = 0; i < stat.items; i++)
        assert_true(bly_contains_hash(filter, test_random(1, i)));
    bly_free(filter);
    return stat.items;
}

static void io_write(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void test_save_replaces(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10);
    assert_status(bly_save(filter, "a.bly"), BLY_OK);
    bly_add_hash(filter, test_random(1, 10));
    assert_status(bly_save(filter, "a.bly"), BLY_OK);
    assert_int_equal(io_items("a.bly"), 11);
    assert_int_equal(folder_entries("."), 1);
    bly_free(filter);
}

/* Intercepts the library's calls: who else could open the file so far? */
static mode_t io_others;

int fchmod(int file, mode_t mode)
{
    struct stat info;
    assert_int_equal(fstat(file, &info), 0);
    io_others |= info.st_mode & 077;
    return (int)syscall(SYS_fchmod, file, mode);
}

/* The mode is kept, a link is followed, a new file obeys the umask. */
static void test_save_keeps_mode_and_link(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10);
    io_others = 0;
    mode_t mask = umask(027);
    assert_status(bly_save(filter, "b.bly"), BLY_OK);
    umask(mask);
    struct stat info;
    assert_int_equal(stat("b.bly", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(chmod("b.bly", 0604), 0);
    assert_int_equal(symlink("b.bly", "link.bly"), 0);
    assert_status(bly_save(filter, "link.bly"), BLY_OK);
    assert_int_equal(lstat("link.bly", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat("b.bly", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604);
    assert_int_equal(chmod("b.bly", 0600), 0);
    assert_status(bly_save(filter, "b.bly"), BLY_OK);
    assert_int_equal(stat("b.bly", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(io_others, 0);     /* not even for a moment */
    bly_free(filter);
}

/* A file-size limit stands in for a full disk: the write stops half-way. It
 * runs in a child, because the limit cannot be lifted. */
static void test_full_disk_loses_nothing(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10);
    assert_status(bly_save(filter, "c.bly"), BLY_OK);
    size_t files = folder_entries(".");
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = { 700, 700 };
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        bly_add_hash(filter, test_random(1, 10));
        bool refused = bly_save(filter, "c.bly") == BLY_EIO
                    && strstr(bly_why(), "c.bly") != NULL;
        _exit(refused ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_int_equal(io_items("c.bly"), 10);
    assert_int_equal(folder_entries("."), files);
    bly_free(filter);
}

static void test_save_refuses(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_status(bly_save(filter, "folder"), BLY_EIO);
    assert_int_equal(bly_errno(), EISDIR);
    assert_non_null(strstr(bly_why(), "is a directory"));
    assert_status(bly_save(filter, "missing/a.bly"), BLY_EIO);
    assert_int_equal(bly_errno(), ENOENT);
    assert_status(bly_save(filter, ""), BLY_EIO);
    if (access("/dev/full", W_OK) == 0) {
        assert_status(bly_save(filter, "/dev/full"), BLY_EIO);
        assert_int_equal(bly_errno(), ENOSPC);
    }
    assert_status(bly_save(filter, "/dev/null"), BLY_OK);
    char *name = malloc(9000);
    assert_non_null(name);
    memset(name, 'x', 8999);
    name[8999] = '\0';
    assert_status(bly_save(filter, name), BLY_EIO);
    free(name);
    assert_int_equal(rmdir("folder"), 0);
    bly_free(filter);
}

static void test_open_refuses(void **state)
{
    (void)state;
    bly_filter *none = NULL;
    static const int modes[] = { 0, BLY_MAP, BLY_MAP | BLY_VERIFY };
    io_write("empty", "", 0);
    io_write("text", "these are words\nand no filter\n", 30);
    io_write("magic", "bloomery", 8);
    for (size_t i = 0; i < 3; i++) {
        assert_status(bly_open(&none, "absent", modes[i], NULL), BLY_EIO);
        assert_int_equal(bly_errno(), ENOENT);
        assert_status(bly_open(&none, ".", modes[i], NULL), BLY_EIO);
        assert_int_equal(bly_errno(), EISDIR);
        assert_status(bly_open(&none, "empty", modes[i], NULL), BLY_EFORMAT);
        assert_int_equal(bly_errno(), 0);
        assert_status(bly_open(&none, "text", modes[i], NULL), BLY_EFORMAT);
        assert_non_null(strstr(bly_why(), "text: not a Bloomery filter"));
        assert_status(bly_open(&none, "magic", modes[i], NULL), BLY_ECORRUPT);
    }
    assert_status(bly_open(&none, "/dev/null", BLY_MAP, NULL), BLY_EIO);
    assert_non_null(strstr(bly_why(), "only a regular file"));
    assert_status(bly_open(&none, "/dev/null", 0, NULL), BLY_EFORMAT);
    assert_status(bly_open(&none, "text", 64, NULL), BLY_EPARAM);
    assert_status(bly_open(&none, "text", BLY_WRITE, NULL), BLY_EPARAM);
    assert_null(none);
}

/* Files cut anywhere, or one byte too long, in every way of opening. */
static void test_open_refuses_wrong_sizes(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(500), *none = NULL;
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *longer = malloc(bytes + 1);
    assert_non_null(longer);
    memcpy(longer, image, bytes);
    longer[bytes] = 0;
    for (size_t n = 0; n <= bytes + 1; n += n < 140 || n + 3 > bytes ? 1 : 97) {
        if (n == bytes)
            continue;
        io_write("cut.bly", longer, n);
        assert_true(bly_open(&none, "cut.bly", 0, NULL) < 0);
        assert_true(bly_open(&none, "cut.bly", BLY_MAP, NULL) < 0);
        assert_null(none);
    }
    free(longer);
    bly_free(filter);
}

/* Damaged payloads are found when reading, and by verification. */
static void test_damaged_payload(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(500), *none = NULL;
    assert_status(bly_save(filter, "d.bly"), BLY_OK);
    bly_free(filter);
    int file = open("d.bly", O_RDWR);
    uint8_t byte;
    assert_int_equal(pread(file, &byte, 1, 400), 1);
    byte ^= 4;
    assert_int_equal(pwrite(file, &byte, 1, 400), 1);
    close(file);
    assert_status(bly_open(&none, "d.bly", 0, NULL), BLY_ECORRUPT);
    assert_status(bly_open(&none, "d.bly", BLY_MAP | BLY_VERIFY, NULL),
                  BLY_ECORRUPT);
    assert_non_null(strstr(bly_why(), "d.bly: the payload is damaged"));
    assert_null(none);
}

/* Adding to the file itself; while open, it is marked for others. */
static void test_map_for_writing(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10), *mapped = NULL, *other = NULL;
    assert_status(bly_save(filter, "e.bly"), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&mapped, "e.bly", BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    assert_int_equal(io_items("e.bly"), 10);    /* unchanged: still sealed */
    for (uint64_t i = 10; i < 300; i++)
        assert_true(bly_add_hash(mapped, test_random(1, i)) >= 0);
    assert_status(bly_open(&other, "e.bly", 0, NULL), BLY_EUNSEALED);
    assert_status(bly_open(&other, "e.bly", BLY_MAP, NULL), BLY_EUNSEALED);
    assert_status(bly_seal(mapped), BLY_OK);
    assert_int_equal(io_items("e.bly"), 300);
    bly_add_hash(mapped, test_random(1, 300));
    bly_free(mapped);
    assert_int_equal(io_items("e.bly"), 301);
}

/* Returns the status another process gets when it opens the file for
 * writing. */
static bly_status io_elsewhere(const char *path, int flags)
{
    int result;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bly_filter *filter;
        _exit(-bly_open(&filter, path, flags, NULL));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return (bly_status)-WEXITSTATUS(result);
}

/* A file has one writing handle at a time, in any process and any mode, until
 * that is freed. Readers are never blocked. */
static void test_one_writer(void **state)
{
    (void)state;
    static const int ways[] = { BLY_MAP | BLY_WRITE, BLY_PAGED | BLY_WRITE };
    bly_filter *made = NULL, *reader = NULL, *writer = NULL, *other = NULL;
    bly_spec spec = { .capacity = 1000, .rate = 0.01 };
    assert_status(bly_create(&made, "w.bly", "buffered", &spec), BLY_OK);
    assert_status(bly_seal(made), BLY_OK);
    bly_free(made);
    assert_status(bly_open(&reader, "w.bly", BLY_MAP, NULL), BLY_OK);
    for (int i = 0; i < 2; i++) {
        assert_status(bly_open(&writer, "w.bly", ways[i], NULL), BLY_OK);
        for (int j = 0; j < 2; j++) {
            assert_said(io_elsewhere("w.bly", ways[j]), BLY_EIO);
            assert_status(bly_open(&other, "w.bly", ways[j], NULL), BLY_EIO);
            assert_non_null(strstr(bly_why(), "w.bly: another writer"));
        }
        if (i == 0)                     /* sealed until the first change */
            assert_status(io_elsewhere("w.bly", BLY_MAP), BLY_OK);
        bly_free(writer);
        assert_status(io_elsewhere("w.bly", ways[1 - i]), BLY_OK);
    }
    bly_free(reader);
    assert_null(other);
}

/* A refused file is no longer locked. */
static void test_refused_is_unlocked(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10), *mapped = NULL;
    assert_status(bly_save(filter, "u.bly"), BLY_OK);
    bly_free(filter);
    bly_options secret = { .secret = "0123456789abcdef" };
    assert_status(bly_open(&mapped, "u.bly", BLY_MAP | BLY_WRITE, &secret),
                  BLY_ESECRET);
    assert_status(bly_open(&mapped, "u.bly", BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    bly_free(mapped);
}

/* Counts the library's calls. */
static unsigned io_flushes;

int msync(void *from, size_t bytes, int flags)
{
    io_flushes++;
    return (int)syscall(SYS_msync, from, bytes, flags);
}

/* Looking at the image seals it in memory; only bly_sync or bly_free brings it
 * to the disk. */
static void test_looking_is_not_flushing(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10), *mapped = NULL;
    assert_status(bly_save(filter, "l.bly"), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&mapped, "l.bly", BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    for (uint64_t i = 10; i < 12; i++) {
        assert_status(bly_add_hash(mapped, test_random(1, i)), BLY_OK);
        unsigned before = io_flushes;
        assert_non_null(bly_image(mapped, NULL));
        assert_true(io_flushes > before);       /* the payload first         */
        before = io_flushes;
        if (i == 10)
            assert_status(bly_sync(mapped), BLY_OK);
        else
            bly_free(mapped);
        assert_true(io_flushes > before);       /* then the header           */
    }
    assert_int_equal(io_items("l.bly"), 12);
}

/* Everything is flushed twice: the changes, then their checksums. Once if the
 * checksums are valid already, and never without a change.
 */
static void test_sealing_flushes_once(void **state)
{
    (void)state;
    static const unsigned expected[] = { 2, 1, 0 };
    bly_filter *filter = io_filter(10), *mapped = NULL;
    assert_status(bly_save(filter, "m.bly"), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&mapped, "m.bly", BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    for (uint64_t i = 0; i < 3; i++) {
        if (i < 2)
            assert_true(bly_add_hash(mapped, test_random(1, 10 + i)) >= 0);
        if (i == 1)
            assert_non_null(bly_image(mapped, NULL));
        unsigned before = io_flushes;
        assert_status(bly_seal(mapped), BLY_OK);
        assert_int_equal(io_flushes - before, expected[i]);
        assert_int_equal(io_items("m.bly"), i == 0 ? 11 : 12);
    }
    bly_free(mapped);
}

/* A writer that dies leaves a file marked as unfinished. */
static void test_killed_writer(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10), *other = NULL;
    assert_status(bly_save(filter, "f.bly"), BLY_OK);
    bly_free(filter);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bly_filter *mapped;
        if (bly_open(&mapped, "f.bly", BLY_MAP | BLY_WRITE, NULL) == BLY_OK)
            bly_add_hash(mapped, 1);
        _exit(0);                       /* without bly_free */
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_status(bly_open(&other, "f.bly", 0, NULL), BLY_EUNSEALED);
    assert_status(bly_open(&other, "f.bly", BLY_MAP, NULL), BLY_EUNSEALED);
    assert_non_null(strstr(bly_why(), "rebuild it"));
    assert_null(other);
}

static void test_read_only_map(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(10), *mapped = NULL;
    assert_status(bly_save(filter, "g.bly"), BLY_OK);
    assert_status(bly_open(&mapped, "g.bly", BLY_MAP, NULL), BLY_OK);
    assert_status(bly_add_hash(mapped, 1), BLY_EREADONLY);
    assert_status(bly_unite(mapped, filter), BLY_EREADONLY);
    bly_filter *copy = NULL;
    assert_status(bly_copy(&copy, mapped, NULL), BLY_OK);
    assert_status(bly_add_hash(copy, 1), BLY_OK);
    bly_free(copy);
    bly_free(mapped);
    bly_free(filter);
}

/* A filter is read from a pipe and saved into one. */
static void test_pipe(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(700);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(bly_save(filter, "pipe") == BLY_OK ? 0 : 1);
    assert_int_equal(io_items("pipe"), 700);
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    bly_free(filter);
}

/* A pipe that ends before the size in its header. */
static void test_short_pipe(void **state)
{
    (void)state;
    bly_filter *filter = io_filter(700), *none = NULL;
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    assert_int_equal(mkfifo("short", 0600), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int file = open("short", O_WRONLY);
        _exit(write(file, image, bytes - 1) == (ssize_t)bytes - 1 ? 0 : 1);
    }
    assert_status(bly_open(&none, "short", 0, NULL), BLY_ECORRUPT);
    assert_non_null(strstr(bly_why(), "short: cut short"));
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    bly_free(filter);
}

/* Memory: the largest request, and what is not yet freed. */
typedef struct { size_t most, live; } io_memory;

static void *io_allocate(void *context, size_t alignment, size_t bytes)
{
    io_memory *m = context;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    m->most = m->most > bytes ? m->most : bytes;
    m->live += bytes;
    return memory;
}

static void io_release(void *context, void *memory, size_t bytes)
{
    ((io_memory *)context)->live -= bytes;
    free(memory);
}

/* Opens through a pipe, counting memory. */
static bly_status io_open_piped(bly_filter **out, const uint8_t *image,
                                size_t n, io_memory *m)
{
    bly_allocator allocator = { io_allocate, io_release, m };
    bly_options options = { .allocator = &allocator };
    unlink("piped");
    assert_int_equal(mkfifo("piped", 0600), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FILE *pipe = fopen("piped", "wb");
        _exit(pipe != NULL && fwrite(image, 1, n, pipe) == n
              && fclose(pipe) == 0 ? 0 : 1);
    }
    bly_status status = bly_open(out, "piped", 0, &options);
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    return status;
}

/* A header alone gets no more memory than any pipe does, whatever it claims.
 * Complete images arrive whole wherever their memory grew. */
static void test_pipe_is_not_trusted(void **state)
{
    (void)state;
    static const uint64_t bits[] = { 1 << 20, 1 << 27, 600000001 };
    const size_t trust = (size_t)16 << 20;
    for (size_t i = 0; i < 3; i++) {
        bly_spec spec = { .capacity = 1000, .threads = 1 };
        bly_filter *filter = NULL, *piped = NULL;
        io_memory m = { 0, 0 };
        size_t n, same;
        char kind[40];
        snprintf(kind, sizeof kind, "standard:m=%llu,k=3",
                 (unsigned long long)bits[i]);
        assert_status(bly_new(&filter, kind, &spec), BLY_OK);
        for (uint64_t key = 0; key < 1000; key++)
            bly_add_hash(filter, test_random(1, key));
        const uint8_t *image = bly_image(filter, &n);
        assert_status(io_open_piped(&piped, image, 128, &m), BLY_ECORRUPT);
        assert_non_null(strstr(bly_why(), "cut short: it has 128 bytes"));
        assert_true(m.live == 0 && m.most <= trust);
        assert_status(io_open_piped(&piped, image, n - 1, &m), BLY_ECORRUPT);
        assert_int_equal(m.live, 0);
        assert_status(io_open_piped(&piped, image, n, &m), BLY_OK);
        const uint8_t *came = bly_image(piped, &same);
        assert_true(same == n && memcmp(came, image, n) == 0);
        bly_free(piped);
        assert_int_equal(m.live, 0);
        bly_free(filter);
    }
}

/* A sparse file slightly over 4 GiB, which 32-bit sizes would truncate. It is
 * mapped or refused with a message, never cut. */
static void test_more_than_an_address_can_say(void **state)
{
    (void)state;
    const char *kind = "standard:m=34359740416,k=1";
    uint8_t header[IMAGE_HEADER] = { 0 };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, kind, NULL), BLY_OK);
    assert_true(plan.bytes > UINT64_C(1) << 32);
    image_format(header, &plan, bly_kind_standard.version, 0, "xxh3");
    image_seal_by(header, 1);           /* checked when verified             */
    io_write("large.bly", header, sizeof header);
    if (truncate("large.bly", (off_t)plan.bytes) != 0)
        skip();                         /* the file system's limit is smaller */
    bool fits = plan.bytes <= PTRDIFF_MAX;
    for (int map = fits; map < 2; map++) {
        bly_filter *filter = NULL;
        bly_status status = bly_open(&filter, "large.bly", map ? BLY_MAP : 0,
                                     NULL);
        assert_int_equal(status, fits ? BLY_OK : BLY_ETOOBIG);
        size_t bytes = 0;
        if (fits)
            bly_image(filter, &bytes);
        else
            assert_non_null(strstr(bly_why(), "64-bit"));
        assert_true(bytes == (fits ? plan.bytes : 0));
        bly_free(filter);
    }
    assert_int_equal(unlink("large.bly"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_save_replaces),
        cmocka_unit_test(test_save_keeps_mode_and_link),
        cmocka_unit_test(test_full_disk_loses_nothing),
        cmocka_unit_test(test_save_refuses),
        cmocka_unit_test(test_open_refuses),
        cmocka_unit_test(test_open_refuses_wrong_sizes),
        cmocka_unit_test(test_damaged_payload),
        cmocka_unit_test(test_map_for_writing),
        cmocka_unit_test(test_looking_is_not_flushing),
        cmocka_unit_test(test_sealing_flushes_once),
        cmocka_unit_test(test_killed_writer),
        cmocka_unit_test(test_one_writer),
        cmocka_unit_test(test_refused_is_unlocked),
        cmocka_unit_test(test_read_only_map),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_short_pipe),
        cmocka_unit_test(test_pipe_is_not_trusted),
        cmocka_unit_test(test_more_than_an_address_can_say),
    };
    return cmocka_run_group_tests_name("io", tests, folder_enter, folder_leave);
}
