/* replace.c - saves are atomic and leave no stray files, whatever the system
 * does.
 *
 * The linker's --wrap directs the calls that put a file in place here, where
 * they fail or are interrupted as a test wants. Every test runs with files that
 * have no name until they are complete, and with named ones, as on file systems
 * without O_TMPFILE.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <dirent.h>

#include <bloomery/paged.h>
#include <bloomery/replace.h>

#include "test.h"
#include "folder.h"
#include "wrap.h"

/* ---- Calls that fail ---------------------------------------------------- */

typedef enum {
    AT_OPEN, AT_STAT, AT_OWN, AT_FSYNC, AT_FOLDER, AT_SYSTEM, AT_LINK,
    AT_RENAME, AT_CALLS
} at_call;

/* How often each fails from now on, and with which error; or a signal if >
 * 0. */
static struct { int times, error, signal; } at[AT_CALLS];
static bool nameless_not;               /* without O_TMPFILE                 */

/* The action of another writer on a new file: removes it, or locks it in order
 * to. */
static enum { NOBODY, REMOVES, LOCKS } other_writer;
static int other_file = -1;

static void at_other_writer(const char *path)
{
    if (other_writer == REMOVES)
        unlink(path);
    else if (other_writer == LOCKS) {
        other_file = __real_open(path, O_WRONLY, 0);
        flock(other_file, LOCK_EX);
    }
    other_writer = NOBODY;
}

static bool at_fails(at_call call)
{
    if (at[call].times == 0)
        return false;
    at[call].times--;
    if (at[call].signal > 0)
        raise(at[call].signal);
    errno = at[call].error;
    return at[call].error != 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = wrap_mode(flags, rest);
    va_end(rest);
    if (nameless && nameless_not) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if ((flags & O_ACCMODE) != O_RDONLY && at_fails(AT_OPEN))
        return -1;
    int file = __real_open(path, flags, mode);
    if ((flags & O_CREAT) != 0)
        at_other_writer(path);
    return file;
}

WRAP(int, fstat, int file, struct stat *info)
{
    return at_fails(AT_STAT) ? -1 : __real_fstat(file, info);
}

WRAP(int, fchown, int file, uid_t user, gid_t group)
{
    return at_fails(AT_OWN) ? -1 : __real_fchown(file, user, group);
}

WRAP(int, fsync, int file)
{
    struct stat info;
    assert_int_equal(__real_fstat(file, &info), 0);
    return at_fails(S_ISDIR(info.st_mode) ? AT_FOLDER : AT_FSYNC)
         ? -1 : __real_fsync(file);
}

WRAP(int, syncfs, int file)
{
    (void)file;
    return at_fails(AT_SYSTEM) ? -1 : 0;
}

WRAP(int, linkat, int from, const char *old, int to, const char *new, int how)
{
    return at_fails(AT_LINK) ? -1 : __real_linkat(from, old, to, new, how);
}

WRAP(int, rename, const char *old, const char *new)
{
    return at_fails(AT_RENAME) ? -1 : __real_rename(old, new);
}

/* ---- A temporary folder ------------------------------------------------- */


static bool nameless_here;              /* the file system supports them     */

static int replace_setup(void **state)
{
    memset(at, 0, sizeof at);
    nameless_not = false;
    if (folder_enter(state) != 0)
        return 1;
    int file = open(".", O_TMPFILE | O_RDWR, 0600);
    nameless_here = file >= 0;
    return file >= 0 ? close(file) : 0;
}

static bly_filter *replace_filter(uint64_t n)
{
    bly_spec spec = { .capacity = 1000 };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, "standard", &spec), BLY_OK);
    for (uint64_t i = 0; i < n; i++)
        bly_add_hash(filter, test_random(1, i));
    return filter;
}

static bly_status replace_save(const char *path, uint64_t n)
{
    bly_filter *filter = replace_filter(n);
    bly_status status = bly_save(filter, path);
    bly_free(filter);
    return status;
}

