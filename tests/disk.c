/* disk.c - a simulated disk that loses power: records, intercepted calls, and
 * states.
 *
 * Flushes are only recorded; nothing is really flushed.
 */
#include "disk.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "wrap.h"

enum {
    DISK_PAGE = 4096, DISK_SECTOR = 512,
    DISK_FILES = 8, DISK_NUMBERS = 1024, DISK_MAPS = 4,
    DISK_NAMES = 8, DISK_CHANGES = 6,
    DISK_LENGTHS = 32, DISK_PARTS = 4096,
    /* In a full run: the number of states up to which all are shown; of parts
     * shown alone new and alone old; of states drawn. */
    DISK_FEW = TEST_SANITIZED ? 64 : 1024,
    DISK_MOST = TEST_SANITIZED ? 12 : DISK_PARTS,
    DISK_DRAWS = TEST_SANITIZED ? 20 : 200
};

/* The contents that may be found there, oldest first. */
typedef struct {
    uint8_t (*versions)[DISK_PAGE];
    size_t  n, room;
    bool    lost;                       /* its flush has failed              */
} disk_page;

typedef struct {
    disk_page *pages;
    size_t     n;
    uint64_t   lengths[DISK_LENGTHS];   /* as versions                       */
    size_t     n_lengths;
} disk_file;

typedef struct { char text[160]; } disk_path;
typedef struct { disk_path path; disk_file *file; } disk_name;
typedef struct { disk_name name[DISK_NAMES]; size_t n; } disk_names;

/* A change in a folder: `from` disappears unless it is "", and `to` appears. */
typedef struct { disk_path from, to; disk_file *file; } disk_change;

typedef struct {
    disk_file *file;                    /* NULL: not a file under test …     */
    bool       folder;                  /* … or a folder                     */
    disk_path  path;
} disk_open;

typedef struct {
    const uint8_t *at;                  /* NULL: free                        */
    size_t         n;
    disk_file     *file;
} disk_map;

static struct {
    bool        armed;
    const char *path;
    disk_how    how;
    disk_judge *judge;
    disk_file   files[DISK_FILES];
    size_t      n_files;
    disk_names  names;                  /* that are there for good           */
    disk_change changes[DISK_CHANGES];
    size_t      n_changes;
    disk_open   opened[DISK_NUMBERS];
    disk_map    maps[DISK_MAPS];
    disk_counts counts;
} disk;

/* ---- Files --------------------------------------------------------------- */

static disk_file *disk_new_file(void)
{
    assert_true(disk.n_files < DISK_FILES);
    disk_file *f = &disk.files[disk.n_files++];
    *f = (disk_file){ .n_lengths = 1 };
    return f;
}

static uint64_t disk_length(const disk_file *f)
{
    return f->lengths[f->n_lengths - 1];
}

static void disk_add_length(disk_file *f, uint64_t length)
{
    if (length == disk_length(f))
        return;
    assert_true(length > disk_length(f) && f->n_lengths < DISK_LENGTHS);
    f->lengths[f->n_lengths++] = length;
}

/* Returns true if this made a new version. */
static bool disk_add_version(disk_page *p, const uint8_t *bytes)
{
    p->lost = false;
    if (p->n > 0 && memcmp(p->versions[p->n - 1], bytes, DISK_PAGE) == 0)
        return false;
    if (p->n == p->room) {
        p->room = 2 * p->room + 1;
        p->versions = realloc(p->versions, p->room * sizeof *p->versions);
        assert_non_null(p->versions);
    }
    memcpy(p->versions[p->n++], bytes, DISK_PAGE);
    return true;
}

static disk_page *disk_page_of(disk_file *f, size_t number)
{
    static const uint8_t zeros[DISK_PAGE];
    if (number >= f->n) {
        f->pages = realloc(f->pages, (number + 1) * sizeof *f->pages);
        assert_non_null(f->pages);
    }
    for (; f->n <= number; f->n++) {
        f->pages[f->n] = (disk_page){ .n = 0 };
        disk_add_version(&f->pages[f->n], zeros);
    }
    return &f->pages[number];
}

