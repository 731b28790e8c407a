/* filter.c - locks and saves filter files, and answers questions about filters.
 *
 * The library saves filters; a command also supports "-" for stdin and stdout,
 * checks the output's location before hours of work, and takes a lock that
 * keeps two `add`s to one file from losing keys. load.c opens filter files.
 */
#include "filters/filters.h"
#include "frame/nearest.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <bloomery/foreign.h>
#include <bloomery/nested.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int filter_how_read(const char *key_file, const char *format,
                    uint64_t unpack_limit)
{
    if (secret_read(key_file) != CLI_GO
        || (format != NULL && format_check(format) != CLI_GO))
        return CLI_ERROR;
    format_how()->format = format;
    format_how()->memory_limit = unpack_limit;
    return CLI_GO;
}

const char *filter_why(void)
{
    return bly_why_in("command");
}

/* Names the option that an error about a secret refers to. */
const char *filter_option(void)
{
    return strstr(bly_why(), " secret") != NULL ? " (--key-file)" : "";
}

int filter_error(void)
{
    return report_error("%s%s", filter_why(), filter_option());
}

bool filter_broken(const bly_info_t *stat)
{
    return stat->planned_rate == 0 && stat->rate > 0;
}

bool filter_knows(const void *bytes, size_t n)
{
    bly_header header;

    return bly_peek(&header, bytes, n) == BLY_OK;
}

bool filter_kind_can(const char *kind, uint64_t ability)
{
    const bly_kind_info *info = bly_kind_find(kind);

    return info != NULL && (info->can & ability) != 0;
}

bool filter_kind_grows(const char *kind)
{
    bly_spec spec = { .capacity = 1 };
    bly_plan_t plan;

    return bly_plan_grown(&plan, kind, &spec, 2) >= 0;
}

bool filter_can(const bly_filter *filter, uint64_t ability)
{
    return (bly_can(filter) & ability) != 0;
}

int filter_cannot(const bly_filter *filter, const char *path,
                  const char *lacks, uint64_t ability)
{
    enum { MOST = 12 };
    char able[400] = "";
    size_t n, used = 0, count = 0;
    const bly_kind_info *const *kinds = bly_kinds(&n);

    for (size_t i = 0; i < n; i++)
        count += (kinds[i]->can & ability) != 0;
    for (size_t i = 0; i < n && used < sizeof able; i++)
        if ((kinds[i]->can & ability) != 0
            && (count <= MOST || strcmp(kinds[i]->tier, "core") == 0))
            used += (size_t)snprintf(able + used, sizeof able - used, "%s%s",
                                     used > 0 ? ", " : "", kinds[i]->name);
    return report_error("'%s' is of kind %s, which %s: the %s that can '%s' "
                        "are %s%s", path, bly_kind_of(filter), lacks,
                        count <= MOST ? "kinds" : "core kinds",
                        bly_ability(ability), able, count <= MOST ? ""
                        : " ('bloomery kinds --all' shows all)");
}

/* Returns whether the word is a kind's alias, which the library accepts where a
 * value is a kind. */
static bool filter_is_alias(const char *word, size_t length)
{
    char name[32] = "";
    const bly_kind_info *info;

    if (length >= sizeof name)
        return false;
    memcpy(name, word, length);
    info = bly_kind_find(name);
    return info != NULL && strcmp(info->name, name) != 0;
}

/* Returns whether a value is misspelled: not one of the names of `range`, such
 * as "power | seeds", but close to one. Numbers are never close. */
static bool filter_value_wrong(const char *range, const char *value,
                               size_t length, char name[32])
{
    cli_nearest nearest = nearest_to(value, length);

    if (strchr(range, '|') == NULL || strspn(value, "0123456789") >= length
        || filter_is_alias(value, length))
        return false;
    for (size_t n; *range != '\0'; range += n + strspn(range + n, " |")) {
        char one[32] = "";

        n = strcspn(range, " |");
        memcpy(one, range, n < sizeof one ? n : sizeof one - 1);
        if (n == length && strncmp(one, value, length) == 0)
            return false;
        nearest_try(&nearest, one);
        if (nearest.name == one) {
            memcpy(name, one, sizeof one);
            nearest.name = name;
        }
    }
    return nearest.name != NULL;
}