/* Returns the number of keys in the filter there. */
static uint64_t replace_items(const char *path)
{
    bly_filter *filter = NULL;
    bly_info_t stat;
    assert_status(bly_open(&filter, path, 0, NULL), BLY_OK);
    assert_status(bly_info(&stat, filter), BLY_OK);
    bly_free(filter);
    return stat.items;
}

/* Counts the files here, and copies the name of the last hidden one. */
static size_t replace_files(char *left)
{
    size_t n = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder)) != NULL; ) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n++;
        if (left != NULL && e->d_name[0] == '.')
            strcpy(left, e->d_name);
    }
    closedir(folder);
    return n;
}

/* ---- Failures ----------------------------------------------------------- */

/* A failure before the new file is in place leaves the old one and nothing
 * else. */
static void test_failures_keep_the_old_file(void **state)
{
    (void)state;
    static const at_call calls[] = { AT_OPEN, AT_STAT, AT_FSYNC, AT_LINK,
                                     AT_RENAME };
    for (int way = !nameless_here; way < 2; way++) {
        nameless_not = way == 1;
        assert_status(replace_save("a.bly", 7), BLY_OK);
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            if (nameless_not && calls[i] == AT_LINK)
                continue;
            at[calls[i]].times = calls[i] == AT_OPEN && way == 0 ? 2 : 1;
            at[calls[i]].error = EIO;
            assert_status(replace_save("a.bly", 9), BLY_EIO);
            assert_non_null(strstr(bly_why(), "a.bly: cannot "));
            assert_int_equal(at[calls[i]].times, 0);
            assert_int_equal(replace_items("a.bly"), 7);
            assert_int_equal(replace_files(NULL), 1);
        }
    }
}

/* A missing permission names who may write; a full disk is reported as just
 * that. */
static void test_who_can_mend_it(void **state)
{
    (void)state;
    static const int errors[] = { EACCES, EPERM, ENOSPC, EROFS };
    assert_status(replace_save("a.bly", 7), BLY_OK);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        at[AT_FSYNC].times = 1;
        at[AT_FSYNC].error = errors[i];
        assert_status(replace_save("a.bly", 9), BLY_EIO);
        assert_non_null(strstr(bly_why(), strerror(errors[i])));
        assert_int_equal(strstr(bly_why(), "owner") != NULL, i < 2);
    }
}

/* An interrupted call is repeated. */
static void test_interrupted_calls_go_on(void **state)
{
    (void)state;
    at[AT_FSYNC].times = at[AT_FOLDER].times = 3;
    at[AT_FSYNC].error = at[AT_FOLDER].error = EINTR;
    assert_status(replace_save("a.bly", 7), BLY_OK);
    assert_int_equal(at[AT_FSYNC].times + at[AT_FOLDER].times, 0);
    assert_int_equal(replace_items("a.bly"), 7);
}

/* The new file is in place, and the error says so. If the folder cannot be
 * flushed, its whole file system is. */
static void test_folder_that_is_not_flushed(void **state)
{
    (void)state;
    static const int nothing[] = { EINVAL, ENOSYS, EOPNOTSUPP };
    assert_status(replace_save("a.bly", 7), BLY_OK);
    at[AT_FOLDER].times = 1;
    at[AT_FOLDER].error = EIO;
    assert_status(replace_save("a.bly", 9), BLY_EUNFLUSHED);
    assert_non_null(strstr(bly_why(), "in its place"));
    assert_int_equal(replace_items("a.bly"), 9);
    for (size_t i = 0; i < 3; i++) {
        at[AT_FOLDER].times = 1;
        at[AT_FOLDER].error = nothing[i];
        assert_status(replace_save("a.bly", 10 + i), BLY_OK);
        assert_int_equal(replace_items("a.bly"), 10 + i);
        at[AT_FOLDER].times = at[AT_SYSTEM].times = 1;
        at[AT_SYSTEM].error = EIO;
        assert_status(replace_save("a.bly", 20 + i), BLY_EUNFLUSHED);
        assert_int_equal(replace_items("a.bly"), 20 + i);
    }
    assert_int_equal(replace_files(NULL), 1);
}