/* Returns true if anything changed. */
static bool disk_put(disk_file *f, uint64_t at, const uint8_t *from, size_t n)
{
    bool changed = false;
    while (n > 0) {
        uint8_t bytes[DISK_PAGE];
        size_t within = at % DISK_PAGE, some = DISK_PAGE - within;
        disk_page *p = disk_page_of(f, (size_t)(at / DISK_PAGE));
        some = some < n ? some : n;
        memcpy(bytes, p->versions[p->n - 1], DISK_PAGE);
        memcpy(bytes + within, from, some);
        changed |= disk_add_version(p, bytes);
        at += some;
        from += some;
        n -= some;
    }
    return changed;
}

static void disk_write(disk_file *f, uint64_t at, const void *from, size_t n)
{
    disk_put(f, at, from, n);
    if (at + n > disk_length(f))
        disk_add_length(f, at + n);
}

/* The system does not retry a flush, even if it fails. */
static void disk_flush_page(disk_page *p, bool fails)
{
    p->lost |= fails && p->n > 1;
    if (p->lost)
        return;
    memmove(p->versions[0], p->versions[p->n - 1], DISK_PAGE);
    p->n = 1;
}

static void disk_flush_pages(disk_file *f, size_t from, size_t end, bool fails)
{
    for (size_t i = from; i < end && i < f->n; i++)
        disk_flush_page(&f->pages[i], fails);
}

static void disk_flush_file(disk_file *f, bool fails)
{
    disk_flush_pages(f, 0, f->n, fails);
    if (fails)
        return;
    f->lengths[0] = disk_length(f);
    f->n_lengths = 1;
}

/* ---- Names --------------------------------------------------------------- */

static disk_path disk_path_of(const char *text)
{
    disk_path path;
    if (strncmp(text, "./", 2) == 0)
        text += 2;
    int n = snprintf(path.text, sizeof path.text, "%s", text);
    assert_true(n >= 0 && (size_t)n < sizeof path.text);
    return path;
}

static bool disk_same(const disk_path *a, const disk_path *b)
{
    return strcmp(a->text, b->text) == 0;
}

/* Returns the folder with its slash; "" is the working directory. */
static disk_path disk_folder_of(const disk_path *path)
{
    disk_path folder = *path;
    char *slash = strrchr(folder.text, '/');
    *(slash == NULL ? folder.text : slash + 1) = '\0';
    return folder;
}

static disk_name *disk_find(disk_names *names, const disk_path *path)
{
    for (size_t i = 0; i < names->n; i++)
        if (disk_same(&names->name[i].path, path))
            return &names->name[i];
    return NULL;
}

static void disk_change_names(disk_names *names, const disk_change *c)
{
    disk_name *from = disk_find(names, &c->from);
    if (from != NULL)
        *from = names->name[--names->n];
    if (c->to.text[0] == '\0')
        return;
    disk_name *to = disk_find(names, &c->to);
    if (to == NULL) {
        assert_true(names->n < DISK_NAMES);
        to = &names->name[names->n++];
    }
    *to = (disk_name){ c->to, c->file };
}

/* Returns the names after the changes whose bits are set. */
static disk_names disk_names_by(uint64_t changes)
{
    disk_names names = disk.names;
    for (size_t i = 0; i < disk.n_changes; i++)
        if (changes >> i & 1)
            disk_change_names(&names, &disk.changes[i]);
    return names;
}

static disk_file *disk_file_at(const char *text)
{
    disk_path path = disk_path_of(text);
    disk_names names = disk_names_by(UINT64_MAX);
    disk_name *name = disk_find(&names, &path);
    return name != NULL ? name->file : NULL;
}

