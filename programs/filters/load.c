/* load.c - opens filter files: the library's or another system's, plain,
 * compressed or as text.
 *
 * Files that contain filters are refused: container.c opens those.
 */
#include "filters/filters.h"
#include "frame/progress.h"

#include <string.h>

/* Pipes, and files of some file systems, cannot be mapped but can be read. */
bly_filter *load_mapped(const char *path, int flags)
{
    bly_filter *filter;
    bly_status status;

    if (container_is(path)) {
        paged_refuse(path, BLY_EFORMAT);
        return NULL;
    }
    if (wrapped_is(path))
        return wrapped_open(path);
    if (strcmp(path, "-") == 0)
        path = "/dev/stdin";
    status = bly_open(&filter, path, BLY_MAP | flags, format_how());
    if (status == BLY_EIO)
        status = bly_open(&filter, path, 0, format_how());
    if (status < 0) {
        paged_refuse(path, status);
        return NULL;
    }
    bly_progress_set(filter, progress_library());
    return filter;
}

bly_filter *load_whole(const char *path, int flags)
{
    bly_filter *filter;
    bly_status status;

    if (wrapped_refuse(path))
        return NULL;
    status = container_is(path) ? BLY_EFORMAT
           : bly_open(&filter, path, flags, format_how());
    if (status < 0) {
        paged_refuse(path, status);
        return NULL;
    }
    return filter;
}
