/* served.c - the filters that are served, and their replacement.
 *
 * The filters served at one time form an immutable set. When a file is
 * replaced, a new set is made that shares the other filters. Threads continue
 * with the set they have taken, and the last one to release it frees the
 * filters that are in no other set. No query waits for a file to be opened, and
 * none loses its filter.
 *
 * A file counts as replaced if its inode, size or times differ. (bly_replaced
 * does the same, but not for filters that were decompressed, nor for files that
 * were refused, which must not be opened again every second.) The status is
 * read before the file is opened; if it is replaced in between, it is simply
 * opened once more.
 */
#include "bloomery/serve/serve.h"
#include "frame/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Identity and status of a file. */
typedef struct {
    bool            there;
    dev_t           device;
    ino_t           number;
    off_t           size;
    struct timespec changed, moved;
} served_state;

typedef struct {
    const char  *path, *name;
    size_t       name_length;
    served_state state;
    double       refused;               /* time of the last refusal, or 0    */
} served_file;

enum { SERVED_AGAIN = 60 };             /* seconds before a refused file is
                                           retried                           */

static struct {
    served_how   how;
    served_file *files;
    char        *names;
    size_t       n;
    pthread_mutex_t lock;               /* guards all below, and `users`     */
    served_set  *set;
    atomic_uint_fast64_t age;
} served = { .lock = PTHREAD_MUTEX_INITIALIZER };

atomic_uint_fast64_t served_reloads, served_refusals;

/* ==== Names ============================================================= */

const char *served_name(size_t i)
{
    return served.files[i].name;
}

size_t served_find(const void *name, size_t length)
{
    for (size_t i = 0; i < served.n; i++)
        if (served.files[i].name_length == length
            && memcmp(served.files[i].name, name, length) == 0)
            return i;
    return SERVED_ALL;
}

/* Derives the name: "/var/lib/blocked.bly" -> "blocked". */
static size_t served_put_name(char *to, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t n = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);

    memcpy(to, name, n);
    to[n] = '\0';
    return n;
}

static int served_put_names(const cli_operands *files)
{
    size_t room = 0, at = 0;

    for (size_t i = 0; i < files->count; i++)
        room += strlen(files->names[i]) + 1;
    served.names = malloc(room);
    served.files = calloc(files->count, sizeof *served.files);
    if (served.names == NULL || served.files == NULL)
        return report_no_memory();
    for (size_t i = 0; i < files->count; i++) {
        served_file *f = &served.files[i];

        f->path = files->names[i];
        f->name = served.names + at;
        f->name_length = served_put_name(served.names + at, f->path);
        if (served_find(f->name, f->name_length) != SERVED_ALL)
            return report_error("two FILEs have the name '%s', by which "
                                "clients choose a filter: rename one of them",
                                f->name);
        at += f->name_length + 1;
        served.n++;
    }
    return CLI_GO;
}

/* ==== Files ============================================================= */

static served_state served_look(const char *path)
{
    struct stat about;
    served_state s;

    memset(&s, 0, sizeof s);
    if (stat(path, &about) < 0)
        return s;
    s.there = true;
    s.device = about.st_dev;
    s.number = about.st_ino;
    s.size = about.st_size;
    s.changed = about.st_mtim;
    s.moved = about.st_ctim;
    return s;
}

static bool served_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool served_same(const served_state *a, const served_state *b)
{
    return a->there == b->there && a->device == b->device
        && a->number == b->number && a->size == b->size
        && served_same_time(a->changed, b->changed)
        && served_same_time(a->moved, b->moved);
}

static void served_free(served_filter *f)
{
    if (f == NULL)
        return;
    bly_free(f->filter);
    guard_close(&f->guard);
    free(f->about);
    free(f);
}

/* Returns whether the path is a plain file. Opening a pipe could block for
   ever. */
static bool served_is_file(const char *path)
{
    struct stat about;

    return stat(path, &about) < 0 || S_ISREG(about.st_mode)
        || S_ISDIR(about.st_mode);
}

static bly_filter *served_open_file(const char *path)
{
    int flags = served.how.trust ? 0 : BLY_VERIFY;
    bly_filter *filter;

    if (!served_is_file(path)) {
        report_error("'%s' is not a regular file: copy the filter to one",
                     path);
        return NULL;
    }
    filter = served.how.load && !wrapped_is(path)
           ? load_whole(path, 0) : load_mapped(path, flags);
    if (filter == NULL || filter_can(filter, BLY_CAN_CONTAINS))
        return filter;
    filter_cannot(filter, path, "cannot be queried", BLY_CAN_CONTAINS);
    bly_free(filter);
    return NULL;
}

/* Chooses the form of the keys: the one that the filter states or, if it states
 * none, the one of the options. Returns CLI_ERROR if they contradict each
 * other. The protocols can carry any bytes, so a filter of bytes is queried
 * with keys as they are. */
static int served_follow(served_filter *f, const char *path)
{
    cli_how how = CLI_HOW_UNSAID;
    int status;

    f->stated = bly_form_of(f->filter);
    how.as = served.how.as;
    how.lower = served.how.fold;
    how.null = served.how.null;
    how.nests = true;
    if (f->stated == BLY_KEYS_BYTES && how.as == FORMS_UNSAID)
        how.as = BLY_KEYS_BYTES;
    status = forms_follow(&how, f->stated, path);
    f->form = how.form;
    f->cut_cr = how.cut_cr;
    return status == CLI_GO ? typed_check(f->filter, how.form, path) : status;
}

/* Stores the output of `info --json`. */
static void served_tell(served_filter *f, const char *path)
{
    bly_info(&f->stat, f->filter);
    about_bytes(&f->stat);
    if (!output_keep())
        return;
    about_json(f->filter, &f->stat, path);
    f->about = output_kept(&f->about_length);
}