static void disk_note_change(const char *from, const char *to, disk_file *file)
{
    assert_true(disk.n_changes < DISK_CHANGES);
    disk.changes[disk.n_changes++] = (disk_change){ disk_path_of(from),
                                                    disk_path_of(to), file };
}

static void disk_flush_folder(const disk_path *folder)
{
    size_t left = 0;
    for (size_t i = 0; i < disk.n_changes; i++) {
        disk_change c = disk.changes[i];
        disk_path in = disk_folder_of(c.to.text[0] != '\0' ? &c.to : &c.from);
        if (disk_same(&in, folder))
            disk_change_names(&disk.names, &c);
        else
            disk.changes[left++] = c;
    }
    disk.n_changes = left;
}

/* ---- States -------------------------------------------------------------- */

/* A part that may be found in several versions. */
typedef struct {
    const disk_page *page;              /* NULL: the length                  */
    size_t at, n;                       /* its bytes in the file             */
    size_t versions;
} disk_part;

static struct {
    disk_part  part[DISK_PARTS];
    size_t     choice[DISK_PARTS];
    size_t     n;
    uint8_t   *bytes;
    const disk_file *file;
    disk_state state;
} found;

static void disk_show(void)
{
    uint64_t length = found.file->lengths[0];
    for (size_t i = 0; i < found.n; i++) {
        const disk_part *part = &found.part[i];
        if (part->page == NULL)
            length = found.file->lengths[found.choice[i]];
        else
            memcpy(found.bytes + part->at, part->page->versions[found.choice[i]]
                   + part->at % DISK_PAGE, part->n);
    }
    found.state.bytes = found.bytes;
    found.state.n = (size_t)length;
    disk.counts.states++;
    disk.judge(&found.state);
}

static bool disk_differs(const disk_page *p, size_t from, size_t n)
{
    for (size_t i = 1; i < p->n; i++)
        if (memcmp(p->versions[0] + from, p->versions[i] + from, n) != 0)
            return true;
    return false;
}

static void disk_add_part(const disk_page *page, size_t at, size_t n,
                          size_t versions)
{
    assert_true(found.n < DISK_PARTS);
    found.part[found.n++] = (disk_part){ page, at, n, versions };
}

/* Lists the parts of a file, all in their flushed version. */
static void disk_divide(const disk_file *f)
{
    size_t each = disk.how.harsh ? DISK_SECTOR : DISK_PAGE;
    uint64_t most = disk_length(f);
    size_t room = ((size_t)most / DISK_PAGE + 1) * DISK_PAGE;
    found.file = f;
    found.n = 0;
    found.bytes = realloc(found.bytes, room);
    assert_non_null(found.bytes);
    memset(found.bytes, 0, room);
    if (f->n_lengths > 1)
        disk_add_part(NULL, 0, 0, f->n_lengths);
    for (size_t i = 0; i < f->n && i * DISK_PAGE < most; i++) {
        const disk_page *p = &f->pages[i];
        memcpy(found.bytes + i * DISK_PAGE, p->versions[0], DISK_PAGE);
        for (size_t at = 0; at < DISK_PAGE; at += each)
            if (disk_differs(p, at, each))
                disk_add_part(p, i * DISK_PAGE + at, each, p->n);
    }
}

static void disk_choose(bool newest)
{
    for (size_t i = 0; i < found.n; i++)
        found.choice[i] = newest ? found.part[i].versions - 1 : 0;
}

/* Returns the number of states, or `most` + 1 if there are more. */
static uint64_t disk_possible(uint64_t most)
{
    uint64_t all = 1;
    for (size_t i = 0; i < found.n && all <= most; i++)
        all *= found.part[i].versions;
    return all <= most ? all : most + 1;
}

static void disk_show_all(void)
{
    size_t i;
    disk_choose(false);
    do {
        disk_show();
        for (i = 0; i < found.n; i++) {
            if (++found.choice[i] < found.part[i].versions)
                break;
            found.choice[i] = 0;
        }
    } while (i < found.n);
}

