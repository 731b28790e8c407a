/* inputs.c - the files to read: operands, lists of names, folders, and keys
 * from the command line.
 *
 * --files0-from adds the names that a file holds, and -r all ordinary files
 * under the folders among the operands, in the order of the bytes of their
 * paths. Links in folders are not followed, so the walk always ends. Threads
 * read the folders of one level after the other, and sort the names in each:
 *
 *      lib/        lib/a/           lib/a/x
 *      lib-x       lib/a-x          lib/a-x       A '/' after the names of
 *                  lib-x            lib-x         folders gives the order of
 *                                                 the paths.
 *
 * Whether a file from a folder is text is known only when it is read (sniff.c):
 * if it is not, it is skipped then, and counted here. Keys from --key are held
 * in memory like the lines of one file.
 */
#include "frame/inputs.h"

#include "frame/bytes.h"
#include "frame/git.h"
#include "frame/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names one after another, each with its NUL and after a byte that says whether
 * its file was skipped. They are looked up by address, so they never move: if a
 * block is full, another one of twice the size is added. */
struct cli_found {
    cli_found *next;            /* those found before                       */
    char      *names;
    size_t     length, room;
};

static char inputs_given[] = "(command line)";

bool inputs_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* ==== Lists that grow =================================================== */

/* Makes room for so many bytes of names. Returns false if memory is short. */
static bool inputs_room(cli_found **found, size_t more)
{
    enum { FIRST = 1 << 12 };
    cli_found *last = *found, *f;
    size_t room = last != NULL ? 2 * last->room : FIRST;

    if (last != NULL && last->room - last->length >= more)
        return true;
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return false;
    f->next = last;
    *found = f;
    f->room = room > more ? room : more;
    f->names = malloc(f->room);
    return f->names != NULL;
}

/* Returns a new name, "folder/name", or "folder" if `name` is NULL, with room
 * for one byte more. Returns NULL if memory is short. */
static char *inputs_name(cli_found **found, const char *folder,
                         const char *name)
{
    size_t n = strlen(folder), m = name != NULL ? strlen(name) : 0;
    char *to;

    if (!inputs_room(found, n + m + 4))
        return NULL;
    to = (*found)->names + (*found)->length;
    (*found)->length += n + m + 4;
    *to++ = '\0';
    memcpy(to, folder, n);
    if (name != NULL && (n == 0 || folder[n - 1] != '/'))
        to[n++] = '/';
    if (m > 0)
        memcpy(to + n, name, m);
    to[n + m] = '\0';
    return to;
}

/* ==== Folders =========================================================== */

static bool inputs_is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Finds the type of an entry, which the folder may state. An entry that may not
 * be examined counts as a file, and is refused when it is read. */
static void inputs_look(const char *path, const struct dirent *entry,
                        bool *file, bool *folder)
{
    struct stat about;
    bool known;

#if defined(DT_UNKNOWN)
    if (entry->d_type != DT_UNKNOWN) {
        *file = entry->d_type == DT_REG;
        *folder = entry->d_type == DT_DIR;
        return;
    }
#endif
    (void)entry;
    known = lstat(path, &about) == 0;
    *file = !known || S_ISREG(about.st_mode);
    *folder = known && S_ISDIR(about.st_mode);
}

static int inputs_compare(const void *a, const void *b)
{
    char *left, *right;

    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return strcmp(left, right);
}

void inputs_sort(cli_operands *list)
{
    size_t n = 1;

    while (n < list->count && strcmp(list->names[n - 1], list->names[n]) < 0)
        n++;
    if (n >= list->count)               /* it is sorted already */
        return;
    qsort(list->names, list->count, sizeof *list->names, inputs_compare);
    n = 0;
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || strcmp(list->names[n - 1], list->names[i]) != 0)
            list->names[n++] = list->names[i];
    list->count = n;
}

/* Returns whether this is the journal of a command. */
static bool inputs_is_journal(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strcmp(slash != NULL ? slash + 1 : path, INPUTS_JOURNAL) == 0;
}

/* Adds an entry of a folder to its list, a folder with a '/'. Entries of other
 * types are left out. */
static bool inputs_entry(cli_found **found, cli_operands *list,
                         const char *folder, const struct dirent *entry)
{
    bool is_file, is_folder;
    char *name;

    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0
        || inputs_is_journal(entry->d_name))
        return true;
    name = inputs_name(found, folder, entry->d_name);
    if (name == NULL)
        return false;
    inputs_look(name, entry, &is_file, &is_folder);
    if (is_folder)
        memcpy(name + strlen(name), "/", 2);
    return (!is_file && !is_folder) || options_append(list, name);
}