/* Checks one "name=value" of a kind's options. Reports misspellings only; the
 * library reports other errors. */
static int filter_option_check(const bly_kind_info *kind, const char *text,
                               size_t length)
{
    const char *sign = memchr(text, '=', length);
    size_t named = sign != NULL ? (size_t)(sign - text) : length;
    cli_nearest nearest = nearest_to(text, named);
    char value[32];

    for (size_t i = 0; kind->options[i] != NULL; i++) {
        const bly_option_info *o = kind->options[i];

        nearest_try(&nearest, o->name);
        if (strlen(o->name) != named || strncmp(o->name, text, named) != 0)
            continue;
        if (sign == NULL || !filter_value_wrong(o->range, sign + 1,
                                                length - named - 1, value))
            return CLI_GO;
        return report_error("kind %s: '%.*s' is not valid: did you mean '%s'? "
                            "%s is %s", kind->name,
                            length < 60 ? (int)length : 60, text, value,
                            o->name, o->range);
    }
    if (nearest.name == NULL)
        return CLI_GO;
    return report_error("kind %s has no option '%.*s': did you mean '%s'? "
                        "'bloomery kinds %s' lists them all", kind->name,
                        named < 40 ? (int)named : 40, text, nearest.name,
                        kind->name);
}

/* Checks all options; the library reports blanks. */
static int filter_options_check(const bly_kind_info *kind, const char *text)
{
    int status = CLI_GO;

    if (strchr(text, ' ') != NULL)
        return CLI_GO;
    for (size_t n; status == CLI_GO && *text != '\0'; text += n) {
        text++;                         /* the colon or a comma */
        n = strcspn(text, ",");
        if (n > 0)
            status = filter_option_check(kind, text, n);
    }
    return status;
}

int filter_hash_check(const char *hash)
{
    static const char *const names[] = { "xxh3", "xxh64", "murmur2", "murmur3",
                                         "fnv1a", "siphash", "identity",
                                         "decimal" };
    cli_nearest nearest;

    if (hash == NULL)
        return CLI_GO;
    nearest = nearest_to(hash, strlen(hash));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        nearest_try(&nearest, names[i]);
    if (nearest.name == NULL || nearest.distance == 0)
        return CLI_GO;
    return report_error("unknown hash function '%s': did you mean '%s'? See -H "
                        "in 'bloomery build --help'", hash, nearest.name);
}

/* Compares with the kinds' names and aliases. */
static void filter_try_kinds(cli_nearest *nearest)
{
    const bly_kind_info *const *kinds = bly_kinds(NULL);

    for (; *kinds != NULL; kinds++) {
        nearest_try(nearest, (*kinds)->name);
        for (const bly_alias_info *const *a = (*kinds)->aliases; *a != NULL;
             a++)
            nearest_try(nearest, (*a)->name);
    }
}

int filter_kind_check(const char *kind)
{
    size_t length = strcspn(kind, ":");
    cli_nearest nearest = nearest_to(kind, length);

    if (bly_kind_find(kind) != NULL)
        return filter_options_check(bly_kind_find(kind), kind + length);
    filter_try_kinds(&nearest);
    length = length < 40 ? length : 40;
    if (nearest.name == NULL)
        return report_error("unknown kind '%.*s': 'bloomery kinds' lists them",
                            (int)length, kind);
    return report_error("unknown kind '%.*s': did you mean '%s'? 'bloomery "
                        "kinds' lists them", (int)length, kind, nearest.name);
}