/* Shows the states with all parts old, or new, except at most one. */
static void disk_show_extremes(bool newest)
{
    size_t most = (size_t)test_work(DISK_MOST, 3, 2);
    size_t step = found.n / most + 1;
    disk_choose(newest);
    disk_show();
    for (size_t i = disk.counts.cuts % step; i < found.n; i += step) {
        size_t kept = found.choice[i];
        found.choice[i] = found.part[i].versions - 1 - kept;
        disk_show();
        found.choice[i] = kept;
    }
}

static void disk_show_some(void)
{
    uint64_t draws = test_work(DISK_DRAWS, 3, 1);
    for (uint64_t draw = 0; draw < draws; draw++) {
        for (size_t i = 0; i < found.n; i++) {
            uint64_t random = test_random(test_seed() ^ disk.counts.states, i);
            found.choice[i] = (size_t)(random % found.part[i].versions);
        }
        disk_show();
    }
}

static void disk_show_file(const disk_file *f)
{
    uint64_t few = test_work(DISK_FEW, 10, 6);
    disk_divide(f);
    if (disk_possible(few) <= few) {
        disk_show_all();
        return;
    }
    disk_show_extremes(false);
    disk_show_extremes(true);
    disk_show_some();
}

/* Shows the states with these names. */
static void disk_show_names(disk_names *names)
{
    disk_path path = disk_path_of(disk.path);
    disk_name *name = disk_find(names, &path);
    found.state = (disk_state){ .there = name != NULL };
    for (size_t i = 0; i < names->n; i++)
        if (&names->name[i] != name)
            found.state.left = names->name[i].path.text;
    if (name != NULL) {
        disk_show_file(name->file);
        return;
    }
    disk.counts.states++;
    disk.judge(&found.state);
}

static void disk_power_off(void)
{
    uint64_t last = disk.how.harsh ? UINT64_C(1) << disk.n_changes
                                   : disk.n_changes + 1;
    int kept = errno;
    disk.armed = false;
    disk.counts.cuts++;
    for (uint64_t i = 0; i < last; i++) {
        uint64_t changes = disk.how.harsh ? i : (UINT64_C(1) << i) - 1;
        disk_names names = disk_names_by(changes);
        disk_show_names(&names);
    }
    disk.armed = true;
    errno = kept;
}

/* Records stores into mapped files since the last call. */
static void disk_look(void)
{
    bool changed = false;
    for (size_t i = 0; i < DISK_MAPS; i++)
        if (disk.maps[i].at != NULL)
            changed |= disk_put(disk.maps[i].file, 0, disk.maps[i].at,
                                disk.maps[i].n);
    if (changed)
        disk_power_off();
}

/* ---- Calls --------------------------------------------------------------- */

static disk_open *disk_opened(int number)
{
    assert_true(number >= 0 && number < DISK_NUMBERS);
    return &disk.opened[number];
}

/* Returns the file with this number, or NULL if it is not under test. */
static disk_file *disk_of(int number)
{
    return disk.armed ? disk_opened(number)->file : NULL;
}

static void disk_note_open(int number, const char *path, int flags)
{
    disk_open *o = disk_opened(number);
    bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    *o = (disk_open){ .folder = !nameless && (flags & O_DIRECTORY) != 0 };
    assert_true((flags & O_TRUNC) == 0);
    if (o->folder)
        o->path = disk_path_of(strcmp(path, ".") == 0 ? "" : path);
    else if (nameless)
        o->file = disk_new_file();
    else
        o->file = disk_file_at(path);
    if (o->file == NULL && (flags & O_CREAT) != 0) {
        o->file = disk_new_file();
        disk_note_change("", path, o->file);
        disk_power_off();
    }
}

