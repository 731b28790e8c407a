/* folder.h - a temporary folder for a test, removed when the test ends.
 *
 * Setup and teardown for cmocka; the test runs inside the folder.
 */
#ifndef BLY_TEST_FOLDER_H
#define BLY_TEST_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder_name[64];

static inline int folder_enter(void **state)
{
    (void)state;
    strcpy(folder_name, "folder-of-test-XXXXXX");
    return mkdtemp(folder_name) == NULL || chdir(folder_name) != 0;
}

static inline int folder_leave(void **state)
{
    (void)state;
    char command[128];
    if (chdir("..") != 0)
        return 1;
    snprintf(command, sizeof command, "rm -rf %s", folder_name);
    return system(command);
}

/* Returns whether a file has exactly these bytes. */
static inline bool folder_file_is(const char *path, const void *bytes,
                                  size_t n)
{
    FILE *file = fopen(path, "rb");
    char *got = malloc(n + 1);
    assert_non_null(file);
    assert_non_null(got);
    bool same = fread(got, 1, n + 1, file) == n && memcmp(got, bytes, n) == 0;
    fclose(file);
    free(got);
    return same;
}

/* Counts the entries of a folder except . and ..; in /proc/self/fd these are
 * the open descriptors plus the one used to read it. */
static inline size_t folder_entries(const char *path)
{
    size_t n = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        n++;
    closedir(folder);
    return n - 2;
}

#endif /* BLY_TEST_FOLDER_H */
