/* outputs.c - writes a file for each input: `bloomery dedup --output-dir`.
 *
 * The output of DIR/a/b.jsonl.gz is FOLDER/DIR/a/b.jsonl.gz, compressed in the
 * same way. It gets its name when it is complete. The journal then gets a line
 * with the identity that the input had before the first one was read:
 *
 *     bloomery dedup 2 | options
 *     output or skipped | size | seconds.nanoseconds of its last change | path
 *
 * When all outputs are complete, it is removed. An input that -r skips, as it
 * is not text, has no output. After an interruption, --resume reads finished
 * inputs again, since their parts must be known, but does not write their
 * outputs. They are the first ones: if an output is gone, or its input changed
 * before the journal had it, this one and all behind it are written again. An
 * input that changed later is an error.
 */
#include "documents/documents.h"
#include "frame/bytes.h"
#include "frame/inputs.h"
#include "frame/output.h"
#include "frame/packer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for a line of the journal, without the path. */
enum { OUTPUTS_LINE = 96 };

static const char outputs_version[] = "bloomery dedup 2 ";

/* ==== Names ============================================================= */

/* Returns the part of the path below the folder: without slashes in front, and
 * without steps to the folder itself. */
static const char *outputs_relative(const char *path)
{
    for (;;) {
        if (path[0] == '/')
            path++;
        else if (path[0] == '.' && path[1] == '/')
            path += 2;
        else
            return path;
    }
}

static bool outputs_has_parent(const char *path)
{
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

/* Returns FOLDER/PATH from malloc, or NULL after reporting an error. */
static char *outputs_name(const char *folder, const char *path)
{
    size_t n = strlen(folder) + strlen(path) + 2;
    char *name = malloc(n);

    if (name == NULL)
        report_no_memory();
    else
        snprintf(name, n, "%s/%s", folder, path);
    return name;
}

static int outputs_make_folder(const char *name)
{
    struct stat about;

    if (mkdir(name, 0777) == 0)
        return CLI_GO;
    if (errno != EEXIST)
        return report_error("cannot create the folder '%s': %s: check it, or "
                            "give another folder as --output-dir", name,
                            strerror(errno));
    if (stat(name, &about) == 0 && S_ISDIR(about.st_mode))
        return CLI_GO;
    return report_error("'%s' is not a folder: give another name as "
                        "--output-dir", name);
}

/* Makes the folders above a file. */
static int outputs_make_folders(char *name)
{
    int status = CLI_GO;

    for (char *slash = strchr(name + 1, '/'); slash != NULL && status == CLI_GO;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = outputs_make_folder(name);
        *slash = '/';
    }
    return status;
}

/* Compressed files that are decompressed while they are read, and cannot be
 * written. */
static bool outputs_is_packed_otherwise(const char *path)
{
    static const char *const endings[] = { ".gz", ".zst", ".xz", ".bz2",
                                           ".lz4" };
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t e = strlen(endings[i]);

        if (n > e && strcmp(path + n - e, endings[i]) == 0)
            return !packer_serves(path);
    }
    return false;
}

/* Compares paths as strcmp does, without repeated slashes and components `.`.
 */
static int outputs_compare_paths(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = *a == '/' ? outputs_relative(a) - 1 : a;
        b = *b == '/' ? outputs_relative(b) - 1 : b;
        if (*a != *b || *a == '\0')
            return (unsigned char)*a - (unsigned char)*b;
    }
}

static int outputs_compare(const void *a, const void *b)
{
    return outputs_compare_paths(*(const char *const *)a,
                                 *(const char *const *)b);
}

/* Refuses two inputs with one output. */
static int outputs_check_names(const cli_operands *files, size_t first)
{
    size_t n = files->count - first;
    const char **names = malloc((n + 1) * sizeof *names);
    int status = CLI_GO;

    if (names == NULL)
        return report_no_memory();
    for (size_t i = 0; i < n; i++)
        names[i] = outputs_relative(files->names[first + i]);
    qsort(names, n, sizeof *names, outputs_compare);
    for (size_t i = 1; i < n && status == CLI_GO; i++)
        if (outputs_compare_paths(names[i - 1], names[i]) == 0)
            status = report_error("two inputs would have the output '%s': "
                                  "leave one out", names[i]);
    free(names);
    return status;
}