/* Lists the entries of a folder, in order. Returns false if memory is short. A
 * folder that cannot be read is listed as a file, and is refused when it is
 * read. */
static bool inputs_read_folder(cli_found **found, cli_operands *list,
                               char *folder)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    bool fine = true;

    if (stream == NULL)
        return options_append(list, folder);
    while (fine && (errno = 0, entry = readdir(stream)) != NULL)
        fine = inputs_entry(found, list, folder, entry);
    if (fine && errno != 0)
        fine = options_append(list, folder);
    closedir(stream);
    inputs_sort(list);
    return fine;
}

/* The folders of one level of a walk. */
typedef struct {
    char          **folders;
    cli_operands   *lists;      /* the entries of each                      */
    size_t          n;
    atomic_size_t   next;       /* folder to read                           */
    atomic_bool     failed;     /* memory is short                          */
    pthread_mutex_t lock;
    cli_found      *found;      /* names that no thread adds to             */
} inputs_level;

/* Takes the names found so far, or returns those that a thread has found. */
static cli_found *inputs_trade(inputs_level *level, cli_found *found)
{
    cli_found *taken = NULL, **last = &level->found;

    pthread_mutex_lock(&level->lock);
    if (found == NULL) {
        taken = level->found;
        level->found = NULL;
    } else {
        while (*last != NULL)
            last = &(*last)->next;
        *last = found;
    }
    pthread_mutex_unlock(&level->lock);
    return taken;
}

static void *inputs_loop(void *argument)
{
    inputs_level *level = argument;
    cli_found *found = inputs_trade(level, NULL);

    for (size_t i; (i = level->next++) < level->n && !level->failed; ) {
        char *folder = level->folders[i];

        folder[strlen(folder) - 1] = '\0';          /* its '/' */
        if (!inputs_read_folder(&found, &level->lists[i], folder))
            level->failed = true;
    }
    if (found != NULL)
        (void)inputs_trade(level, found);
    return NULL;
}

/* Replaces the folders of a list, which end in '/', by their entries. */
static bool inputs_splice(cli_operands *list, const inputs_level *level)
{
    cli_operands all = { NULL, 0 };
    size_t n = list->count, at = 0;

    for (size_t i = 0; i < level->n; i++)
        n += level->lists[i].count;
    all.names = malloc((n + 1) * sizeof *all.names);
    for (size_t i = 0; i < list->count && all.names != NULL; i++)
        if (at < level->n && list->names[i] == level->folders[at]) {
            const cli_operands *in = &level->lists[at++];

            for (size_t j = 0; j < in->count; j++)
                all.names[all.count++] = in->names[j];
        } else
            all.names[all.count++] = list->names[i];
    if (all.names == NULL)
        return false;
    free(list->names);
    *list = all;
    return true;
}

/* Reads all folders of a list. *deeper: there is one. Returns false if memory
 * is short. */
static bool inputs_read_level(cli_inputs *in, cli_operands *list, bool *deeper)
{
    inputs_level level = { .folders = malloc((list->count + 1)
                                             * sizeof *level.folders),
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .found = in->found };
    size_t threads;

    for (size_t i = 0; i < list->count && level.folders != NULL; i++)
        if (list->names[i][strlen(list->names[i]) - 1] == '/')
            level.folders[level.n++] = list->names[i];
    *deeper = level.n > 0;
    level.lists = calloc(level.n + 1, sizeof *level.lists);
    level.failed = level.folders == NULL || level.lists == NULL;
    threads = level.n < in->jobs ? level.n : in->jobs;
    if (threads > 1 && in->threads != NULL)
        in->threads(threads, inputs_loop, &level);
    else
        inputs_loop(&level);
    in->found = level.found;
    if (!level.failed && !inputs_splice(list, &level))
        level.failed = true;
    for (size_t i = 0; i < level.n && level.lists != NULL; i++)
        free(level.lists[i].names);
    free(level.lists);
    free(level.folders);
    return !level.failed;
}

/* Adds all ordinary files under a folder. */
static bool inputs_walk(cli_inputs *in, const char *top)
{
    cli_operands list = { NULL, 0 };
    char *name = inputs_name(&in->found, top, NULL);
    bool fine = name != NULL && inputs_read_folder(&in->found, &list, name);

    for (bool deeper = true; fine && deeper; )
        fine = inputs_read_level(in, &list, &deeper);
    inputs_sort(&list);                 /* if a folder is unreadable */
    for (size_t i = 0; fine && i < list.count; i++)
        fine = options_append(&in->files, list.names[i]);
    free(list.names);
    return fine;
}