/* Creating a filter in its file: it is not created twice, and a second call
 * flushes the folder. */
static void test_created_but_not_flushed(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 1000 };
    bly_filter *made = NULL;
    assert_status(bly_create(&made, "a.bly", "buffered", &spec), BLY_OK);
    assert_status(bly_add_hash(made, 5), BLY_OK);
    at_call naming = nameless_here ? AT_LINK : AT_RENAME;
    at[naming].times = 1;
    at[naming].error = EIO;
    assert_status(bly_seal(made), BLY_EIO);
    assert_int_equal(access("a.bly", F_OK), -1);
    at[AT_FOLDER].times = 2;
    at[AT_FOLDER].error = EIO;
    assert_status(bly_seal(made), BLY_EUNFLUSHED);
    assert_status(bly_seal(made), BLY_EUNFLUSHED);
    assert_status(bly_seal(made), BLY_OK);
    bly_free(made);
    assert_int_equal(replace_items("a.bly"), 1);
    assert_int_equal(replace_files(NULL), 1);
}

/* ---- Killed writers ----------------------------------------------------- */

/* Saves in a child that a signal ends at a given call. */
static void replace_die(at_call call, int number)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        at[call].times = 1;
        at[call].signal = number;
        _exit(replace_save("a.bly", 9) == BLY_OK ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == number);
}

static void test_signals_leave_nothing(void **state)
{
    (void)state;
    static const at_call calls[] = { AT_FSYNC, AT_LINK, AT_RENAME, AT_FOLDER };
    if (!nameless_here)
        skip();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_status(replace_save("a.bly", 7), BLY_OK);
        replace_die(calls[i], SIGTERM);
        assert_int_equal(replace_items("a.bly"), i == 0 ? 7 : 9);
        assert_int_equal(replace_files(NULL), 1);
    }
}

/* Only a kill between the two names of a file leaves a stray one; if no old
 * file existed, none does. */
static void test_kills_leave_nothing(void **state)
{
    (void)state;
    static const at_call calls[] = { AT_FSYNC, AT_LINK, AT_RENAME, AT_FOLDER };
    if (!nameless_here)
        skip();
    for (size_t i = 0; i < 2; i++) {
        replace_die(calls[i], SIGKILL);
        assert_int_equal(replace_files(NULL), 0);
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_status(replace_save("a.bly", 7), BLY_OK);
        assert_int_equal(replace_files(NULL), 1);
        replace_die(calls[i], SIGKILL);
        assert_int_equal(replace_items("a.bly"), i == 3 ? 9 : 7);
        assert_int_equal(replace_files(NULL), calls[i] == AT_RENAME ? 2 : 1);
    }
}

/* The next writer of the same file removes a killed one's leftovers, whichever
 * of the two ways it works. */
static void test_next_writer_tidies_up(void **state)
{
    (void)state;
    assert_status(replace_save("a.bly", 7), BLY_OK);
    for (int way = 0; way < 2; way++) {
        nameless_not = true;
        replace_die(AT_FSYNC, SIGKILL);
        replace_die(AT_RENAME, SIGKILL);
        assert_int_equal(replace_files(NULL), 2);
        assert_status(replace_save("b.bly", 8), BLY_OK);    /* not its own  */
        assert_int_equal(replace_files(NULL), 3);
        nameless_not = way == 1;
        assert_status(replace_save("a.bly", 8), BLY_OK);
        assert_int_equal(replace_items("a.bly"), 8);
        assert_int_equal(replace_files(NULL), 2);
        assert_int_equal(unlink("b.bly"), 0);
    }
}

/* Several writers killed at once leave several files. Those of living writers
 * stay. */
