/* damage.c - verifies filters that are queried.
 *
 * A damaged filter may deny keys that it contains, so its checksum is verified
 * wherever that costs little compared with the work:
 *
 *     up to 64 MiB    before the first answer, in 7 ms
 *     larger          by a separate thread during the queries. It starts
 *                     when it costs 3 % of the work done so far: after one
 *                     line per 25 bytes, or 4 s of waiting for a pipe per
 *                     1e9 bytes. The verdict comes before the exit status
 *                     and before totals. If there was less work, a note
 *                     says that the filter was not verified
 *
 * (A line costs 100 ns in a filter of 600 MB, and a byte 0.12 ns: `bloomery
 * query -c` of 5e6 present keys takes 0.5 s of processor time and the checksum
 * 0.07 s, since it runs at the speed of memory.)
 *
 * --verify verifies before the first answer, whatever the size; --no-verify
 * never does. Filters from a pipe or packed filters are verified as they are
 * read, and so are the pages of paged filters (paged.c). Commands that derive
 * filters from filters always verify first.
 */
#include "filters/filters.h"
#include "frame/bytes.h"

#include <bloomery/parts.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DAMAGE_FIRST = 64 << 20,            /* larger ones are verified later    */
    DAMAGE_LINE = 25                    /* bytes that a queried line pays for */
};
#define DAMAGE_SECOND 250e6             /* and a second of waiting           */

typedef struct {
    const void *image;
    size_t      bytes;
    const char *path;
} damage_filter;

/* The filters that one thread verifies during the queries. */
static struct {
    damage_filter *filters;
    size_t      count;
    double      bytes;                  /* of all                            */
    double      opened;
    pthread_t   thread;
    bool        begun, joined;
    pthread_mutex_t lock;               /* guards the verdict                */
    bool        damaged;
    const char *whose;                  /* the name of a damaged one         */
    char        why[400];
} damage_state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ==== Opening =========================================================== */

bly_filter *damage_map(const char *path, const cli_verify *want)
{
    const char *file = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    bly_filter *filter;
    bly_header header;
    damage_filter *later;

    if (want->never)
        return load_mapped(path, 0);
    if (want->always || !filter_peek(&header, file) || header.packed
        || header.bytes <= DAMAGE_FIRST
        || !bytes_grow(&damage_state.filters, damage_state.count + 1,
                       sizeof *damage_state.filters))
        return load_mapped(path, BLY_VERIFY);
    filter = load_mapped(path, 0);
    if (filter == NULL)
        return NULL;
    later = &damage_state.filters[damage_state.count++];
    later->image = bly_raw(filter, &later->bytes);
    later->path = path;
    damage_state.bytes += (double)later->bytes;
    damage_state.opened = report_clock();
    return filter;
}

bly_filter *damage_open(const char *path, const cli_verify *want, bool paged)
{
    return paged || paged_large(path)
         ? paged_ask(path, want->always ? BLY_VERIFY : 0)
         : damage_map(path, want);
}

/* ==== Beside the work =================================================== */

static void *damage_look(void *unused)
{
    for (size_t i = 0; i < damage_state.count; i++) {
        const damage_filter *f = &damage_state.filters[i];

        if (bly_check(f->image, f->bytes, NULL) >= 0)
            continue;
        pthread_mutex_lock(&damage_state.lock);
        damage_state.damaged = true;
        damage_state.whose = f->path;
        snprintf(damage_state.why, sizeof damage_state.why, "%s", filter_why());
        pthread_mutex_unlock(&damage_state.lock);
        break;
    }
    return unused;
}

static bool damage_due(uint64_t lines, bool waits)
{
    double bytes = damage_state.bytes;

    return (double)lines >= bytes / DAMAGE_LINE
        || (waits && report_clock() - damage_state.opened
                     >= bytes / DAMAGE_SECOND);
}

/* If no thread can be created, the filters are verified now. */
void damage_asked(uint64_t lines, bool waits)
{
    if (damage_state.count == 0 || damage_state.begun
        || !damage_due(lines, waits))
        return;
    damage_state.begun = true;
    damage_state.joined = pthread_create(&damage_state.thread, NULL,
                                         damage_look, NULL) != 0;
    if (damage_state.joined)
        damage_look(NULL);
}

bool damage_seen(void)
{
    pthread_mutex_lock(&damage_state.lock);
    bool damaged = damage_state.damaged;
    pthread_mutex_unlock(&damage_state.lock);
    return damaged;
}

/* ==== At the end ======================================================== */

/* Reports pages that could not be read, which also void the answers. */
static int damage_pages(bly_filter *const *filters, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (filters[i] != NULL && bly_sync(filters[i]) < 0) {
            damage_state.damaged = true;
            return filter_error();
        }
    return CLI_GO;
}

static void damage_note(void)
{
    for (size_t i = 0; i < damage_state.count; i++)
        report_note("note: '%s' was not verified, which would have taken long "
                    "for this little work: use --verify, or --no-verify to "
                    "hide this note", damage_state.filters[i].path);
}

int damage_verdict(bly_filter *const *filters, size_t n, int status)
{
    if (damage_state.begun && !damage_state.joined)
        pthread_join(damage_state.thread, NULL);
    damage_state.joined = true;
    if (damage_pages(filters, n) != CLI_GO)
        status = CLI_ERROR;
    else if (damage_state.damaged)
        status = report_error("%s: %s; the printed answers are invalid",
                              damage_state.whose, damage_state.why);
    else if (!damage_state.begun)
        damage_note();
    free(damage_state.filters);
    damage_state.filters = NULL;
    damage_state.count = 0;
    return status;
}