/* Adds the existing files under a folder that git knows, or would add. */
static int inputs_ask_git(cli_inputs *in, const char *folder)
{
    cli_bytes names = { .from = 0 };
    int status = git_files(&names, folder);
    const char *at = (const char *)names.data;
    struct stat about;

    for (; status == CLI_GO && *at != '\0'; at += strlen(at) + 1) {
        char *name = inputs_name(&in->found, folder, at);

        if (name == NULL
            || (!inputs_is_journal(name) && lstat(name, &about) == 0
                && S_ISREG(about.st_mode) && !options_append(&in->files, name)))
            status = report_no_memory();
    }
    bytes_free(&names);
    return status;
}

/* Adds an operand or a name from a list. CLI_GO or CLI_ERROR. */
static int inputs_add(cli_inputs *in, char *name)
{
    bool folder = in->recursive && !inputs_is_stdin(name)
               && inputs_is_folder(name);

    if (folder && in->git)
        return inputs_ask_git(in, name);
    return (folder ? inputs_walk(in, name) : options_append(&in->files, name))
         ? CLI_GO : report_no_memory();
}

/* ==== Lists of names ==================================================== */

static int inputs_read_list(cli_inputs *in)
{
    bool is_stdin = inputs_is_stdin(in->list);
    int fd = is_stdin ? STDIN_FILENO : open(in->list, O_RDONLY | O_CLOEXEC);
    cli_bytes names = { .from = 0 };
    bool loaded = fd >= 0 && bytes_load(&names, fd) && bytes_put(&names, "", 1);
    int error = errno;

    in->text = (char *)names.data;
    in->length = loaded ? names.to - 1 : 0;
    if (fd > STDIN_FILENO)
        close(fd);
    return loaded ? CLI_GO
         : report_unread("read the names in", is_stdin ? "standard input"
                                                       : in->list, error);
}

/* Adds name number i of the list. */
static int inputs_check_name(const cli_inputs *in, const char *name, size_t i)
{
    if (name[0] == '\0')
        return report_error("name %s of '%s' is empty: leave it out",
                            report_count(i).text, in->list);
    if (inputs_is_stdin(name) && inputs_is_stdin(in->list))
        return report_error("name %s of standard input is '-', standard input "
                            "itself: give the names in a file",
                            report_count(i).text);
    return CLI_GO;
}

static int inputs_take_list(cli_inputs *in)
{
    int status = inputs_read_list(in);
    size_t i = 1;

    if (status == CLI_GO && in->length > 0
        && memchr(in->text, '\0', in->length) == NULL
        && memchr(in->text, '\n', in->length) != NULL)
        return report_error("the names in '%s' end with a newline, not with "
                            "NUL: use find -print0, or convert them with tr "
                            "'\\n' '\\0'", in->list);
    for (char *at = in->text; status == CLI_GO && at < in->text + in->length;
         at += strlen(at) + 1) {
        status = inputs_check_name(in, at, i++);
        if (status == CLI_GO)
            status = inputs_add(in, at);
    }
    return status;
}

/* ==== Keys ============================================================== */

/* Makes lines of the keys. Options about columns do not apply to them. */
static int inputs_take_keys(cli_inputs *in, cli_how *how)
{
    char end = how->null ? '\0' : '\n';
    size_t n = 0;

    for (size_t i = 0; i < in->keys.count; i++) {
        if (!how->null && strchr(in->keys.names[i], '\n') != NULL)
            return report_error("--key '%.40s' contains a newline, which ends "
                                "a key: use -0 too", in->keys.names[i]);
        n += strlen(in->keys.names[i]) + 1;
    }
    in->text = malloc(n);
    if (in->text == NULL)
        return report_no_memory();
    for (size_t i = 0; i < in->keys.count; i++) {
        size_t length = strlen(in->keys.names[i]);

        memcpy(in->text + in->length, in->keys.names[i], length);
        in->length += length;
        in->text[in->length++] = end;
    }
    *how = (cli_how){ .null = how->null, .crlf = how->crlf,
                      .keep_cr = how->keep_cr, .trim = how->trim,
                      .lower = how->lower, .upper = how->upper,
                      .unicode = how->unicode, .as = how->as,
                      .nests = how->nests, .separator = -1, .bare = true,
                      .given = { in->text, in->length } };
    return options_append(&in->files, inputs_given) ? CLI_GO
                                                    : report_no_memory();
}

/* ==== All of it ========================================================= */

