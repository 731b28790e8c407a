/* file.c - an index is mapped, or wrapped where it lies in memory. */
#include "search/library/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "io/access.h"

/* Bytes of what is known of its pages. */
static uint64_t file_known(const bly_index *index)
{
    return index->pages / 8 + 1;
}

static bly_status file_make(bly_index **out, const void *bytes, size_t n,
                            const bly_allocator *wanted)
{
    const bly_allocator allocator = memory_allocator(wanted, 1);
    bly_index *index = memory_zeroed(&allocator, sizeof *index);
    if (index == NULL)
        return status_plain(BLY_ENOMEM);
    index->allocator = allocator;
    index->bytes = bytes;
    index->n = n;
    bly_status status = reader_check(index);
    if (status == BLY_OK) {
        index->known = memory_zeroed(&allocator, file_known(index));
        if (index->known == NULL)
            status = status_plain(BLY_ENOMEM);
    }
    if (status == BLY_OK)
        *out = index;
    else
        memory_release(&allocator, index, sizeof *index);
    return status;
}

bly_status bly_index_wrap(bly_index **out, const void *bytes, size_t n,
                          const bly_allocator *allocator)
{
    return file_make(out, bytes, n, allocator);
}

/* Queries read only some pages of the rows; the list after them is read as a
 * whole, in large pieces. The header is not verified yet, which at worst makes
 * this advice useless. */
static void file_advise(uint8_t *bytes, size_t n)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t list = n < LAYOUT_HEADER ? n : image_u64(bytes, LAYOUT_AT_LIST);
    size_t rows = (size_t)((list < n ? list : n) / page * page);
    if (rows > 0)
        (void)posix_madvise(bytes, rows, POSIX_MADV_RANDOM);
    (void)posix_madvise(bytes + rows, n - rows, POSIX_MADV_WILLNEED);
}

static bly_status file_map(bly_index **out, int file, const char *path,
                           const bly_allocator *allocator)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return access_failed("examine", path);
    if (!S_ISREG(about.st_mode))
        return status_fail(BLY_EIO, "%s: only a regular file can be an index: "
                           "name one", path);
    if (about.st_size == 0)
        return status_fail(BLY_EFORMAT, "%s: it is empty, not an index: name "
                           "another file", path);
    if (!sizes_fits((uint64_t)about.st_size))
        return status_named(status_plain(BLY_ETOOBIG), path);
    size_t n = (size_t)about.st_size;
    void *bytes = mmap(NULL, n, PROT_READ, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED)
        return access_failed("map", path);
    file_advise(bytes, n);
    bly_status status = file_make(out, bytes, n, allocator);
    if (status == BLY_OK) {
        (*out)->mapped = true;
        return BLY_OK;
    }
    munmap(bytes, n);
    return status_named(status, path);
}

bly_status bly_index_open(bly_index **out, const char *path,
                          const bly_allocator *allocator)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return access_failed("open", path);
    bly_status status = file_map(out, file, path, allocator);
    close(file);
    return status;
}

void bly_index_free(bly_index *index)
{
    if (index == NULL)
        return;
    const bly_allocator allocator = index->allocator;
    if (index->mapped)
        munmap((void *)(uintptr_t)index->bytes, index->n);
    memory_release(&allocator, index->known, (size_t)file_known(index));
    memory_release(&allocator, index, sizeof *index);
}