/* Returns whether the path is that of the folder or leads into it. */
static bool outputs_is_within(const char *path, const char *folder)
{
    size_t n;

    if ((*path == '/') != (*folder == '/'))
        return false;
    path = outputs_relative(path);
    folder = outputs_relative(folder);
    n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Identifies a file, whatever its name. */
typedef struct {
    dev_t device;
    ino_t number;
} outputs_id;

static int outputs_compare_ids(const void *a, const void *b)
{
    const outputs_id *x = a, *y = b;

    return x->device != y->device ? (x->device > y->device ? 1 : -1)
         : (x->number > y->number) - (x->number < y->number);
}

/* Stores the identities of the inputs and the known files, sorted. Returns
 * their number. Reading reports those that are not there. */
static size_t outputs_list_ids(outputs_id *ids, const cli_operands *files)
{
    struct stat about;
    size_t n = 0;

    for (size_t i = 0; i < files->count; i++)
        if (stat(files->names[i], &about) == 0)
            ids[n++] = (outputs_id){ about.st_dev, about.st_ino };
    qsort(ids, n, sizeof *ids, outputs_compare_ids);
    return n;
}

/* Refuses to replace a file that no earlier run has written, and one of the n
 * that are read. */
static int outputs_check_file(const outputs_want *want, const char *path,
                              const outputs_id *ids, size_t n)
{
    char *name = outputs_name(want->folder, outputs_relative(path));
    int status = CLI_GO;
    struct stat about;
    bool there;

    if (name == NULL)
        return CLI_ERROR;
    there = stat(name, &about) == 0;
    if (there && bsearch(&(outputs_id){ about.st_dev, about.st_ino }, ids, n,
                         sizeof *ids, outputs_compare_ids) != NULL)
        status = report_error("'%s' is both the input and the output: give "
                              "another folder", name);
    else if (there && S_ISDIR(about.st_mode))
        status = report_error("'%s' is a folder, and the output would have its "
                              "name: give another folder as --output-dir",
                              name);
    else if (!want->resume && !want->force && there && about.st_size > 0)
        status = report_error("'%s' exists and is not empty: --resume goes on "
                              "after an interruption, and --force replaces it",
                              name);
    free(name);
    return status;
}

static int outputs_check_files(const outputs_want *want,
                               const cli_operands *files)
{
    outputs_id *ids = malloc((files->count + 1) * sizeof *ids);
    int status = CLI_GO;
    size_t n;

    if (ids == NULL)
        return report_no_memory();
    n = outputs_list_ids(ids, files);
    for (size_t i = want->first; i < files->count && status == CLI_GO; i++)
        status = outputs_check_file(want, files->names[i], ids, n);
    free(ids);
    return status;
}

/* Verifies that each input can have an output. */
static int outputs_check(const outputs_want *want, const cli_operands *files)
{
    static const char no_name[] =
        "--output-dir needs files: standard input has no name for an output";
    const char *folder = want->folder;

    if (files->count == want->first)
        return report_error("%s", no_name);
    for (size_t i = want->first; i < files->count; i++) {
        const char *path = files->names[i];

        if (inputs_is_stdin(path))
            return report_error("%s", no_name);
        if (outputs_has_parent(path))
            return report_error("the output of '%s' would be outside '%s': "
                                "name the input without '..'", path, folder);
        if (outputs_is_packed_otherwise(path))
            return report_error("'%s': compressed output is written as .gz and "
                                ".zst only: decompress this file first", path);
        if (strchr(path, '\n') != NULL)
            return report_error("the journal of --output-dir cannot hold a "
                                "name with a newline: rename the file");
        if (outputs_is_within(path, folder))
            return report_error("'%s' is in the folder of the outputs: give "
                                "another folder", path);
    }
    if (outputs_check_names(files, want->first) != CLI_GO)
        return CLI_ERROR;
    return outputs_check_files(want, files);
}

/* ==== The journal ======================================================= */

static outputs_stamp outputs_take(const char *path)
{
    struct stat about;

    if (stat(path, &about) < 0)
        return (outputs_stamp){ .size = -1 };
    return (outputs_stamp){ about.st_size, about.st_mtim.tv_sec,
                            about.st_mtim.tv_nsec };
}

static void outputs_write(char *to, size_t room, const outputs_stamp *stamp)
{
    snprintf(to, room, "%" PRId64 " %" PRId64 ".%09ld ", stamp->size,
             stamp->seconds, stamp->nanoseconds);
}

bool outputs_identity(char *to, size_t room, const char *path)
{
    outputs_stamp stamp = outputs_take(path);

    outputs_write(to, room, &stamp);
    return stamp.size >= 0;
}

/* Returns whether input number i is as it was before the first was read. */
static bool outputs_holds(const dedup_outputs *o, size_t i)
{
    outputs_stamp was = o->inputs[i].stamp, is = outputs_take(o->paths[i]);

    return is.size >= 0 && is.size == was.size && is.seconds == was.seconds
        && is.nanoseconds == was.nanoseconds;
}

/* Returns whether the output of a path is there. */
static bool outputs_is_there(const dedup_outputs *o, const char *path)
{
    char *name = outputs_name(o->folder, outputs_relative(path));
    bool there = name != NULL && access(name, F_OK) == 0;

    free(name);
    return there;
}

/* Returns the path in a line of the journal; NULL: the interruption cut it. */
static const char *outputs_path(const char *line)
{
    for (int blanks = 0; blanks < 3 && line != NULL; blanks++) {
        line = strchr(line, ' ');
        line += line != NULL;
    }
    return line;
}

/* Writes a line of the journal, without the path. */
static void outputs_line(char *to, size_t room, const outputs_input *input)
{
    size_t n = (size_t)snprintf(to, room, "%s ", input->skipped ? "skipped"
                                                                : "output");

    outputs_write(to + n, room - n, &input->stamp);
}

/* Compares a line of the journal with the next input. If the output is there,
 * and those before it are, the input must be as it was. */
static int outputs_note(dedup_outputs *o, const char *line)
{
    const char *path = outputs_path(line);
    outputs_input *input = &o->inputs[o->noted];
    char identity[OUTPUTS_LINE];
    size_t n;

    if (path == NULL)
        return CLI_GO;
    n = (size_t)(path - line);
    if (o->noted == o->n || strcmp(o->paths[o->noted], path) != 0)
        return report_error("input %zu was '%s' before: give the same files in "
                            "the same order, or start again without --resume",
                            o->noted + 1, path);
    o->noted++;
    input->skipped = strncmp(line, "skipped ", 8) == 0;
    if ((input > o->inputs && !input[-1].done)
        || (!input->skipped && !outputs_is_there(o, path)))
        return CLI_GO;
    outputs_line(identity, sizeof identity, input);
    if (strlen(identity) != n || memcmp(identity, line, n) != 0)
        return report_error("'%s' has changed since it was read: start again "
                            "without --resume", path);
    input->done = true;
    return CLI_GO;
}

/* Refuses to go on without a journal. */
static int outputs_not_begun(const dedup_outputs *o)
{
    size_t there = 0;

    while (there < o->n && outputs_is_there(o, o->paths[there]))
        there++;
    if (there < o->n)
        return report_error("'%s' is not there: nothing was begun in this "
                            "folder, so leave out --resume", o->journal);
    return report_error("all outputs are in '%s', and nothing is left to "
                        "resume: give --force to write them again", o->folder);
}

/* Returns whether the journal is still the file that is locked: a run that ends
 * removes it. */
static bool outputs_is_locked(const dedup_outputs *o)
{
    struct stat held, named;

    return fstat(o->lock, &held) == 0 && stat(o->journal, &named) == 0
        && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* Locks the journal until the end, against another run in the same folder. */
static int outputs_lock(dedup_outputs *o)
{
    o->lock = open(o->journal, O_RDWR | O_CLOEXEC | (o->resumed ? 0 : O_CREAT),
                   0666);
    if (o->lock < 0)
        return errno == ENOENT && o->resumed ? outputs_not_begun(o)
             : report_error("cannot write '%s': %s: check its folder, or give "
                            "another one as --output-dir", o->journal,
                            strerror(errno));
    if ((flock(o->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        && outputs_is_locked(o))
        return CLI_GO;                  /* some systems cannot lock          */
    return report_error("another run writes to '%s': wait for its end, or give "
                        "another folder", o->folder);
}

/* Appends how the earlier run had an option that differs. */
static bool outputs_put_option(cli_bytes *to, const char *then, size_t n,
                               const char *now, size_t m)
{
    size_t shown = strcspn(then, "\t\v"), shown_now = strcspn(now, "\t\v");

    if (shown < n && shown == shown_now && memcmp(then, now, shown) == 0)
        return bytes_text(to, "with another content of ")
            && bytes_put(to, then, shown);
    return n > 0 ? bytes_text(to, "with ") && bytes_put(to, then, shown)
                 : bytes_text(to, "without ")
                   && bytes_put(to, now, m < shown_now ? m : shown_now);
}

/* Refuses other options than those of the earlier run. */
static int outputs_refuse_options(const dedup_outputs *o, const char *then,
                                  const char *now)
{
    cli_bytes text = { .from = 0 };
    bool fits = true;

    while (fits && (*then != '\0' || *now != '\0')) {
        size_t n = strcspn(then, "\t"), m = strcspn(now, "\t");

        if (n != m || memcmp(then, now, n) != 0)
            fits = (text.to == 0 || bytes_text(&text, ", "))
                && outputs_put_option(&text, then, n, now, m);
        then += n + (then[n] != '\0');
        now += m + (now[m] != '\0');
    }
    fits = fits && bytes_put(&text, "", 1);
    if (fits)
        report_error("the outputs in '%s' were made %s: give the same options, "
                     "or start again without --resume", o->folder,
                     (const char *)text.data);
    else
        report_no_memory();
    bytes_free(&text);
    return CLI_ERROR;
}

/* Reads the journal of the interrupted run. A line without its end is that of
 * an output whose name it did not get to note; it is written again. */
static int outputs_resume(dedup_outputs *o, const char *options)
{
    FILE *file = fopen(o->journal, "r");
    char *line = NULL;
    size_t room = 0, version = strlen(outputs_version);
    int status = CLI_GO;
    ssize_t n;

    if (file == NULL)
        return report_error("%s: %s", o->journal, strerror(errno));
    for (size_t i = 0; status == CLI_GO
                       && (n = getline(&line, &room, file)) > 0; i++) {
        if (line[n - 1] != '\n')
            break;
        line[n - 1] = '\0';
        if (i > 0)
            status = outputs_note(o, line);
        else if (strncmp(line, outputs_version, version) != 0)
            status = report_error("'%s' is not a journal of this version of "
                                  "Bloomery: start again without --resume",
                                  o->journal);
        else if (strcmp(line + version, options) != 0)
            status = outputs_refuse_options(o, line + version, options);
    }
    free(line);
    fclose(file);
    return status;
}

static bool outputs_put_line(FILE *file, const dedup_outputs *o, size_t i)
{
    char identity[OUTPUTS_LINE];

    outputs_line(identity, sizeof identity, &o->inputs[i]);
    return fprintf(file, "%s%s\n", identity, o->paths[i]) > 0;
}

static int outputs_close_journal(const dedup_outputs *o, FILE *file, bool fits)
{
    if (file != NULL && fclose(file) != 0)
        fits = false;
    return fits ? CLI_GO : report_error("cannot write '%s': %s", o->journal,
                                        strerror(errno));
}

/* Writes to the journal what is known by now: it is written anew, so that a
 * line that was cut does not stay. */
static int outputs_begin_journal(dedup_outputs *o, const char *options)
{
    FILE *file = fopen(o->journal, "w");
    bool fits = file != NULL
             && fprintf(file, "%s%s\n", outputs_version, options) > 0;

    for (size_t i = 0; fits && i < o->n && o->inputs[i].done; i++)
        fits = outputs_put_line(file, o, i);
    return outputs_close_journal(o, file, fits);
}

/* Appends input i, which has been read. If it has changed since the stamp was
 * taken, its output may lack what was added: the journal ends before it. */
static int outputs_finish_one(dedup_outputs *o, size_t i)
{
    FILE *file;

    o->stale |= !outputs_holds(o, i);
    if (o->stale)
        return CLI_GO;
    file = fopen(o->journal, "a");
    return outputs_close_journal(o, file, file != NULL
                                 && outputs_put_line(file, o, i));
}

/* Checks an input that an earlier run had finished, and that was read again:
 * what was added meanwhile would be in no output. */
static int outputs_check_done(const dedup_outputs *o, size_t i)
{
    return outputs_holds(o, i) ? CLI_GO
         : report_error("'%s' changed while it was read, and its output is "
                        "that of an earlier run: start again without --resume",
                        o->paths[i]);
}

/* ==== Outputs =========================================================== */

int outputs_open(dedup_outputs *o, const outputs_want *want,
                 const cli_operands *files)
{
    int status;

    *o = (dedup_outputs){ .folder = want->folder,
                          .paths = files->names + want->first,
                          .n = files->count - want->first,
                          .found = want->found, .lock = -1,
                          .resumed = want->resume };
    if (outputs_check(want, files) != CLI_GO)
        return CLI_ERROR;
    o->inputs = calloc(o->n + 1, sizeof *o->inputs);
    if (o->inputs == NULL)
        return report_no_memory();
    for (size_t i = 0; i < o->n; i++)
        o->inputs[i].stamp = outputs_take(o->paths[i]);
    o->journal = outputs_name(want->folder, INPUTS_JOURNAL);
    if (o->journal == NULL || outputs_make_folders(o->journal) != CLI_GO)
        return CLI_ERROR;
    status = outputs_lock(o);
    if (status == CLI_GO && want->resume)
        status = outputs_resume(o, want->options);
    return status == CLI_GO ? outputs_begin_journal(o, want->options) : status;
}

/* Ends the output that is open. */
static int outputs_end(dedup_outputs *o, int status)
{

    if (!o->open)
        return status;
    o->open = false;
    status = output_close(status);
    free(o->name);
    o->name = NULL;
    if (status == CLI_ERROR)
        return status;
    if (o->inputs[o->at].done)
        return outputs_check_done(o, o->at) == CLI_GO ? status : CLI_ERROR;
    o->inputs[o->at].made = !o->inputs[o->at].skipped;
    return outputs_finish_one(o, o->at) == CLI_GO ? status : CLI_ERROR;
}

/* Begins the output of the current input, unless it is there or the input is
 * skipped: an input without lines has been read by now. */
static int outputs_begin(dedup_outputs *o)
{
    outputs_input *input = &o->inputs[o->at];

    o->open = true;
    input->skipped = inputs_skipped(o->found, o->paths[o->at]);
    if (input->done || input->skipped) {
        output_drop();
        return CLI_GO;
    }
    o->name = outputs_name(o->folder, outputs_relative(o->paths[o->at]));
    if (o->name == NULL || outputs_make_folders(o->name) != CLI_GO)
        return CLI_ERROR;
    return output_open_packed(o->name);
}

/* Goes on to input `to`; inputs between have empty outputs, or none. */
static int outputs_go(dedup_outputs *o, size_t to)
{
    int status = CLI_GO;

    while (status == CLI_GO && (!o->open || o->at < to)) {
        if (o->open) {
            status = outputs_end(o, CLI_GO);
            o->at++;
        }
        if (status == CLI_GO)
            status = outputs_begin(o);
    }
    return status;
}

int outputs_turn(dedup_outputs *o, const char *path)
{
    size_t to;

    if (o == NULL || (o->open && o->paths[o->at] == path))
        return CLI_GO;
    for (to = o->at; to < o->n && o->paths[to] != path; )
        to++;
    return to < o->n ? outputs_go(o, to) : CLI_GO;
}

int outputs_close(dedup_outputs *o, int status)
{
    if (status != CLI_ERROR && outputs_go(o, o->n - 1) != CLI_GO)
        status = CLI_ERROR;
    if (o->open)
        status = outputs_end(o, status);
    if (status != CLI_ERROR && unlink(o->journal) < 0)
        status = report_error("cannot remove '%s': %s", o->journal,
                              strerror(errno));
    free(o->name);
    free(o->inputs);
    free(o->journal);
    if (o->lock >= 0)
        close(o->lock);
    return status;
}

int outputs_withdraw(dedup_outputs *o)
{
    if (o->open)
        outputs_end(o, CLI_ERROR);
    for (size_t i = 0; i < o->n; i++) {
        char *name = o->inputs[i].made
                   ? outputs_name(o->folder, outputs_relative(o->paths[i]))
                   : NULL;

        if (name != NULL && unlink(name) < 0)
            report_error("cannot remove '%s': %s", name, strerror(errno));
        free(name);
    }
    if (!o->resumed)
        unlink(o->journal);
    return outputs_close(o, CLI_ERROR);
}