bool filter_is_file(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool filter_peek(bly_header *header, const char *path)
{
    return filter_is_file(path) && bly_peek_file(header, path) >= 0;
}

/* If one thread adds what all threads have hashed, adding is the bottleneck
 * when it takes longer than reading and hashing a key: in a filter larger than
 * the caches, with scattered probes. Concurrent adds to it cost little more
 * (standard: 90 instead of 72 ns), and two threads took 0.55 to 0.75 of the
 * time of one (12 to 120 MB), but 1.4 times as long at 6 MB. If all probes of a
 * key share a cache line, concurrent adds take several times as long (blocked:
 * 53 instead of 15 ns, split: 75 instead of 12). Eight threads hash faster than
 * one adds to any filter. */
enum { FILTER_SHARERS = 8, FILTER_SHARERS_FAR = 2, FILTER_FAR = 8 << 20 };

bool filter_shares(const char *kind, uint64_t bytes, size_t jobs)
{
    bool far = bytes > FILTER_FAR && !filter_kind_can(kind, BLY_CAN_LOCAL);

    return filter_kind_can(kind, BLY_CAN_SHARE)
        && jobs >= (far ? FILTER_SHARERS_FAR : FILTER_SHARERS);
}

/* Replaces a filter without a form by a copy that states this one. */
static int filter_state_form(bly_filter **filter, uint64_t form)
{
    bly_filter *copy;

    if (bly_form_of(*filter) != BLY_KEYS_UNSTATED || form == BLY_KEYS_UNSTATED)
        return CLI_GO;
    if (bly_copy(&copy, *filter, format_how()) < 0)
        return filter_error();
    bly_free(*filter);
    *filter = copy;
    return bly_form_set(copy, form) < 0 ? filter_error() : CLI_GO;
}

/* Refuses to state for keys of unknown form that they have markers. */
static int filter_no_markers(const bly_filter *a, const char *a_path,
                             const bly_filter *b, const char *b_path)
{
    bool stated = bly_form_of(a) != BLY_KEYS_UNSTATED;
    uint64_t form = bly_form_of(stated ? a : b);

    if (!bly_form_nests(form) || (stated
                                  && bly_form_of(b) != BLY_KEYS_UNSTATED))
        return CLI_GO;
    return report_error("'%s' does not state the form of its keys, and a "
                        "filter with keys of the form %s, such as '%s', finds "
                        "them by markers that it may lack: build it with --as "
                        "%s", stated ? b_path : a_path, forms_name(form).text,
                        stated ? a_path : b_path, forms_name(form).text);
}

int filter_same_form(bly_filter **a, const char *a_path, bly_filter **b,
                     const char *b_path, bool assume)
{
    uint64_t form = bly_form_of(*a);
    int status = filter_no_markers(*a, a_path, *b, b_path);

    if (status == CLI_GO)
        status = forms_join(&form, a_path, bly_form_of(*b), b_path, assume);
    if (status == CLI_GO)
        status = filter_state_form(a, form);
    return status == CLI_GO ? filter_state_form(b, form) : status;
}

bool filter_kind_of_family(const char *kind, const char *family)
{
    const bly_kind_info *info = bly_kind_find(kind);

    return info != NULL && strcmp(info->family, family) == 0;
}

/* Only the hash function `decimal` has both. */
bool filter_numbers(const bly_filter *filter)
{
    return bly_hash(filter, "7", 1) == 7
        && bly_hash(filter, "x", 1) == UINT64_MAX;
}

const char filter_no_number[] =
    "is not a whole number below 2^64 - 1, as the keys of this filter are "
    "(hash decimal): correct the line, or leave it out";

int filter_check_numbers(const bly_filter *filter, const bly_key *keys,
                         size_t n)
{
    if (!filter_numbers(filter))
        return CLI_GO;
    for (size_t i = 0; i < n; i++)
        if (bly_hash(filter, keys[i].data, keys[i].length) == UINT64_MAX)
            return report_error("the key '%.*s' %s",
                                keys[i].length < 40 ? (int)keys[i].length : 40,
                                (const char *)keys[i].data, filter_no_number);
    return CLI_GO;
}

/* ==== Before the work =================================================== */

static const char *filter_folder_advice(int error)
{
    if (error == ENOENT)
        return "create the folder, or choose another path";
    if (error == EACCES)
        return "you cannot create files there: ask its owner for permission "
               "(chmod), or choose another path";
    return "choose another path";
}

/* Checks the parent folder of `path`: "." or all before the last slash. */
static int filter_check_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 1;
    char *folder = malloc(length + 2);
    int error = 0;

    if (folder == NULL)
        return CLI_GO;
    memcpy(folder, slash != NULL ? path : ".", length);
    if (length == 0)
        folder[length++] = '/';
    folder[length] = '\0';
    if (access(folder, W_OK | X_OK) < 0)
        error = errno;
    if (error != 0)
        report_error("cannot write '%s': its folder '%s': %s: %s", path, folder,
                     strerror(error), filter_folder_advice(error));
    free(folder);
    return error == 0 ? CLI_GO : CLI_ERROR;
}

