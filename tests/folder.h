/* folder.h - a folder of its own for a test, gone when the test ends.
 *
 * For cmocka's setup and teardown; the test works in it.
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

/* How many entries a folder has, without . and ..; those of /proc/self/fd are
 * the descriptors that are open, and the one it is read by. */
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
