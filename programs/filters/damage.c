/* damage.c - is a filter that is asked whole and undamaged?
 *
 * A damaged filter says of its keys that they are certainly not there, so a
 * checksum of all of it is compared wherever that costs little beside the work:
 *
 *      up to 64 MiB    before the first answer, in 7 ms
 *      more            by a thread of its own while the filter is asked, which
 *                      begins when that costs 3 % of the work done so far: a
 *                      line has been asked for every 25 bytes, or a pipe has
 *                      been waited for, 4 s for every 1e9 bytes. Its verdict
 *                      comes before the exit status, and before numbers that
 *                      sum up. After less work than that a note says that the
 *                      filter was not verified
 *
 * (A line costs 100 ns, in a filter of 600 MB, and a byte 0.12: `bloomery query
 * -c` of 5e6 keys that are there takes 0.5 s of processor time, and the
 * checksum 0.07, for it is as fast as memory is read.)
 *
 * --verify compares the checksum before the first answer, whatever the size;
 * --no-verify never does. What comes through a pipe or is packed is verified as
 * it is read, and so is each page of a filter that is asked page by page
 * (paged.c). Commands that write a filter from filters verify before they
 * write, always. Floor 8; includes filters.h and <bloomery.h> only.
 */
#include "filters/filters.h"

#include <bloomery/parts.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    DAMAGE_FIRST = 64 << 20,            /* bytes verified before all answers */
    DAMAGE_LINE = 25                    /* bytes that a line asked pays for  */
};
#define DAMAGE_SECOND 250e6             /* and a second of waiting           */

/* The filter that is verified beside the work: one at a time. */
static struct {
    const void *image;
    size_t      bytes;
    const char *path;                   /* NULL: there is none               */
    double      opened;
    pthread_t   thread;
    bool        begun, joined;
    pthread_mutex_t lock;               /* of the verdict                    */
    bool        damaged;
    char        why[400];
} damage_state = { .lock = PTHREAD_MUTEX_INITIALIZER };

int damage_options(const cli_command *command, const cli_verify *want)
{
    return want->always && want->never
         ? options_wrong(command, "--verify and --no-verify exclude each other")
         : CLI_GO;
}

/* ==== Opening =========================================================== */

bly_filter *damage_map(const char *path, const cli_verify *want)
{
    const char *file = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    bly_filter *filter;
    bly_header header;

    if (want->never)
        return filter_map(path, 0);
    if (want->always || !filter_peek(&header, file) || header.packed
        || header.bytes <= DAMAGE_FIRST)
        return filter_map(path, BLY_VERIFY);
    filter = filter_map(path, 0);
    if (filter == NULL)
        return NULL;
    damage_state.image = bly_raw(filter, &damage_state.bytes);
    damage_state.path = path;
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
    bly_status status = bly_check(damage_state.image, damage_state.bytes);

    pthread_mutex_lock(&damage_state.lock);
    damage_state.damaged = status < 0;
    if (status < 0)
        snprintf(damage_state.why, sizeof damage_state.why, "%s", bly_why());
    pthread_mutex_unlock(&damage_state.lock);
    return unused;
}

static bool damage_due(uint64_t lines, bool waits)
{
    double bytes = (double)damage_state.bytes;

    return (double)lines >= bytes / DAMAGE_LINE
        || (waits && report_clock() - damage_state.opened
                     >= bytes / DAMAGE_SECOND);
}

/* A thread that cannot be had is done without: then it is verified now. */
void damage_asked(uint64_t lines, bool waits)
{
    if (damage_state.path == NULL || damage_state.begun
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

/* A page that could not be read makes all void, too. */
int damage_verdict(bly_filter *filter, int status)
{
    if (damage_state.begun && !damage_state.joined)
        pthread_join(damage_state.thread, NULL);
    damage_state.joined = true;
    if (bly_sync(filter) < 0) {
        damage_state.damaged = true;
        return filter_error();
    }
    if (damage_state.damaged)
        return report_error("%s: %s; answers that were printed are void",
                            damage_state.path, damage_state.why);
    if (damage_state.path != NULL && !damage_state.begun)
        report_note("note: '%s' was not verified, which would have taken long "
                    "beside the work: give --verify, or --no-verify to leave "
                    "out this note", damage_state.path);
    return status;
}