/* Checks the place of an output. Links point elsewhere and devices are written
 * directly, so for these the folder does not matter. */
static int filter_check_place(const char *path)
{
    struct stat about;

    if (path[0] == '\0')
        return report_error("the output has no name: use -o a file name");
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return report_error("'%s' is a folder: name a file in it", path);
    if (lstat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return CLI_GO;
    return filter_check_folder(path);
}

/* Returns whether standard input is this file. */
static bool filter_is_stdin(const struct stat *about)
{
    struct stat input;

    return fstat(STDIN_FILENO, &input) == 0
        && input.st_dev == about->st_dev && input.st_ino == about->st_ino;
}

static int filter_is_both(const char *path, const char *what)
{
    return report_error("'%s' is both the output and %s: name another output",
                        path, what);
}

/* Returns whether it looks like another system's filter. */
static bool filter_foreign(const char *path, uint64_t all)
{
    uint8_t bytes[4096];
    FILE *file = fopen(path, "rb");
    size_t n = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;

    if (file != NULL)
        fclose(file);
    return bly_recognise(bytes, n, all) != NULL;
}

bool filter_is_index(const char *path)
{
    static const char magic[] = { 'b', 'l', 'o', 'o', 'm', 'i', 'd', 'x' };
    char first[sizeof magic];
    struct stat about;
    bool ordinary = stat(path, &about) == 0 && S_ISREG(about.st_mode);
    FILE *file = ordinary ? fopen(path, "re") : NULL;
    bool is = file != NULL && fread(first, sizeof first, 1, file) == 1
           && memcmp(first, magic, sizeof magic) == 0;

    if (file != NULL)
        fclose(file);
    return is;
}

/* Checks that the plain file that is to be replaced is a filter or empty:
 * anything else may be precious. Damaged filters and those of other versions
 * count as filters. */
static int filter_check_old(const char *path, const struct stat *about)
{
    bly_header header;
    bly_status status = about->st_size == 0 ? BLY_OK
                                            : bly_peek_file(&header, path);

    if (status != BLY_EFORMAT && status != BLY_EIO)
        return CLI_GO;
    if (status == BLY_EFORMAT
        && filter_foreign(path, (uint64_t)about->st_size))
        return CLI_GO;
    return report_error("'%s' exists and %s: name another output, or use "
                        "--force to replace it", path, status == BLY_EFORMAT
                        ? "is not a filter" : "cannot be read");
}

/* Checks that the plain file `path` is not an input too. */
static int filter_check_inputs(const char *path, const struct stat *about,
                               const cli_operands *inputs, size_t first)
{
    for (size_t i = first; i < inputs->count; i++)
        if (output_same(path, inputs->names[i])
            || (strcmp(inputs->names[i], "-") == 0 && filter_is_stdin(about)))
            return filter_is_both(path, "a file of keys");
    if (inputs->count <= first && filter_is_stdin(about))
        return filter_is_both(path, "the keys' input");
    if (secret_is_in(path))
        return filter_is_both(path, "the file of the secret");
    return CLI_GO;
}

int filter_check_lines(const char *path, bool force,
                       const cli_operands *inputs)
{
    struct stat about;

    if (path == NULL || strcmp(path, "-") == 0)
        return output_check_inputs(inputs->names, inputs->count);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return filter_check_place(path);
    if (filter_check_inputs(path, &about, inputs, 0) != CLI_GO)
        return CLI_ERROR;
    if (!force && about.st_size > 0)
        return report_error("'%s' exists and is not empty: name another "
                            "output, or use --force to replace it", path);
    return filter_check_place(path);
}

int filter_check_output(const char *path, bool force,
                        const cli_operands *inputs, size_t first)
{
    struct stat about;

    if (strcmp(path, "-") == 0) {
        if (isatty(STDOUT_FILENO))
            return report_error("a filter cannot be printed on a terminal: "
                                "send it to a file or a pipe");
        return CLI_GO;
    }
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return filter_check_place(path);
    if (filter_check_inputs(path, &about, inputs, first) != CLI_GO)
        return CLI_ERROR;
    if (!force && filter_check_old(path, &about) != CLI_GO)
        return CLI_ERROR;
    return filter_check_place(path);
}

/* ==== Save ============================================================== */

/* Reports that the filter from the file `from` cannot be converted. The
 * library's reason names the output. */
static int filter_unsuited(const char *from, const char *path)
{
    const char *why = filter_why();
    size_t length = strlen(path);

    if (strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0)
        why += length + 2;
    return report_error("%s: %s", from, why);
}

/* Reports an error. `from` is NULL if there is nothing to convert. */
static int filter_saved(bly_status status, const char *from, const char *path)
{
    return status == BLY_EUNSUPPORTED && from != NULL
         ? filter_unsuited(from, path)
         : status < 0 ? filter_error() : CLI_OK;
}

/* Writes to a pipe what a file would get: by bly_save if `format` is NULL, else
 * by bly_save_as. */
static int filter_send(const bly_filter *filter, const char *from,
                       const char *format)
{
    bool other = format != NULL ? strcmp(format, "bloomery") != 0
               : filter_kind_of_family(bly_kind_of(filter), "foreign");
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    void *packed;
    int status;

    if (!other && !filter_can(filter, BLY_CAN_PACK))
        return output_bytes(image, bytes) ? CLI_OK : CLI_ERROR;
    packed = malloc(bytes);
    if (packed == NULL)
        return report_error("out of memory: save the filter to a file");
    status = filter_saved(other ? bly_pack_as(filter, format, packed, bytes,
                                              &bytes)
                                : bly_pack(filter, packed, bytes, &bytes),
                          from, "-");
    if (status == CLI_OK && !output_bytes(packed, bytes))
        status = CLI_ERROR;
    free(packed);
    return status;
}

/* The last phase of a command. */
static bly_status filter_save_by(bly_filter *filter, const char *path,
                                 const char *format)
{
    bly_status status;

    progress_start("save", 0, false);
    bly_progress_set(filter, progress_library());
    status = format == NULL ? bly_save(filter, path)
                            : bly_save_as(filter, path, format);
    bly_progress_set(filter, NULL);
    progress_close();
    return status;
}

/* Saves by bly_save if `format` is NULL, else by bly_save_as. */
static int filter_put(bly_filter *filter, const char *from, const char *path,
                      const char *format)
{
    if (strcmp(path, "-") == 0)
        return filter_send(filter, from, format);
    if (secret_is_in(path))
        return filter_is_both(path, "the file of the secret");
    return filter_saved(filter_save_by(filter, path, format), from, path);
}

int filter_save(bly_filter *filter, const char *path)
{
    return filter_put(filter, NULL, path, NULL);
}

int filter_save_as(bly_filter *filter, const char *from, const char *path,
                   const char *format)
{
    return filter_put(filter, from, path, format);
}

const char *filter_place(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

/* ==== Lock ============================================================== */

/* Some network file systems only lock files open for writing. */
static int filter_lock_once(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int result;

    if (fd < 0)
        return -1;
    do
        result = flock(fd, LOCK_EX);
    while (result < 0 && errno == EINTR);
    if (result < 0 && errno == EBADF) {
        close(fd);
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return -1;
        result = flock(fd, LOCK_EX);
    }
    if (result == 0)
        return fd;
    close(fd);
    return -1;
}

/* Returns whether the name still refers to the locked file; negative, with
 * errno set, if unknown. A missing name may come back. */
static int filter_lock_holds(int fd, const char *path)
{
    struct stat locked, named;

    if (fstat(fd, &locked) < 0)
        return -1;
    if (stat(path, &named) < 0)
        return errno == ENOENT ? 0 : -1;
    return locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

/* The previous holder of the lock may have replaced the file, so the lock only
 * counts if the name still refers to the locked file. If it never does, as on
 * file systems that renumber open files, this gives up. */
int filter_lock(const char *path)
{
    enum { TRIES = 1000 };

    for (int i = 0; i < TRIES; i++) {
        int fd = filter_lock_once(path);
        int holds = fd < 0 ? -1 : filter_lock_holds(fd, path);
        int error = errno;

        if (holds > 0)
            return fd;
        if (fd >= 0)
            close(fd);
        if (holds < 0 && error == ENOENT) {
            report_error("there is no file '%s': make it with 'bloomery build "
                         "-o %s'", path, path);
            return -1;
        }
        if (holds < 0) {
            report_unread("open and lock", path, error);
            return -1;
        }
    }
    report_error("cannot lock '%s': it was replaced %d times meanwhile: try "
                 "again", path, TRIES);
    return -1;
}

int filter_check_lock(int lock, const char *path)
{
    int holds = filter_lock_holds(lock, path);

    if (holds > 0)
        return CLI_OK;
    if (holds < 0)
        return report_unread("examine", path, errno);
    return report_error("'%s' was replaced or removed while this command ran, "
                        "and was left as it is: run the command again, with "
                        "all its keys, on the new file", path);
}

/* ==== Processor ========================================================= */

/* Stores the processor's name, as Linux reports it, or "". */
static void filter_processor(char *name, size_t n)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];

    name[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            snprintf(name, n, "%s", strchr(line, ':') + 1
                                    + (strchr(line, ':')[1] == ' '));
            name[strcspn(name, "\n")] = '\0';
            break;
        }
    if (file != NULL)
        fclose(file);
}

/* Prints where a setting comes from. */
static void filter_setting(const char *variable, const char *in_force,
                           const char *may_be)
{
    const char *value = getenv(variable);

    if (value == NULL || *value == '\0')
        output_format(" (%s is not set)\n", variable);
    else if (strcmp(value, in_force) == 0)
        output_format(" (%s)\n", variable);
    else
        output_format(" (%s=%s is ignored: %s)\n", variable, value, may_be);
}

void filter_about(void)
{
    bly_processor_t how;
    char name[256], ahead[24], near[24];

    bly_processor(&how);
    filter_processor(name, sizeof name);
    if (name[0] != '\0')
        output_format("processor: %s\n", name);
    snprintf(ahead, sizeof ahead, "%" PRIu32, how.ahead);
    snprintf(near, sizeof near, "%" PRIu64, how.near_bytes >> 10);
    output_format("instructions: %s", how.instructions);
    filter_setting("BLY_CPU", how.instructions,
                   "portable, sse2, avx2, avx512 or neon, if the processor has "
                   "it");
    output_format("keys ahead: %s", ahead);
    if (how.ahead_cached != how.ahead)
        output_format(", and %" PRIu32 " up to 8 times near",
                      how.ahead_cached);
    filter_setting("BLY_AHEAD", ahead, "a whole number from 1 to 65536");
    output_format("near: %s KiB", near);
    filter_setting("BLY_NEAR", near, "a whole number of KiB from 1 to 2^30");
}