typedef struct {
    served_filter *filter;
    const char    *path;
} served_reading;

static void served_open_guarded(void *context)
{
    served_reading *r = context;
    served_filter *f = r->filter;

    f->filter = served_open_file(r->path);
    if (f->filter != NULL && served_follow(f, r->path) != CLI_GO) {
        bly_free(f->filter);
        f->filter = NULL;
    }
    if (f->filter != NULL && served.how.about)
        served_tell(f, r->path);
}

/* Opens a filter. Returns NULL after reporting an error. */
static served_filter *served_read(const char *path)
{
    served_filter *f = calloc(1, sizeof *f);
    served_reading reading = { f, path };
    bool whole;

    if (f == NULL) {
        report_no_memory();
        return NULL;
    }
    f->guard.fd = -1;
    if (!served.how.load)
        guard_open(&f->guard, path);
    whole = guard_run(served_open_guarded, &reading);
    if (!whole) {
        free(output_kept(&f->about_length));
        report_error("'%s' became shorter while it was read: replace it with "
                     "mv, or use --load", path);
    }
    if (whole && f->filter != NULL)
        return f;
    served_free(f);
    return NULL;
}

/* ==== Sets ============================================================== */

static served_set *served_new(size_t n)
{
    served_set *set = calloc(1, sizeof *set + n * sizeof *set->filters);

    if (set == NULL) {
        report_no_memory();
        return NULL;
    }
    set->n = n;
    return set;
}

/* Frees a set without users. The caller holds the lock. */
static void served_drop(served_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->filters[i] != NULL && --set->filters[i]->users == 0)
            served_free(set->filters[i]);
    free(set);
}

const served_set *served_take(void)
{
    served_set *set;

    pthread_mutex_lock(&served.lock);
    set = served.set;
    set->users++;
    pthread_mutex_unlock(&served.lock);
    return set;
}

void served_give(const served_set *given)
{
    served_set *set = (served_set *)(uintptr_t)given;

    pthread_mutex_lock(&served.lock);
    if (--set->users == 0)
        served_drop(set);
    pthread_mutex_unlock(&served.lock);
}

uint64_t served_age(void)
{
    return atomic_load_explicit(&served.age, memory_order_acquire);
}

/* Makes a set the current one. */
static void served_put(served_set *set)
{
    served_set *old;

    pthread_mutex_lock(&served.lock);
    for (size_t i = 0; i < set->n; i++)
        set->filters[i]->users++;
    set->users = 1;
    old = served.set;
    served.set = set;
    if (old != NULL && --old->users == 0)
        served_drop(old);
    atomic_fetch_add_explicit(&served.age, 1, memory_order_release);
    pthread_mutex_unlock(&served.lock);
}

/* Frees a set that contains no filters yet. */
static void served_undo(served_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->filters[i] != NULL && set->filters[i]->users == 0)
            served_free(set->filters[i]);
    free(set);
}

/* ==== From the beginning to the end ===================================== */

static int served_read_all(served_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        served_file *f = &served.files[i];

        f->state = served_look(f->path);
        set->filters[i] = served_read(f->path);
        if (set->filters[i] == NULL)
            return CLI_ERROR;
    }
    return CLI_GO;
}

int served_open(const cli_operands *files, const served_how *how)
{
    served_set *set;

    served.how = *how;
    if (served_put_names(files) != CLI_GO)
        return CLI_ERROR;
    set = served_new(files->count);
    if (set == NULL)
        return CLI_ERROR;
    if (served_read_all(set) != CLI_GO) {
        served_undo(set);
        return CLI_ERROR;
    }
    served_put(set);
    return CLI_GO;
}

void served_close(void)
{
    if (served.set != NULL)
        served_give(served.set);
    free(served.files);
    free(served.names);
}

/* Returns whether to retry a refused file: memory or descriptors may have run
   short. */
static bool served_is_due(const served_file *file)
{
    return report_clock() - file->refused >= SERVED_AGAIN;
}

/* Opens a file that has been replaced. Returns NULL if the old filter stays. */
static served_filter *served_reread(served_file *file, bool again)
{
    served_state now = served_look(file->path);
    served_filter *f;

    if (served_same(&now, &file->state)
        && !(file->refused > 0 && (again || served_is_due(file))))
        return NULL;
    file->state = now;
    f = now.there ? served_read(file->path) : NULL;
    file->refused = now.there && f == NULL ? report_clock() : 0;
    if (!now.there)
        report_note("'%s' is gone: the old filter is served until a new one "
                    "exists", file->path);
    else if (f == NULL)
        report_note("the old filter of '%s' is served until its file can be "
                    "read again; if the file was overwritten in place, there "
                    "is no old filter: replace it with mv, or use --load",
                    file->path);
    counts_add(f != NULL ? &served_reloads : &served_refusals, 1);
    return f;
}

/* Makes a set in which one filter is replaced. */
static bool served_exchange(size_t i, served_filter *f)
{
    served_set *set = served_new(served.n);

    if (set == NULL) {
        served_free(f);
        served.files[i].state.there = false;    /* so that it is retried */
        return false;
    }
    memcpy(set->filters, served.set->filters, served.n * sizeof *set->filters);
    set->filters[i] = f;
    served_put(set);
    report_note("'%s' was replaced: the new filter is served",
                served.files[i].path);
    return true;
}

bool served_renew(bool again)
{
    bool renewed = false;

    for (size_t i = 0; i < served.n; i++) {
        served_filter *f = served_reread(&served.files[i], again);

        if (f != NULL && served_exchange(i, f))
            renewed = true;
    }
    return renewed;
}