static int disk_refuses(int flags)
{
    if ((flags & O_TMPFILE) == O_TMPFILE)
        return disk.how.named ? EOPNOTSUPP : 0;
    return (flags & O_DIRECTORY) != 0 ? disk.how.open_folder : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = wrap_mode(flags, rest);
    va_end(rest);
    int error = disk.armed ? disk_refuses(flags) : 0;
    if (error != 0) {
        errno = error;
        return -1;
    }
    int number = __real_open(path, flags, mode);
    if (disk.armed && number >= 0)
        disk_note_open(number, path, flags);
    return number;
}

WRAP(int, close, int number)
{
    if (disk.armed)
        *disk_opened(number) = (disk_open){ .file = NULL };
    return __real_close(number);
}

WRAP(ssize_t, write, int number, const void *from, size_t n)
{
    ssize_t wrote = __real_write(number, from, n);
    disk_file *f = disk_of(number);
    if (f != NULL && wrote > 0) {
        off_t end = lseek(number, 0, SEEK_CUR);
        disk_write(f, (uint64_t)(end - wrote), from, (size_t)wrote);
        disk_power_off();
    }
    return wrote;
}

WRAP(ssize_t, pwrite, int number, const void *from, size_t n, off_t at)
{
    ssize_t wrote = __real_pwrite(number, from, n, at);
    disk_file *f = disk_of(number);
    if (f != NULL && wrote > 0) {
        disk_write(f, (uint64_t)at, from, (size_t)wrote);
        disk_power_off();
    }
    return wrote;
}

WRAP(int, ftruncate, int number, off_t n)
{
    int result = __real_ftruncate(number, n);
    disk_file *f = disk_of(number);
    if (f != NULL && result == 0) {
        disk_add_length(f, (uint64_t)n);
        disk_power_off();
    }
    return result;
}

static bool disk_flush_fails(void)
{
    bool fails = ++disk.counts.flushes == disk.how.flush_file;
    if (fails)
        errno = EIO;
    return fails;
}

static int disk_flush(int number)
{
    disk_open *o = disk_opened(number);
    bool fails = o->folder ? disk.how.flush_folder != 0 : disk_flush_fails();
    disk_look();
    if (o->folder && !fails)
        disk_flush_folder(&o->path);
    else if (o->file != NULL)
        disk_flush_file(o->file, fails);
    disk_power_off();
    if (o->folder && fails)
        errno = disk.how.flush_folder;
    return fails ? -1 : 0;
}

WRAP(int, fsync, int number)
{
    return disk.armed ? disk_flush(number) : 0;
}

WRAP(int, fdatasync, int number)
{
    return disk.armed ? disk_flush(number) : 0;
}

WRAP(int, syncfs, int number)
{
    (void)number;
    if (!disk.armed)
        return 0;
    disk_look();
    for (size_t i = 0; i < disk.n_files; i++)
        disk_flush_file(&disk.files[i], false);
    disk.names = disk_names_by(UINT64_MAX);
    disk.n_changes = 0;
    disk_power_off();
    return 0;
}

static disk_map *disk_map_of(const void *at)
{
    for (size_t i = 0; i < DISK_MAPS; i++)
        if (disk.maps[i].at == at)
            return &disk.maps[i];
    return NULL;
}

WRAP(void *, mmap, void *at, size_t n, int may, int how, int number, off_t from)
{
    void *mapped = __real_mmap(at, n, may, how, number, from);
    disk_file *f = number >= 0 ? disk_of(number) : NULL;
    if (f != NULL && mapped != MAP_FAILED && (may & PROT_WRITE) != 0) {
        disk_map *map = disk_map_of(NULL);
        assert_true(map != NULL && from == 0 && (how & MAP_SHARED) != 0);
        *map = (disk_map){ mapped, n, f };
    }
    return mapped;
}

WRAP(int, munmap, void *at, size_t n)
{
    disk_map *map = disk.armed ? disk_map_of(at) : NULL;
    if (map != NULL) {
        disk_look();
        map->at = NULL;
    }
    return __real_munmap(at, n);
}