static int inputs_check(const cli_command *command, const cli_inputs *in,
                        size_t operands)
{
    bool keys = in->keys.count > 0;

    if (keys && operands > 0)
        return options_wrong(command, "--key and KEYS cannot be used together: "
                                      "leave one out");
    if (in->list != NULL && operands > 0)
        return options_wrong(command, "--files0-from and KEYS cannot be used "
                                      "together: leave one out");
    return CLI_GO;
}

/* With -r and without operands, '.' is read. */
static int inputs_take_files(cli_inputs *in, const cli_operands *operands,
                             size_t first)
{
    static char here[] = ".";
    int status = operands->count > first ? CLI_GO : inputs_add(in, here);

    for (size_t i = first; i < operands->count && status == CLI_GO; i++)
        status = inputs_add(in, operands->names[i]);
    return status;
}

int inputs_take(const cli_command *command, cli_inputs *in, cli_how *how,
                cli_operands *operands, size_t first)
{
    bool keys = in->keys.count > 0;
    int status = CLI_GO;

    if (operands->count < first
        || (!keys && in->list == NULL && !in->recursive))
        return CLI_GO;
    if (inputs_check(command, in, operands->count - first) != CLI_GO)
        return CLI_ERROR;
    for (size_t i = 0; i < first; i++)
        if (!options_append(&in->files, operands->names[i]))
            return report_no_memory();
    status = keys ? inputs_take_keys(in, how)
           : in->list != NULL ? inputs_take_list(in)
                              : inputs_take_files(in, operands, first);
    if (status != CLI_GO)
        return status;
    if (in->files.count == first)
        return report_error("there are no files to read: %s",
                            in->recursive ? "name a folder that contains files"
                                          : "add names to the list");
    how->found = in->found;
    *operands = in->files;
    return CLI_GO;
}

bool inputs_stdin(const cli_inputs *in, const cli_operands *operands,
                  size_t first)
{
    bool is_stdin = operands->count == first
                 || (in->list != NULL && inputs_is_stdin(in->list));

    for (size_t i = first; i < operands->count; i++)
        is_stdin |= inputs_is_stdin(operands->names[i]);
    return is_stdin;
}

/* Returns whether the running command has this option. */
static bool inputs_has_option(const char *name)
{
    const cli_command *const *c = report_program->commands;
    const cli_option *o;

    while (*c != NULL && report_command != NULL
           && strcmp((*c)->name, report_command) != 0)
        c++;
    if (*c == NULL || report_command == NULL)
        return false;
    for (o = (*c)->options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0)
            return true;
    return false;
}

bool inputs_folders(void)
{
    return inputs_has_option("recursive");
}

bool inputs_keys(void)
{
    return inputs_has_option("key");
}

/* ==== Files that are no text ============================================ */

/* Returns the mark of a name that was found in a folder, or NULL. Only its
 * address counts. */
static char *inputs_mark(const cli_found *f, const char *name)
{
    for (; f != NULL; f = f->next) {
        uintptr_t at = (uintptr_t)name - (uintptr_t)f->names;

        if (at < f->length)
            return f->names + at - 1;
    }
    return NULL;
}

bool inputs_skip(const cli_found *found, const char *name)
{
    char *mark = inputs_mark(found, name);

    if (mark != NULL)
        *mark = 1;
    return mark != NULL;
}

bool inputs_skipped(const cli_found *found, const char *name)
{
    const char *mark = inputs_mark(found, name);

    return mark != NULL && *mark != '\0';
}

static void inputs_tell(const cli_inputs *in)
{
    const char *first = NULL;
    uint64_t skipped = 0;

    for (size_t i = 0; i < in->files.count; i++)
        if (inputs_skipped(in->found, in->files.names[i]) && skipped++ == 0)
            first = in->files.names[i];
    if (skipped > 0)
        report_note("note: %s %s not text and %s skipped, %s'%s' (use --text "
                    "to read %s bytes as lines)", report_count(skipped).text,
                    skipped == 1 ? "file is" : "files are",
                    skipped == 1 ? "was" : "were",
                    skipped == 1 ? "" : "first ", first,
                    skipped == 1 ? "its" : "their");
}

void inputs_end(cli_inputs *in, bool tell)
{
    if (tell)
        inputs_tell(in);
    while (in->found != NULL) {
        cli_found *next = in->found->next;

        free(in->found->names);
        free(in->found);
        in->found = next;
    }
    free(in->text);
    free(in->files.names);
    free(in->keys.names);
    *in = (cli_inputs){ .list = NULL };
}