static void test_living_writers_keep_their_files(void **state)
{
    (void)state;
    enum { WRITERS = 5 };
    bly_replacement *writers[WRITERS], *other;
    int file;
    nameless_not = true;
    for (int i = 0; i < WRITERS; i++)
        assert_status(bly_replace(&writers[i], &file, "a.bly"), BLY_OK);
    assert_int_equal(replace_files(NULL), WRITERS);
    nameless_not = false;
    assert_status(bly_replace(&other, &file, "a.bly"), BLY_OK);
    assert_status(bly_replace_end(other), BLY_OK);
    assert_status(replace_save("a.bly", 7), BLY_OK);
    assert_int_equal(replace_files(NULL), WRITERS + 1);
    for (int i = 0; i < WRITERS; i += 2)
        bly_replace_drop(writers[i]);
    assert_int_equal(replace_files(NULL), WRITERS / 2 + 1);
    for (int i = 1; i < WRITERS; i += 2)
        assert_status(bly_replace_end(writers[i]), BLY_OK);
    assert_int_equal(replace_files(NULL), 1);
}

/* A writer that loses its file before it could lock it makes another. */
static void test_file_is_lost_before_it_is_locked(void **state)
{
    (void)state;
    nameless_not = true;
    assert_status(replace_save("a.bly", 7), BLY_OK);
    other_writer = REMOVES;
    assert_status(replace_save("a.bly", 8), BLY_OK);
    assert_int_equal(replace_items("a.bly"), 8);
    assert_int_equal(replace_files(NULL), 1);
    other_writer = LOCKS;
    assert_status(replace_save("a.bly", 9), BLY_OK);
    assert_int_equal(replace_items("a.bly"), 9);
    assert_int_equal(replace_files(NULL), 2);
    close(other_file);
    assert_status(replace_save("a.bly", 7), BLY_OK);
    assert_int_equal(replace_files(NULL), 1);
}

/* ---- For programs ------------------------------------------------------- */