WRAP(int, msync, void *at, size_t n, int flags)
{
    disk_map *map = disk.armed ? disk_map_of(at) : NULL;
    (void)flags;
    if (map == NULL)
        return 0;
    bool fails = disk_flush_fails();
    disk_look();
    disk_flush_pages(map->file, 0, (n + DISK_PAGE - 1) / DISK_PAGE, fails);
    disk_power_off();
    if (fails)
        errno = EIO;
    return fails ? -1 : 0;
}

WRAP(int, linkat, int from, const char *old, int to, const char *new, int how)
{
    static const char numbers[] = "/proc/self/fd/";
    int result = __real_linkat(from, old, to, new, how);
    if (disk.armed && result == 0) {
        assert_int_equal(strncmp(old, numbers, sizeof numbers - 1), 0);
        disk_note_change("", new, disk_of(atoi(old + sizeof numbers - 1)));
        disk_power_off();
    }
    return result;
}

WRAP(int, rename, const char *old, const char *new)
{
    int result = __real_rename(old, new);
    if (disk.armed && result == 0) {
        disk_note_change(old, new, disk_file_at(old));
        disk_power_off();
    }
    return result;
}

WRAP(int, unlink, const char *path)
{
    int result = __real_unlink(path);
    if (disk.armed && result == 0) {
        disk_note_change(path, "", NULL);
        disk_power_off();
    }
    return result;
}

/* Refuses the ring, so that reads arrive as calls. */
int __wrap_io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
int __wrap_io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    (void)entries, (void)ring, (void)flags;
    return -ENOSYS;
}

/* ---- Begin and end ------------------------------------------------------- */

/* Returns the bytes of a file, to be freed, or NULL if it does not exist. */
static uint8_t *disk_read(const char *path, size_t *n)
{
    struct stat about;
    int number = __real_open(path, O_RDONLY);
    if (number < 0)
        return NULL;
    assert_int_equal(fstat(number, &about), 0);
    uint8_t *bytes = malloc((size_t)about.st_size + 1);
    assert_non_null(bytes);
    *n = (size_t)about.st_size;
    assert_true(read(number, bytes, *n) == (ssize_t)*n);
    __real_close(number);
    return bytes;
}

static void disk_has(const char *path)
{
    size_t n = 0;
    uint8_t *bytes = disk_read(path, &n);
    if (bytes == NULL)
        return;
    disk_file *f = disk_new_file();
    disk_write(f, 0, bytes, n);
    disk_flush_file(f, false);
    disk_change_names(&disk.names, &(disk_change){ .to = disk_path_of(path),
                                                   .file = f });
    free(bytes);
}

void disk_begin(const char *path, const disk_how *how, disk_judge *judge)
{
    memset(&disk, 0, sizeof disk);
    disk.path = path;
    disk.how = *how;
    disk.judge = judge;
    disk_has(path);
    disk.armed = true;
}

void disk_cut(void)
{
    if (!disk.armed)
        return;
    disk_look();
    disk_power_off();
}

static void disk_compare(const disk_name *name)
{
    size_t n = 0;
    const disk_file *f = name->file;
    uint8_t *bytes = disk_read(name->path.text, &n);
    assert_non_null(bytes);
    assert_int_equal(n, disk_length(f));
    for (size_t at = 0; at < n; at += DISK_PAGE) {
        const disk_page *p = &f->pages[at / DISK_PAGE];
        assert_memory_equal(bytes + at, p->versions[p->n - 1],
                            n - at < DISK_PAGE ? n - at : DISK_PAGE);
    }
    free(bytes);
}

disk_counts disk_end(void)
{
    disk_names names = disk_names_by(UINT64_MAX);
    disk.armed = false;
    for (size_t i = 0; i < names.n; i++)
        disk_compare(&names.name[i]);
    for (size_t i = 0; i < disk.n_files; i++) {
        for (size_t j = 0; j < disk.files[i].n; j++)
            free(disk.files[i].pages[j].versions);
        free(disk.files[i].pages);
    }
    free(found.bytes);
    found.bytes = NULL;
    return disk.counts;
}
