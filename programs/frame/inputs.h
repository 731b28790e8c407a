/* inputs.h - the files to read: operands, lists of names, folders, and keys
 * from the command line. */
#ifndef FRAME_INPUTS_H
#define FRAME_INPUTS_H

#include "frame/how.h"
#include "frame/tables.h"

#include <stdbool.h>
#include <stddef.h>

/* The options that name input, besides the operands, and what inputs_take makes
 * of them. */
typedef struct {
    cli_operands keys;          /* of --key; names from malloc              */
    const char  *list;          /* of --files0-from, or NULL                */
    bool         recursive;
    bool         git;           /* from folders only files that git knows, or
                                   would add                                */
    size_t       jobs;          /* threads that read folders, started by …  */
    void       (*threads)(size_t n, void *(*loop)(void *), void *argument);
                                /* … work_threads; NULL: the caller's alone */
    cli_operands files;         /* made: all files to read,                 */
    cli_found   *found;         /* those from folders,                      */
    char        *text;          /* and the contents of the list, or the keys */
    size_t       length;
} cli_inputs;

/* The name of the journal in the folder of `dedup --output-dir`. Folders are
 * read without files of this name. */
#define INPUTS_JOURNAL ".bloomery-dedup"

#define CLI_FILES_OPTIONS(settings, inputs)                                   \
    { 0, "files0-from", "FILE", CLI_TEXT, offsetof(settings, inputs.list),    \
      false, "Read the files whose names FILE holds, each ended by a NUL, as "\
      "find -print0 prints them. '-' is standard input.",                     \
      .group = CLI_INPUT },                                                   \
    { 'r', "recursive", NULL, CLI_FLAG, offsetof(settings, inputs.recursive), \
      false, "Read all files under the folders among KEYS, or under '.'. "    \
      "Links are not followed, and files that are not text are skipped with " \
      "a note.",                                                              \
      .group = CLI_INPUT }

#define CLI_KEY_OPTION(settings, inputs)                                      \
    { 0, "key", "KEY", CLI_LIST, offsetof(settings, inputs.keys), false,      \
      "A key itself, instead of files. May be repeated. Options about "       \
      "columns do not apply to it.",                                          \
      .excludes = "files0-from recursive label",                              \
      .group = CLI_INPUT }

/* Returns whether a name stands for standard input: "-". */
bool inputs_is_stdin(const char *path);

/* Sorts the names by their bytes, and keeps each once. */
void inputs_sort(cli_operands *list);

/* Replaces the operands from number `first` on by all files to read, and sets
 * how->given and how->found. CLI_GO or CLI_ERROR. */
int inputs_take(const cli_command *command, cli_inputs *in, cli_how *how,
                cli_operands *operands, size_t first);

/* Returns whether standard input is one of them, or holds their names. */
bool inputs_stdin(const cli_inputs *in, const cli_operands *operands,
                  size_t first);

/* inputs_skip records that the file was skipped, and returns whether this very
 * name came from a folder. inputs_skipped returns whether it was skipped. */
bool inputs_skip(const cli_found *found, const char *name);
bool inputs_skipped(const cli_found *found, const char *name);

/* Return whether the running command reads folders, and keys by --key KEY. */
bool inputs_folders(void);
bool inputs_keys(void);

/* Frees everything, the option's keys as well, and, if `tell`, prints how many
 * files were skipped. Called at the end, after an error too. */
void inputs_end(cli_inputs *in, bool tell);

#endif