static void test_lines_replace_a_file(void **state)
{
    (void)state;
    char text[8] = "";
    for (int way = !nameless_here; way < 2; way++) {
        bly_replacement *r;
        int file;
        nameless_not = way == 1;
        assert_status(bly_replace(&r, &file, "a.txt"), BLY_OK);
        assert_int_equal(write(file, "dropped", 7), 7);
        bly_replace_drop(r);
        assert_int_equal(replace_files(NULL), way == !nameless_here ? 0 : 1);
        assert_status(bly_replace(&r, &file, "a.txt"), BLY_OK);
        assert_int_equal(write(file, "lines", 5), 5);
        assert_status(bly_replace_end(r), BLY_OK);
        assert_int_equal(replace_files(NULL), 1);
        assert_status(bly_replace(&r, &file, "a.txt"), BLY_OK);
        at[AT_FSYNC].times = 1;
        at[AT_FSYNC].error = EIO;
        assert_status(bly_replace_end(r), BLY_EIO);
        assert_int_equal(bly_errno(), EIO);
        file = open("a.txt", O_RDONLY);
        assert_int_equal(read(file, text, sizeof text), 5);
        close(file);
        assert_string_equal(text, "lines");
        assert_int_equal(replace_files(NULL), 1);
    }
    bly_replace_drop(NULL);
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    bly_replacement *r = NULL;
    int file = -1, gone = open("gone", O_RDWR | O_CREAT, 0600);
    char path[32];
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_status(bly_replace(&r, &file, "folder"), BLY_EIO);
    assert_int_equal(bly_errno(), EISDIR);
    assert_status(bly_replace(&r, &file, "/dev/null"), BLY_EIO);
    assert_status(bly_replace(&r, &file, "nowhere/a"), BLY_EIO);
    assert_int_equal(bly_errno(), ENOENT);
    assert_int_equal(unlink("gone"), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", gone);
    assert_status(bly_replace(&r, &file, path), BLY_EIO);
    assert_status(replace_save(path, 7), BLY_EIO);
    close(gone);
    assert_true(r == NULL && file == -1);
    assert_int_equal(replace_files(NULL), 1);
}

/* ---- Names, links, owners ----------------------------------------------- */

static void test_links_are_followed(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(mkdir("far", 0700), 0);
    assert_int_equal(symlink("far/one", "zero"), 0);
    assert_int_equal(symlink("two", "far/one"), 0);
    assert_status(replace_save("zero", 7), BLY_OK);     /* a dangling link   */
    assert_int_equal(replace_items("far/two"), 7);
    assert_status(replace_save("zero", 8), BLY_OK);
    assert_int_equal(replace_items("far/two"), 8);
    assert_int_equal(lstat("zero", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(symlink("loop", "pool"), 0);
    assert_int_equal(symlink("pool", "loop"), 0);
    assert_status(replace_save("loop", 7), BLY_EIO);
    assert_non_null(strstr(bly_why(), strerror(ELOOP)));
    assert_int_equal(lstat("loop", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(symlink("nowhere/file", "lost"), 0);
    assert_status(replace_save("lost", 7), BLY_EIO);

    bly_spec spec = { .capacity = 1000 };
    bly_filter *made = NULL;
    assert_int_equal(symlink("far/three", "third"), 0);
    assert_status(bly_create(&made, "third", "buffered", &spec), BLY_OK);
    assert_status(bly_seal(made), BLY_OK);
    bly_free(made);
    assert_int_equal(replace_items("far/three"), 0);
}

/* The longest name that the file system allows. */
static void test_long_names(void **state)
{
    (void)state;
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    for (int way = 0; way < 2; way++) {
        nameless_not = way == 1;
        assert_status(replace_save(name, 7), BLY_OK);
        assert_int_equal(replace_items(name), 7);
    }
    assert_int_equal(replace_files(NULL), 1);
}

/* Root keeps the owner and the group; nobody keeps the set-user-ID bits. */
static void test_owner_is_kept(void **state)
{
    (void)state;
    struct stat info;
    uid_t user = geteuid() == 0 ? 4242 : geteuid();
    gid_t group = geteuid() == 0 ? 2424 : getegid();
    assert_status(replace_save("a.bly", 7), BLY_OK);
    assert_int_equal(chown("a.bly", user, group), 0);
    assert_int_equal(chmod("a.bly", 06751), 0);
    assert_status(replace_save("a.bly", 8), BLY_OK);
    assert_int_equal(stat("a.bly", &info), 0);
    assert_int_equal(info.st_uid, user);
    assert_int_equal(info.st_gid, group);
    assert_int_equal(info.st_mode & 07777, 0751);
}

/* A container may not know a file's owner. */
static void test_owner_is_not_known(void **state)
{
    (void)state;
    struct stat info;
    if (geteuid() != 0)
        skip();
    assert_status(replace_save("a.bly", 7), BLY_OK);
    assert_int_equal(chown("a.bly", 4242, 2424), 0);
    assert_int_equal(chmod("a.bly", 0664), 0);
    at[AT_OWN].times = 2;
    at[AT_OWN].error = EINVAL;
    assert_status(replace_save("a.bly", 8), BLY_OK);
    assert_int_equal(at[AT_OWN].times, 0);
    assert_int_equal(stat("a.bly", &info), 0);
    assert_int_equal(info.st_uid, geteuid());
    assert_int_equal(info.st_gid, getegid());
    assert_int_equal(info.st_mode & 07777, 0644);
}

#define REPLACE_TEST(test)                                                     \
    cmocka_unit_test_setup_teardown(test, replace_setup, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REPLACE_TEST(test_failures_keep_the_old_file),
        REPLACE_TEST(test_who_can_mend_it),
        REPLACE_TEST(test_interrupted_calls_go_on),
        REPLACE_TEST(test_folder_that_is_not_flushed),
        REPLACE_TEST(test_created_but_not_flushed),
        REPLACE_TEST(test_signals_leave_nothing),
        REPLACE_TEST(test_kills_leave_nothing),
        REPLACE_TEST(test_next_writer_tidies_up),
        REPLACE_TEST(test_living_writers_keep_their_files),
        REPLACE_TEST(test_file_is_lost_before_it_is_locked),
        REPLACE_TEST(test_lines_replace_a_file),
        REPLACE_TEST(test_what_is_no_file_is_refused),
        REPLACE_TEST(test_links_are_followed),
        REPLACE_TEST(test_long_names),
        REPLACE_TEST(test_owner_is_kept),
        REPLACE_TEST(test_owner_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
