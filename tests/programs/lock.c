/* lock.c - programs/filters/filter.c, locking a file to be changed: it ends,
 * whatever the file system reports.
 *
 * The linker wraps stat and fstat, which fail or report another file as often
 * as the test wants.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/filters.h"

static const char lock_path[] = "lock-test.tmp";

static int  lock_error;                 /* error of stat, or 0               */
static bool lock_moved;                 /* stat reports another file         */
static unsigned lock_asked;             /* calls of stat                     */

int __real_stat(const char *path, struct stat *out);
int __wrap_stat(const char *path, struct stat *out);

int __wrap_stat(const char *path, struct stat *out)
{
    int result = __real_stat(path, out);
    if (strcmp(path, lock_path) != 0)
        return result;
    lock_asked++;
    out->st_ino += lock_moved;
    errno = lock_error;
    return lock_error != 0 ? -1 : result;
}

/* Locks with such a stat, which must be called at least `least` times, at most
 * `most`. */
static int lock_with(int error, bool moved, unsigned least, unsigned most)
{
    lock_error = error;
    lock_moved = moved;
    lock_asked = 0;
    int fd = filter_lock(lock_path);
    assert_in_range(lock_asked, least, most);
    return fd;
}

static void test_lock_ends(void **state)
{
    (void)state;
    static const int errors[] = { EIO, EACCES, ELOOP, EOVERFLOW, ENOMEM };
    int fd = open(lock_path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    fd = lock_with(0, false, 1, 1);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        assert_int_equal(lock_with(errors[i], false, 1, 2), -1);
    assert_int_equal(lock_with(ENOENT, false, 2, 2000), -1);
    assert_int_equal(lock_with(0, true, 2, 2000), -1);
    unlink(lock_path);
    assert_int_equal(lock_with(0, false, 0, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_lock_ends) };
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
