/* paged.c - filters used in their file, page by page.
 *
 * Kinds that consist of pages support this (<bloomery/paged.h>). It is used for
 * filters of more than half the memory, and on request; smaller ones are faster
 * in memory.
 */
#include "filters/filters.h"

#include <bloomery/paged.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the bytes above which a filter is large. */
static uint64_t paged_half_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 2
                                  : UINT64_MAX;
}

enum { PAGED_LEAST = 4096, PAGED_TIMES = 4 };

int paged_memory_check(uint64_t memory)
{
    if (memory > 0 && memory < PAGED_LEAST)
        return report_error("--memory is too small to collect keys: give 4K or "
                            "more");
    if (memory / 2 > paged_half_memory())
        return report_error("--memory is more than this machine has: give "
                            "%s or less",
                            report_bytes(2 * paged_half_memory()).text);
    return CLI_GO;
}

/* Returns the memory for pending adds: as given, or a quarter of the memory but
 * no more than the filter's size. Four times that would be plenty: hundreds of
 * keys then wait for each page. */
static size_t paged_memory(uint64_t asked, uint64_t bytes)
{
    uint64_t fourth = paged_half_memory() / 2;
    uint64_t most = bytes < UINT64_MAX / PAGED_TIMES ? PAGED_TIMES * bytes
                                                     : UINT64_MAX;

    if (asked == 0)
        asked = bytes < fourth ? bytes : fourth;
    asked = asked < most ? asked : most;
    asked = asked > PAGED_LEAST ? asked : PAGED_LEAST;
    return asked < SIZE_MAX ? (size_t)asked : SIZE_MAX;
}

/* Returns whether the file holds a filter of a kind that consists of pages. */
static bool paged_look(const char *path, bly_header *header)
{
    return filter_peek(header, path)
        && filter_kind_can(header->kind, BLY_CAN_PAGE);
}

/* ==== Asking, adding ==================================================== */

bool paged_large(const char *path)
{
    bly_header header;

    return paged_look(path, &header) && header.bytes > paged_half_memory();
}

bly_filter *paged_ask(const char *path, int flags)
{
    bly_filter *filter;
    bly_status status = bly_open(&filter, path, BLY_PAGED | flags,
                                 format_how());

    if (status < 0) {
        paged_refuse(path, status);
        return NULL;
    }
    return filter;
}

/* Returns whether it has pages and was not closed by its last writer. */
static bool paged_unclosed(const char *path)
{
    bly_header header;

    return paged_look(path, &header) && !header.sealed;
}

void paged_refuse(const char *path, bly_status status)
{
    if (status == BLY_EUNSEALED && paged_unclosed(path))
        report_error("'%s' is open for writing, or its writer ended without "
                     "closing it: wait for the writer, or repair the file with "
                     "'bloomery add %s < /dev/null'", path, path);
    else if (status == BLY_EFORMAT && container_is(path))
        report_error("'%s' contains filters and is not a filter itself: use "
                     "'bloomery query' to query them, or 'bloomery info' to "
                     "list them", path);
    else
        filter_error();
}

bool paged_wanted(const char *path, uint64_t memory)
{
    bly_header header;

    return paged_look(path, &header)
        && (memory > 0 || !header.sealed
            || header.bytes > paged_half_memory());
}

bly_filter *paged_open(const char *path, uint64_t memory)
{
    bly_header header = { .sealed = true };
    bly_filter *filter;

    paged_look(path, &header);
    if (bly_open(&filter, path, BLY_PAGED | BLY_WRITE, format_how())
        < 0) {
        filter_error();
        return NULL;
    }
    if (!header.sealed)
        report_note("note: '%s' was not closed by its last writer: it was "
                    "repaired, and holds all keys that were flushed", path);
    if (bly_buffer(filter, paged_memory(memory, header.bytes)) < 0) {
        filter_error();
        bly_free(filter);
        return NULL;
    }
    return filter;
}

/* ==== Building ========================================================== */

/* Only a file can be; "-" and devices are written from memory. */
bool paged_builds(const char *kind, const bly_spec *spec, const char *output,
                  uint64_t memory)
{
    struct stat about;
    bly_plan_t plan;

    if (strcmp(output, "-") == 0 || !filter_kind_can(kind, BLY_CAN_PAGE)
        || (stat(output, &about) == 0 && !S_ISREG(about.st_mode))
        || bly_plan(&plan, kind, spec) < 0)
        return false;
    return memory > 0 || plan.bytes > paged_half_memory();
}

bly_filter *paged_create(const char *output, const char *kind,
                         const bly_spec *spec, uint64_t memory)
{
    bly_filter *filter;
    bly_plan_t plan;

    if (bly_plan(&plan, kind, spec) < 0
        || bly_create(&filter, output, kind, spec) < 0) {
        filter_error();
        return NULL;
    }
    if (bly_buffer(filter, paged_memory(memory, plan.bytes)) < 0) {
        filter_error();
        bly_free(filter);
        return NULL;
    }
    return filter;
}
