/* fuzz_container.c - any bytes taken for a file with filters inside are
 * refused, or list filters that lie in the file and answer if they open.
 */
#include "targets.h"

#include <string.h>

#include "bloomery.h"
#include "bloomery/container.h"

enum { CONTAINER_MOST = 16 };           /* filters that are queried          */

static const char *container_ask(const bly_container *file, size_t which)
{
    bly_filter *filter = NULL;
    if (bly_container_filter(&filter, file, which, NULL) != BLY_OK)
        return *bly_why() != '\0' ? NULL : "a filter is refused without a word";
    bool empty = bly_contains(filter, "", 0);
    bool one = bly_contains(filter, "a", 1);
    target_did.answers += empty || one ? 2 : 1;
    bly_free(filter);
    return NULL;
}

static const char *container_look(const bly_container *file, size_t n)
{
    const bly_contents *is = bly_container_contents(file);
    const char *found = NULL;
    for (size_t i = 0; i < is->n && found == NULL; i++) {
        const bly_contained *one = &is->filters[i];
        if (one->group >= is->groups)
            found = "a group is beyond the last";
        else if ((one->format == NULL) == (one->lacks == NULL))
            found = "it neither has a filter nor lacks one";
        else if (strlen(one->column) >= n)
            found = "the name of a column is longer than the file";
        else if (one->format != NULL
                 && (one->offset > n || one->bytes > n - one->offset))
            found = "a filter does not lie in the file";
        else if (one->format != NULL && i < CONTAINER_MOST)
            found = container_ask(file, i);
    }
    return found;
}

const char *fuzz_container(const uint8_t *bytes, size_t n)
{
    const char *path = target_file(bytes, n), *found;
    bly_container *file = NULL;
    if (path == NULL)
        return NULL;
    if (bly_container_open(&file, path, NULL) != BLY_OK)
        return *bly_why() != '\0' ? NULL : "it is refused without a word";
    found = container_look(file, n);
    bly_container_free(file);
    target_did.images++;
    return found;
}
