/* frame.h - what every program of the project needs, whatever it does: errors,
 * output, options, help, lines of text and threads to work on them.
 *
 * Programs stand on floor 8. The frame knows no filter and no program; of
 * <bloomery.h> it has only bly_key, "some bytes", so that a batch of lines can
 * be handed to the library as it is, the forms of keys, bly_progress, and the
 * files that replace others. Other files of programs include it, and what it
 * needs of a program it is told (cli_program).
 *
 * The files, from the bottom up:
 *
 *      report.c    errors, numbers for people, the clock
 *      bytes.c     bytes that wait: come in and not yet looked at, or to go out
 *      output.c    standard output through one buffer, no error lost
 *      numbers.c   ITEMS, RATE, SEED and SEPARATOR as people write them
 *      nearest.c   "did you mean?" for a name that there is not
 *      sort.c      words in rising order
 *      json.c      a JSON writer
 *      progress.c  the line that shows how far a long job is
 *      help.c      a command's option table -> its --help and its man page
 *      completion.c  all tables -> what shells complete
 *      codec.c     what compressed bytes look like, and how they become plain
 *      source.c    a compressed file -> a pipe of what it holds
 *      forms.c     options and filters -> the form of keys; the bytes of a key
 *      records.c   where records of CSV end
 *      members.c   a line that is a JSON object -> the value of a member
 *      keys.c      lines -> their keys
 *      columns.c   the columns that -f lists, by number or by name
 *      options.c   a command's option table -> its settings
 *      git.c       the files of a folder that git knows
 *      inputs.c    operands, lists and folders -> the files to be read
 *      mistakes.c  input that the options probably misread
 *      lines.c     files and stdin -> chunks of lines -> batches of keys
 *      work.c      chunks of lines, worked on by all cores, in order
 *      program.c   a table of subcommands -> a program
 */
#ifndef FRAME_FRAME_H
#define FRAME_FRAME_H

#include <bloomery/fields.h>
#include <bloomery/form.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) \
    __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* Exit statuses, as grep has them; CLI_GO: no reason to stop yet. */
enum { CLI_GO = -1, CLI_OK = 0, CLI_NONE = 1, CLI_ERROR = 2 };

/* ==== report.c ========================================================== */

/* The program that runs; NULL in tests. A message begins with its name and with
 * that of the subcommand at work, unless that is NULL. */
typedef struct cli_program cli_program;
extern const cli_program *program;
extern const char *report_command;

/* Where each line of a message goes, its newline included: to stderr. */
typedef void report_sink(const char *line, size_t length);
extern report_sink *report_to;
void report_write(const char *line, size_t length);

/* Called before stderr is written to, if it is not NULL. */
extern void (*report_before)(void);

/* One line on stderr, "bloomery CMD: …"; returns CLI_ERROR. */
int report_error(const char *format, ...) CLI_PRINTF(1, 2);

/* The name of a file in a message, and the quotes around it. */
typedef struct { const char *quote, *name; } report_shown;
report_shown report_file(const char *path);

/* "cannot VERB 'PATH'", with what errno said and how to mend it, for what is
 * read; returns CLI_ERROR. */
int report_unread(const char *verb, const char *path, int error);

/* Reports that memory is short; returns CLI_ERROR. */
int report_no_memory(void);

/* Is this a terminal that shows colors, whose user wants them? */
bool report_colors(int fd);

/* The same for what is no error. */
void report_note(const char *format, ...) CLI_PRINTF(1, 2);

/* A short text by value, to be used within the expression that asks for it. */
typedef struct { char text[48]; } cli_text;

cli_text report_count(uint64_t n);              /* "104,334"              */
cli_text report_estimate(double x);             /* "104,334", "unknown"   */

/* What the second digit of x counts, 10 for 104; at least 1. */
double report_unit(double x);

/* "104,330 ± 120": x and its standard deviation, of which two digits are told,
 * and x to the same place. */
typedef struct { char text[100]; } cli_spread;
cli_spread report_spread(double x, double sd);

cli_text report_percent(double share);          /* "0.998 %"              */

cli_text report_bytes(uint64_t bytes);          /* "2,048 bytes (2 KiB)"  */
cli_text report_speed(double per_second);       /* "5.21 million keys/s"  */
cli_text report_seconds(double seconds);        /* "21.3 ms", "4.51 s"    */

double report_clock(void);                      /* seconds, monotonic     */

/* What a line without a key lacks ("column"), and what to look at then: in
 * words, and as options. */
typedef struct {
    const char *part, *where, *options;
    bool        expected;       /* options ask for it: no note is needed    */
} report_words;
extern report_words report_lack;

/* So many lines of the last input have no key for a reason that a note gave. */
void report_explain(uint64_t lines);

/* Returns how many of these lines without a key need a note. */
uint64_t report_unexplained(uint64_t lines);

/* Replaces what to look at, the first time it is called. Not thread-safe. */
void report_advise(const char *where);

/* The note about lines without a key, if there were any. */
void report_keyless(uint64_t lines);

/* The same where there is no other line, and the ones without a key are not
 * skipped. */
void report_no_key(uint64_t lines);

/* n / seconds; 0 where no time has passed. */
double report_per_second(uint64_t n, double seconds);

/* ==== bytes.c =========================================================== */

/* A queue in one block: the bytes from `from` to `to`. All zero at first. */
typedef struct {
    unsigned char *data;
    size_t from, to, room;
} cli_bytes;

size_t bytes_waiting(const cli_bytes *b);

/* Room for so many more at the end. False: no memory. */
bool bytes_room(cli_bytes *b, size_t more);
bool bytes_put(cli_bytes *b, const void *from, size_t n);
bool bytes_text(cli_bytes *b, const char *text);
bool bytes_format(cli_bytes *b, const char *format, ...) CLI_PRINTF(2, 3);

/* Makes room for `room` elements of `size` bytes in the array from malloc whose
 * pointer is at `array`. Returns false, with the array as it was, if memory is
 * short. */
bool bytes_grow(void *array, size_t room, size_t size);

/* All that is left to be read there; errno says why not. */
bool bytes_load(cli_bytes *b, int fd);

/* The first n are done with. Where none is left the block is given back: so a
 * client that waits holds nothing. */
void bytes_done(cli_bytes *b, size_t n);
void bytes_free(cli_bytes *b);

/* ==== output.c ========================================================== */

/* Everything for stdout goes through these. False after the first error; what
 * follows it is dropped. output_finish says what went wrong. */
bool output_bytes(const void *data, size_t n);
bool output_text(const char *text);
bool output_format(const char *format, ...) CLI_PRINTF(1, 2);
bool output_flush(void);
bool output_failed(void);

/* Whole lines, the last of which may lack its terminator: then *unended is set,
 * and the next lines are kept apart from it. */
bool output_lines(const void *data, size_t n, char terminator, bool *unended);

/* Is none of these inputs (stdin if there are none) the file that stdout goes
 * to? Lines that are printed to the end of an input would be read again. CLI_GO
 * or CLI_ERROR. */
int output_check_inputs(char *const *paths, size_t n);

/* Do both names lead to one file, as those of an output and an input may? */
bool output_same(const char *a, const char *b);

/* Let a pipe that its reader closes be an error of output until the end, and
 * not the end of the program with its work half done. */
void output_start(void);

/* From here to output_close everything goes to this file, which is then
 * complete or, where `status` is CLI_ERROR, as it was; a device or a pipe is
 * written straight. "-" and NULL are standard output. CLI_GO or CLI_ERROR; the
 * status. */
int output_open(const char *path);
int output_close(int status);

/* From here to output_kept everything goes to memory, for a program that hands
 * it on itself. False: no memory, or output has failed. output_kept: the bytes,
 * from malloc, or NULL: there was too little memory. */
bool output_keep(void);
char *output_kept(size_t *n);

/* Flush and close; returns `status`, or CLI_ERROR where stdout failed. Where it
 * is a pipe without a reader the program dies of SIGPIPE, unless that was
 * ignored when it began. */
int output_finish(int status);

/* ==== numbers.c ========================================================= */

/* Text -> value. NULL: fine; otherwise what is wrong with the text and how to
 * mend it, as the end of a sentence that begins with the text. */
const char *numbers_items(const char *text, uint64_t *out);
const char *numbers_number(const char *text, uint64_t *out);
const char *numbers_rate(const char *text, double *out);
const char *numbers_share(const char *text, double *out);
const char *numbers_size(const char *text, uint64_t *out);
const char *numbers_seed(const char *text, uint64_t *out);
const char *numbers_byte(const char *text, int *out);

/* 16 hexadecimal digits and a NUL. */
void numbers_hex(char text[17], uint64_t value);

/* The same for a number in a file, which does not end in NUL. */
const char *numbers_label(const char *text, size_t length, uint64_t *out);

/* ==== nearest.c ========================================================= */

/* Of the names that are tried the one that is nearest to a word; NULL while
 * none is near. */
typedef struct {
    const char *word, *name;
    size_t      length, distance;
} cli_nearest;

cli_nearest nearest_to(const char *word, size_t length);
void nearest_try(cli_nearest *nearest, const char *name);

/* ==== sort.c ============================================================ */

/* By their bits from `bits` - 1 down to `least`, both multiples of 8; those
 * above are alike. Words that differ below only come in any order. */
void sort_words(uint64_t *words, size_t n, unsigned bits, unsigned least);

/* ==== json.c ============================================================ */

/* Appends a JSON string to `to`. False: no memory. */
bool json_quote(cli_bytes *to, const void *text, size_t n);

/* Write one document at a time to stdout. `key` is NULL inside an array and for
 * the outermost value. */
void json_open_object(const char *key);
void json_close_object(void);
void json_open_array(const char *key);
void json_close_array(void);
void json_string(const char *key, const char *text);    /* NULL -> null    */
void json_count(const char *key, uint64_t n);
void json_real(const char *key, double x);              /* NaN, inf -> null */
void json_bool(const char *key, bool yes);

/* Writes a field: a visitor for <bloomery/fields.h>. Its context is unused. */
bool json_field(void *unused, const bly_field *field);

/* Writes the range of labels, unless `bits` is 0. */
void json_labels(uint32_t bits, uint64_t least, uint64_t most);

/* ==== progress.c ======================================================== */

/* Begins and ends a command's bar. Inside of another one both do nothing. */
void progress_open(const char *what, bool wanted);
void progress_close(void);

/* The share that the next phase takes of what is left of the bar, 0 .. 1;
 * without this it takes all. */
void progress_expect(double share);

/* Begins a phase that reads so many bytes of input, 0 if that is not known or
 * it reads none; outside of a command's bar it is all of one. */
void progress_start(const char *what, uint64_t bytes, bool wanted);
void progress_at(uint64_t bytes);       /* have been read in this phase      */
void progress_share(double share);      /* of this phase that is done, 0 .. 1*/

/* A callback for a call of the library that is a phase; NULL if no bar is
 * shown. */
const bly_progress *progress_library(void);

void progress_erase(void);      /* for report_before */

/* Of commands that print lines while they work: may they show progress too? Not
 * on the terminal that the lines go to, among them. */
bool progress_apart(void);

/* ==== options.c, help.c, completion.c =================================== */

/* What the value of an option is, and the C type it is stored as. */
typedef enum {
    CLI_FLAG,                   /* bool                          */
    CLI_TEXT,                   /* const char *                  */
    CLI_ITEMS,                  /* uint64_t, at least 1          */
    CLI_NUMBER,                 /* the same, where few are meant */
    CLI_RATE,                   /* double, between 0 and 1       */
    CLI_SHARE,                  /* double, 0 .. 1                */
    CLI_SIZE,                   /* uint64_t, bytes, at least 1   */
    CLI_SEED,                   /* uint64_t                      */
    CLI_BYTE,                   /* int, 0 .. 255                 */
    CLI_FORM,                   /* uint64_t, a class of keys     */
    CLI_COLUMN,                 /* cli_columns, of one column    */
    CLI_COLUMNS,                /* cli_columns                   */
    CLI_LIST                    /* cli_operands, one more value each time the
                                   option comes; names from malloc, to be
                                   freed by the command, after an error too */
} cli_type;

typedef struct {
    char        letter;         /* 'k'; 0: it has only the long name       */
    const char *name;           /* "kind"; NULL ends a table               */
    const char *value;          /* "KIND"; NULL: takes no value            */
    cli_type    type;
    size_t      offset;         /* of its place in the command's settings  */
    bool        required;
    const char *help;           /* sentences; printed filled               */
} cli_option;

typedef struct {
    const char *command;        /* NULL ends a table */
    const char *what;
} cli_example;

/* Of what a command writes, for its exit statuses. */
#define CLI_KEPT(file)                                                        \
    "2 after an error; " file " is then as it was before, unless the message " \
    "says that the new one is in its place."

typedef struct cli_command cli_command;
struct cli_command {
    const char        *name;
    const char        *operands;        /* "FILE [KEYS...]"                */
    const char        *summary;         /* one line, no full stop          */
    const char        *text;            /* paragraphs, an empty line apart */
    const cli_option  *options;         /* --help is in all, and not here  */
    const cli_example *examples;
    const char        *status;          /* what the exit status says       */
    bool               shows_progress;  /* of all that it does             */
    int (*run)(const cli_command *self, int argc, char **argv);
};

typedef struct {
    char **names;
    size_t count;
} cli_operands;

/* Read the command line (argv[0] is the subcommand) into `settings`, which
 * holds the defaults. CLI_GO, or the status to exit with. */
int options_read(const cli_command *command, int argc, char **argv,
                 void *settings, cli_operands *operands);

/* An error about the command line that names where help is; CLI_ERROR. */
int options_wrong(const cli_command *command, const char *what);

/* Writes the command line of this process as a shell reads it, with one more
 * option. Returns false, and writes "", if it does not fit the room. */
bool options_again(char *text, size_t room, const char *option);

/* Appends a name to a list that is from malloc. Returns false if memory is
 * short. */
bool options_append(cli_operands *list, char *name);

bool help_text(const cli_command *command);
bool help_roff(const cli_command *command);
bool help_overview(void);
bool help_overview_roff(void);

/* The completion script for "bash", "zsh" or "fish"; false: another shell. */
bool completion_script(const char *shell);

/* ==== program.c ========================================================= */

/* A program that is a table of subcommands. */
struct cli_program {
    const char *name;           /* "bloomery"                              */
    const char *version;        /* of the program's source                 */
    const char *(*library)(void);       /* and of the library it runs with */
    void (*about)(void);        /* what --version --verbose prints, too    */
    const char *summary;        /* one line, no full stop                  */
    const char *text;           /* a paragraph                             */
    const char *first;          /* lines that make a first try             */
    const char *status;
    const cli_example *environment;     /* variables; NULL: it reads none  */
    const cli_example *others;          /* what other programs call a command:
                                           their word, ours; NULL: nothing */
    const cli_example *other_options;   /* the same of long options        */
    const char *own;            /* what files it writes that hold no lines:
                                   "a filter"                              */
    bool (*knows)(const void *bytes, size_t n);     /* by their first bytes */
    const cli_command *const *commands;         /* NULL ends it            */
};

extern const cli_command  program_cmd_help;     /* `help`, for its table   */

/* The whole of main(); the exit status. */
int program_main(const cli_program *p, int argc, char **argv);

/* ==== codec.c =========================================================== */

/* Bytes to take, and room for those to give; both move on. */
typedef struct {
    const unsigned char *in;
    size_t         in_left;
    unsigned char *out;
    size_t         out_left;
} codec_flow;

typedef enum {
    CODEC_GO,                   /* without a move: it lacks input           */
    CODEC_END,                  /* of a member; ready for the next one      */
    CODEC_BAD,
    CODEC_NO_MEMORY
} codec_step;

typedef struct {
    const char *name, *by_hand; /* "gzip", "gzip -dc"                       */
    const char *magic;
    size_t      length;         /* of magic                                 */
    void      *(*open)(void);   /* NULL: it is known, and not read          */
    codec_step (*step)(void *state, codec_flow *flow);
    void       (*close)(void *state);
} codec;

/* Whose first bytes are these? NULL: nobody's, or, with *more, it takes more
 * of them to say. */
const codec *codec_find(const unsigned char *bytes, size_t n, bool *more);

/* Do they begin another member? */
bool codec_follows(const codec *c, const unsigned char *bytes, size_t n);

int codec_number(const codec *c);
const codec *codec_at(int number);

/* ==== source.c ========================================================== */

/* Why a file is refused, where errno has no name for it. */
typedef enum {
    SOURCE_UNREAD = 1,          /* compressed by what is not read here      */
    SOURCE_DAMAGED,
    SOURCE_CUT,                 /* it ends too early                        */
    SOURCE_BEHIND,              /* something else stands behind its end     */
    SOURCE_MEMORY,
    SOURCE_DIVIDED,             /* compressed, and to be read in parts      */
    SOURCE_NUL,                 /* bytes that no text has                   */
    SOURCE_WIDE,                /* UTF-16 or UTF-32                         */
    SOURCE_KNOWN,               /* what the program writes itself           */
    SOURCE_LONG,                /* a line is too long for the memory        */
    SOURCE_RETURNS,             /* CR alone ends lines, to be read in parts */
    SOURCE_TOLD,                /* cli_chunk.why tells                      */
    SOURCE_FAULTS
} source_fault;

/* As a number that lines_refuse takes like an errno; it is negative. */
int source_error(source_fault fault, const codec *c);
source_fault source_fault_of(int error, const codec **c);

typedef struct cli_source cli_source;

/* Have *fd decompressed, of which n bytes have been read already: *fd is then
 * where to read. 0, or why not, an errno or negative: *fd is as it was. */
int source_open(cli_source **out, const codec *c, int *fd, const void *head,
                size_t n);

/* When what source_open gave as *fd has been closed. 0, or what was wrong with
 * the file as far as it was read. */
int source_close(cli_source *source);

/* How many bytes of the file it has read, so far. Thread-safe. */
size_t source_taken(const cli_source *source);

/* ==== columns.c ========================================================= */

enum { COLUMNS_MOST = 64 };

/* Columns in the order in which they are wanted. */
typedef struct {
    size_t   n;                 /* 0: none                                  */
    bool     named;             /* some of them by names                    */
    uint64_t numbers[COLUMNS_MOST];     /* from 1 on; 0: it has a name      */
    bly_key  names[COLUMNS_MOST];
} cli_columns;

/* "2,3", "2-4", "email,name" -> columns; as numbers.c has it. */
const char *columns_read(const char *text, cli_columns *out);
const char *columns_read_one(const char *text, cli_columns *out);

/* Returns whether some columns have numbers and others have names. */
bool columns_mixed(const cli_columns *columns);

/* ==== forms.c =========================================================== */

typedef struct cli_how cli_how;

/* Reads the name of a class, BLY_KEYS_…, with the result of numbers.c. */
const char *forms_read(const char *text, uint64_t *out);

/* The value of `as` without --as. */
#define FORMS_UNSAID UINT64_MAX

/* Returns the text of a form, for messages. */
cli_text forms_name(uint64_t form);

/* Chooses the form for a new filter, or without a filter, from the options. */
void forms_choose(cli_how *how);

/* Verifies that keys of the form can be made. CLI_GO, or CLI_ERROR: the library
 * was built without what it takes. */
int forms_can(uint64_t form);

/* Chooses the form for querying or changing the filter in the file `path`,
 * whose keys have `form`: that form or, if it is not stated, the form from the
 * options. CLI_GO; CLI_ERROR if an option contradicts the form. */
int forms_follow(cli_how *how, uint64_t form, const char *path);

/* Merges the form of the file `other` into *into, the form of the file `path`.
 * With `assume`, a form that is not stated counts as the other one. CLI_GO;
 * CLI_ERROR if the forms differ. */
int forms_join(uint64_t *into, const char *path, uint64_t form,
               const char *other, bool assume);

#define CLI_ASSUME_OPTION(settings, assume)                                   \
    { 0, "assume-form", NULL, CLI_FLAG, offsetof(settings, assume), false,    \
      "Assume that a filter that does not state the form of its keys has the "\
      "form of the other filters. Without it, such a filter can be used only "\
      "with others that state none." }

/* Returns what to check if lines cannot be read by the form. */
const char *forms_advice(uint64_t form);

/* Returns whether the form changes the bytes of a text. */
bool forms_changes(uint64_t form);

/* Returns the most bytes of a key per byte of its line and line ending. */
size_t forms_times(uint64_t form);

/* Makes the key of a written value, at `to` or in place. The data of the result
 * is NULL if the value cannot be read by the form. */
bly_key forms_key(uint64_t form, bly_key written, unsigned char *to);

/* The n bytes with A to Z as a to z; `to` may be `from`. */
void forms_fold(unsigned char *to, const unsigned char *from, size_t n);

/* A number as 8 bytes, the least first, and back. */
void forms_store(unsigned char to[8], uint64_t value);
uint64_t forms_load(const unsigned char from[8]);

/* ==== lines.c =========================================================== */

/* Files that came from folders (inputs.c). */
typedef struct cli_found cli_found;

/* How a line holds its key. */
struct cli_how {
    bool     null;              /* lines end with NUL, not newline          */
    bool     crlf, keep_cr;     /* what was said of a CR before the newline */
    bool     trim;              /* blanks and TABs around the key are no part
                                   of it                                    */
    bool     lower, upper;      /* its letters change their case            */
    bool     unicode;           /* with `lower`: as Unicode folds case      */
    uint64_t as;                /* the class that was said, or FORMS_UNSAID */
    uint64_t form;              /* what keys are made by (forms_choose)     */
    bool     stated;            /* the filter states, or will state, it     */
    bool     cut_cr;            /* a CR before the newline is cut off       */
    bool     bare;              /* the lines are --key values, which keep a
                                   CR at their end                          */
    bool     skip_blank;        /* lines of blanks and TABs have no key     */
    const char *comment;        /* it and what follows it are no part of a
                                   line; NULL: there are no comments        */
    bool     listing;           /* the keys are added to a filter or a list */
    bool     compressed;        /* compressed bytes are taken as they are   */
    bool     text;              /* other bytes that no text has, too        */
    bool     copy;              /* the files are copies of what has been read:
                                   nothing is looked for in them            */
    bool     csv;               /* columns may be quoted, as in RFC 4180    */
    bool     tsv;               /* they end with TABs                       */
    bool     blanks;            /* they are apart by blanks and TABs        */
    bool     header;            /* the first line names the columns         */
    int      separator;         /* of columns; -1: TAB, or of CSV a comma   */
    cli_columns field;          /* the key; none: the line, or what is
                                   beside the label                         */
    cli_columns label;          /* one column at most                       */
    bly_key  given;             /* the lines themselves; NULL: in the files */
    const cli_found *found;     /* those of the files that are skipped if they
                                   are no text; NULL: there is none         */
    const char *member;         /* lines are JSON objects, and the key is
                                   the value of this member; NULL: not      */
    bool     trust;             /* they are JSON: not all of it is read     */
    const char *lacks;          /* the advice if a header lacks a column in
                                   `field`, or NULL                         */
};

/* All options unsaid. */
#define CLI_HOW_UNSAID { .separator = -1, .as = FORMS_UNSAID }

#define CLI_HOW_OPTIONS(settings, how)                                        \
    { '0', "null", NULL, CLI_FLAG, offsetof(settings, how.null), false,       \
      "Lines end with a NUL byte instead of a newline." },                    \
    { 'f', "field", "LIST", CLI_COLUMNS, offsetof(settings, how.field),       \
      false, "The key is these columns of the line, counted from 1: 2, or "   \
      "2,3, or 2-4, or their names in the header, email,name; a name with a " \
      "comma, or of digits, in quotes: '\"2019\",\"last, first\"'. Of several "\
      "it is the line that they would make, in this order. Without it the "   \
      "whole line is the key." },                                             \
    { 't', "separator", "C", CLI_BYTE, offsetof(settings, how.separator),     \
      false, "The byte between columns, for -f: a single byte, or one of "    \
      "\\t \\n \\r \\0 \\\\ \\xHH. Default: TAB; with --csv a comma." },     \
    { 0, "csv", NULL, CLI_FLAG, offsetof(settings, how.csv), false,           \
      "Columns may be in quotes, as RFC 4180 has it: separators and newlines "\
      "within quotes are part of the column, the quotes are not, and a CR "   \
      "before the newline is no part of the line. A key without -f is the "   \
      "whole record, with its quotes." },                                     \
    { 0, "tsv", NULL, CLI_FLAG, offsetof(settings, how.tsv), false,           \
      "Columns end with TABs, and quotes are bytes like others." },           \
    { 0, "blanks", NULL, CLI_FLAG, offsetof(settings, how.blanks), false,     \
      "Columns are apart by runs of blanks and TABs, and those at the start " \
      "of the line do not count, as in awk." },                               \
    { 0, "header", NULL, CLI_FLAG, offsetof(settings, how.header), false,     \
      "The first line of each file names the columns: it is no key. Where "   \
      "lines are printed that of the first file comes first. A name in -f "   \
      "implies it." },                                                        \
    { 0, "json-field", "NAME", CLI_TEXT, offsetof(settings, how.member),      \
      false, "Lines are JSON objects, and the key is the value of the member " \
      "NAME: of a string what it stands for, of a number its text as it is " \
      "written, and true or false. A line has no key where this is null, an " \
      "object or an array, or is not there. A NAME that begins with / is a " \
      "JSON pointer, such as /user/id or /tags/0. Of members with the same " \
      "name the last one counts. A line that is not a JSON object, or has "    \
      "more than 1,024 objects and arrays within each other, has no key; a "  \
      "note reports how many there are." },                                   \
    { 0, "trust-json", NULL, CLI_FLAG, offsetof(settings, how.trust), false,  \
      "With --json-field: do not verify the values of other members. The "    \
      "result is the same if all lines are JSON, and reading them takes "     \
      "almost half the time." },                                              \
    { 0, "keep-cr", NULL, CLI_FLAG, offsetof(settings, how.keep_cr), false,   \
      "In lines that end with CR LF, as in files from Windows, the CR is part "\
      "of the key. Without this option it is not, and in a file without a "    \
      "newline a CR alone ends a line." },                                     \
    { 0, "crlf", NULL, CLI_FLAG, offsetof(settings, how.crlf), false,         \
      "In lines that end with CR LF, the CR is not part of the key even if "  \
      "the filter does not state the form of its keys. Without this option "  \
      "it then is, and a note says so." },                                    \
    { 0, "trim", NULL, CLI_FLAG, offsetof(settings, how.trim), false,         \
      "Remove blanks and TABs at both ends of the key; if the key is several "\
      "columns, at both ends of each." },                       \
    { 0, "skip-blank", NULL, CLI_FLAG, offsetof(settings, how.skip_blank),    \
      false, "Empty lines, and lines of blanks and TABs, have no key. Without "\
      "this option an empty line is the empty key." },                         \
    { 0, "comment", "TEXT", CLI_TEXT, offsetof(settings, how.comment), false, \
      "Comments begin with TEXT, such as '#'. A line that begins with it has " \
      "no key, and behind blanks it ends the line before them, as in "        \
      "'host # why'; with --csv only at the start of a line. 'query' prints "  \
      "no line that is skipped, even with -v." },                              \
    { 'i', "ignore-case", NULL, CLI_FLAG, offsetof(settings, how.lower),      \
      false, "In keys the letters A to Z become a to z. Other letters, "      \
      "such as those with an accent, stay as they are without --unicode." },  \
    { 0, "lower", NULL, CLI_FLAG, offsetof(settings, how.lower), false,       \
      "The same as -i." },                                                    \
    { 0, "unicode", NULL, CLI_FLAG, offsetof(settings, how.unicode), false,   \
      "With -i, ignore the case of the letters of all alphabets, by the full " \
      "case folding of Unicode, which also makes 'ss' of the sharp s. Keys "   \
      "must be UTF-8. Only in programs that were built with ICU." },           \
    { 0, "upper", NULL, CLI_FLAG, offsetof(settings, how.upper), false,       \
      "In keys the letters a to z become A to Z, as in lists of hashes that " \
      "are written in upper case." },                                         \
    { 0, "as", "CLASS", CLI_FORM, offsetof(settings, how.as), false,          \
      "The class of the keys. text: the text of the line. number: a number as "\
      "in Python and SQL, where 1.0 is 1. int32, int64, float, double: a "    \
      "number in 4 or 8 bytes, lowest byte first. utf16: text in UTF-16, "    \
      "lower byte first. hex: bytes, written as hexadecimal digits with or "  \
      "without 0x before them. bytes: the bytes of the line. any: text, in a "\
      "filter that does not state the form of its keys. Blanks around "       \
      "numbers and hex digits are ignored, as are blanks, '-' and ':' "       \
      "between the bytes of hex. A line that cannot be read this way has no " \
      "key. A note reports how many there are, and commands that query a "    \
      "filter then exit with status 2. Default: text, or the class that the " \
      "filter states." },                                                     \
    { 0, "no-decompress", NULL, CLI_FLAG, offsetof(settings, how.compressed), \
      false, "Take the bytes of compressed files as they are. Without it "    \
      "what gzip, zstd, xz, bzip2 and lz4 wrote, known by its first bytes, "  \
      "is decompressed." },                                                   \
    { 0, "text", NULL, CLI_FLAG, offsetof(settings, how.text), false,         \
      "Take for lines also what does not look like text: NULs in the first "  \
      "32 KiB, UTF-16, filters. A byte order mark of UTF-8 at the start of a " \
      "file is skipped even so." }

#define CLI_LABEL_OPTION(settings, how, unless)                               \
    { 'l', "label", "COLUMN", CLI_COLUMN, offsetof(settings, how.label),      \
      false, "This column, a number or a name, is the label of the key, "     \
      "which is a whole number such as 42 or 0x2a. "                          \
      "Without -f the key is then all that stands before this column, or, "   \
      "where it is the first one, all behind it. " unless }

/* Check that the options fit each other, and choose by them how keys are made
 * (forms_choose). CLI_GO or CLI_ERROR. */
int lines_how_check(const cli_command *command, cli_how *how);

/* The part of it about --json-field, for commands of two inputs. */
int lines_member_check(const cli_command *command, const cli_how *how);

/* Check that there is a filter to ask, the first operand, and that it and the
 * keys, the others, do not both come from stdin. CLI_GO or CLI_ERROR. */
int lines_asked_check(const cli_command *command, const cli_operands *operands);

enum { LINES_MOST = 4096 };     /* lines of a batch */

/* What of a line is its key: all of it, a column between separators, something
 * else, or a member of the JSON object that it is. */
typedef enum {
    LINES_WHOLE, LINES_COLUMNS, LINES_CHANGED, LINES_MEMBERS
} cli_form;

/* What the bytes of CSV so far say of the next one. */
typedef enum {
    RECORDS_START,              /* a column begins with it                  */
    RECORDS_PLAIN,              /* it is in no quotes                       */
    RECORDS_QUOTED,             /* it is in quotes                          */
    RECORDS_CLOSED,             /* they have been closed                    */
    RECORDS_RETURN,             /* and a CR stands behind them              */
    RECORDS_FAULT               /* something else does                      */
} records_state;

typedef struct {
    records_state state;
    int      separator;
    bool     quoted;            /* there was a quote                        */
    bool     stray;             /* and one within an unquoted column        */
    uint64_t lines;             /* newlines, those in quotes too            */
    uint64_t opened;            /* the line of the last quote that opened   */
} cli_records;

/* The input: files in their order, and where reading stands. */
typedef struct {
    cli_how  how;
    bool     keep;              /* lines without a key are in batches too  */
    char   **paths;
    char   **names;             /* of them, for messages; NULL: themselves */
    const uint64_t *ends;       /* see lines_until; NULL: to their ends    */
    uint64_t left;              /* of this file, up to there               */
    size_t   count, next;
    cli_form form;
    const char *path;           /* of the file being read                  */
    int      fd;
    cli_source *source;         /* what decompresses it, or NULL           */
    bool     fresh;             /* no line of it has been in a chunk       */
    bool     begun;             /* its first bytes have been looked at     */
    size_t   looked;            /* how many of them                        */
    bool     headed;            /* and its header                          */
    bool     settled;           /* it is known what ends its lines:        */
    bool     returns;           /* a CR, which is replaced by a newline    */
    uint64_t bytes;             /* read so far                             */
    cli_records records;        /* of this file, as far as it was read     */
    uint64_t before;            /* lines of it before the next chunk, as
                                   cli_chunk has them                      */
    uint64_t field[COLUMNS_MOST], label;    /* their numbers in this file  */
    bool     alike;             /* all headers must be like the first      */
    const char *title;          /* see lines_print_header; NULL: it is not
                                   printed                                 */
    bool     titled;            /* it has been                             */
    unsigned char *first;       /* the header of the first file            */
    size_t   first_length;
    unsigned char *rest;        /* of an unfinished line                   */
    size_t   rest_length, rest_capacity;
    uint64_t passed;            /* lines of this file in earlier chunks    */
    uint64_t strange;           /* lines so far that are no JSON object    */
    uint64_t first_strange;     /* of them, its number in its file         */
    const char *strange_path;   /* and that file                           */
} cli_lines;

/* What a note reports about the first lines of a file (mistakes.c). */
typedef enum {
    MISTAKE_NONE,
    MISTAKE_CR_LF,              /* keys end with CR                         */
    MISTAKE_CR,                 /* lines ended with CR alone                */
    MISTAKE_WITHIN,             /* the first line has a CR within it        */
    MISTAKE_COMMENT,            /* the first key begins with #              */
    MISTAKE_QUOTES              /* and columns in quotes, cut at separators */
} cli_mistake;

/* Some whole lines of one file, or why it could not be read; or none, where a
 * header that is to be printed has come and nothing more. Where keys are not
 * found in lines as they are, the block has its capacity twice: such keys lie
 * in the second half, as far from its start as what they are made of from the
 * block's, and are never longer. */
typedef struct {
    unsigned char *block;
    size_t   length, capacity;
    const char *path;
    uint64_t bytes;             /* read up to here, of all files           */
    bool     idle;              /* the next read may wait for input        */
    bool     begins;            /* it is the first one of its file         */
    cli_mistake mistake;        /* in its first lines                      */
    bool     returns;           /* there is a CR that may be cut           */
    bool     quoted;            /* of CSV: there may be quotes in it       */
    bool     stray;             /* and some of them within unquoted columns */
    bool     heads;             /* the first header came right before it   */
    uint64_t before;            /* lines of its file before it: of CSV all,
                                   else the header                         */
    uint64_t field[COLUMNS_MOST], label;    /* if some have names          */
    uint64_t lines;             /* as far as it has been split             */
    uint64_t strange;           /* of them, those that are no JSON object  */
    uint64_t first_strange;     /* its number in the chunk                 */
    int      error;             /* 0: there are lines; else an errno, or
                                   negative (source_error)                 */
    char     why[512];          /* of SOURCE_TOLD; or `advice`             */
    bool     advice;            /* why: what to check in a line that lacks
                                   the member                              */
} cli_chunk;

/* Some lines of a chunk; they point into it. */
typedef struct {
    bly_key  keys[LINES_MOST];  /* where kept: data NULL if there is none  */
    bly_key  labels[LINES_MOST];/* if there is a column for them           */
    bly_key  lines[LINES_MOST]; /* whole lines, with their end if any      */
    size_t   ends[LINES_MOST];
    size_t   n;
    uint64_t keyless;           /* lines without such columns              */
    bool     skips;             /* some of them are blank, or comments:    */
    bool     skipped[LINES_MOST];
} cli_batch;

/* The files `operands` from number `first` on; stdin if there are none. */
void lines_open(cli_lines *lines, const cli_how *how,
                const cli_operands *operands, size_t first, bool keep);
void lines_close(cli_lines *lines);

/* Read file i up to its byte ends[i] only, whatever is behind it. */
void lines_until(cli_lines *lines, const uint64_t *ends);

/* The files are copies of these, which messages name. */
void lines_name(cli_lines *lines, const cli_operands *operands, size_t first);

/* The next chunk, which keeps its block from call to call. False: the end. A
 * file that cannot be read is a chunk with an error; the files after it
 * follow. Not for two threads at once. */
bool lines_next(cli_lines *lines, cli_chunk *chunk);

/* The batch of lines that begins at *at, which moves on. False: none left. */
bool lines_split(const cli_lines *lines, cli_chunk *chunk, size_t *at,
                 cli_batch *batch);

/* Remember which lines of a chunk that has been split are no JSON objects. Once
 * for each chunk, in their order. */
void lines_tally(cli_lines *lines, const cli_chunk *chunk);

/* Say how many lines of the input were no JSON objects, and name the first one;
 * once for each input, however often it is read. */
void lines_note_strange(const cli_lines *lines);

/* Returns whether such a note said that a line has no key of the form. */
bool lines_lost_some(void);

/* Which line of the file these bytes of a chunk belong to, counted from 1, less
 * what lines_counted says of all batches of the chunks before it. */
uint64_t lines_number(const cli_lines *lines, const cli_chunk *chunk,
                      const void *bytes);
uint64_t lines_counted(const cli_lines *lines, const cli_batch *batch);

/* Say why a file could not be read; CLI_ERROR. */
int lines_refuse(const char *path, int error);
int lines_refuse_chunk(const cli_chunk *chunk);

/* All headers must be like the first. */
void lines_same_header(cli_lines *lines);

/* Likewise, and work_run prints the first, behind these words: "count\t". */
void lines_print_header(cli_lines *lines, const char *words);

/* It is time to print it: with this chunk, or, NULL, at the end. False: output
 * has failed. */
bool lines_title(cli_lines *lines, const cli_chunk *chunk);

/* Room for a block of `capacity` bytes, with its second half if there is one,
 * and what keys stand for behind that. */
size_t lines_block(const cli_how *how, size_t capacity);

/* Of an ordinary file that is to be read in parts: 0, or why it cannot be, for
 * lines_refuse. It begins with `skip` bytes that are no part of its lines. */
int lines_look(const cli_lines *lines, const char *path, size_t *skip,
               cli_chunk *about);

/* How many bytes there are to read. CLI_OK: all of it can be read twice;
 * CLI_NONE: it cannot; CLI_ERROR: a file is missing or a folder, and stderr
 * says so. *total is 0 where it is not known, as of compressed files. */
int lines_measure(const cli_lines *lines, uint64_t *total);

/* The same for progress only: 0 where it is not known, and no message. */
uint64_t lines_size(const cli_lines *lines);

/* ==== mistakes.c ======================================================== */

/* Looks at the first lines of a file: sets chunk->mistake. */
void mistakes_look(const cli_lines *lines, cli_chunk *chunk);

/* Prints a note about chunk->mistake, once for each kind. Not thread-safe. */
void mistakes_note(const cli_chunk *chunk);

/* Returns whether the chunk is from a CSV file with columns in quotes, but
 * options cut it at each separator. chunk->why is then the error message. */
bool mistakes_are_columns(const cli_lines *lines, cli_chunk *chunk);

/* ==== records.c ========================================================= */

void records_begin(cli_records *records, int separator);

/* Go on with these bytes: how many of them are up to the last end of a record.
 * It ends at a fault, which is in the line after records->lines. */
size_t records_scan(cli_records *records, const unsigned char *text, size_t n);

/* Of records without a fault: where they end, as long as there is room for 64
 * places more; how many. */
size_t records_ends(int separator, const unsigned char *text, size_t n,
                    size_t *ends, size_t most);

/* The same where each quote opens or closes a column or is doubled. */
size_t records_ends_even(const unsigned char *text, size_t n, size_t *ends,
                         size_t most);

/* ==== members.c ========================================================= */

/* Has a line a key? Not an object: it is also no empty line. */
typedef enum { CLI_MEMBER, CLI_NO_MEMBER, CLI_NO_OBJECT } cli_member;

enum { CLI_MEMBER_PADDING = 64 };

/* What is wrong with the name of a member, as numbers.c says it, or NULL. */
const char *members_wrong(const char *name);

/* Load what members_key needs. False: it is not there, and stderr says so. */
bool members_open(void);

/* What the text of a value that is no object and no array stands for, there or
 * in the room, which is as large, and may be the same place. */
cli_member members_value(const char *text, size_t length, void *room,
                         bly_key *key);

/* Finds the member how->member of a line: a key in the line, or in the room,
 * which is as large as the line. CLI_MEMBER_PADDING bytes behind the line can
 * be read. */
cli_member members_key(const cli_how *how, const unsigned char *line,
                       size_t length, void *room, bly_key *key);

/* Writes what to check in a line that lacks the member how->member, and the
 * members that it has. Returns false if it has none. */
bool members_advise(const cli_how *how, bly_key line, char *text, size_t room);

/* ==== keys.c ============================================================ */

/* The length of a key whose data is NULL, from keys_make: the line cannot be
 * read, or it is skipped as blank or a comment; otherwise 0. */
enum { KEYS_STRANGE = 1, KEYS_SKIPPED = 2 };

/* Returns whether the block of a chunk has a second half for keys, and where in
 * it, past `capacity` bytes of lines, the bytes that keys stand for begin. */
bool keys_two_parts(const cli_how *how);
size_t keys_parts(const cli_how *how, size_t capacity);

/* Returns whether blank lines or comments have no key. */
bool keys_skips(const cli_how *how);

/* Lines of the chunk, without their ends, become their keys; data NULL: the
 * line has none, and is no JSON object, or its key not of the form that is
 * asked for, where the length is KEYS_STRANGE. How
 * many have none. Not for LINES_WHOLE. */
size_t keys_make(const cli_lines *lines, const cli_chunk *chunk, bly_key *keys,
                 bly_key *labels, size_t n);

/* The next column of a line, as it stands there; *at is NULL behind the last.
 * Data NULL: there is none. */
bly_key keys_next(const cli_how *how, const unsigned char **at,
                  const unsigned char *end);

/* What a column says: of one in quotes what is in them. */
bly_key keys_value(const cli_how *how, const cli_chunk *chunk, bly_key column);

/* Find the columns that have names: *field and *label of `lines`. False: one is
 * not there, or not one alone, and `why` says so. */
bool columns_find(cli_lines *lines, const cli_chunk *chunk, bly_key header,
                  const char *file, char *why, size_t room);

/* ==== git.c ============================================================= */

/* The names, from the folder on, of all files in it that git knows or would
 * add, each ended by NUL, and a NUL behind the last. CLI_GO or CLI_ERROR. */
int git_files(cli_bytes *names, const char *folder);

/* ==== inputs.c ========================================================== */

/* What is to be read, beside the operands. */
typedef struct {
    cli_operands keys;          /* of --key; names from malloc              */
    const char  *list;          /* of --files0-from, or NULL                */
    bool         recursive;
    bool         git;           /* of folders what git knows, or would add  */
    cli_operands files;         /* the rest is made by inputs_take: all files
                                   to be read,                              */
    cli_found   *found;         /* those of folders,                        */
    char        *text;          /* and what the list holds, or the keys     */
    size_t       length;
} cli_inputs;

#define CLI_FILES_OPTIONS(settings, inputs)                                   \
    { 0, "files0-from", "FILE", CLI_TEXT, offsetof(settings, inputs.list),    \
      false, "Read the files whose names FILE holds, each ended by NUL, as "  \
      "find -print0 gives them; '-' is standard input." },                    \
    { 'r', "recursive", NULL, CLI_FLAG, offsetof(settings, inputs.recursive), \
      false, "Read all ordinary files under the folders among KEYS, in the "  \
      "order of the bytes of their paths; without KEYS those under '.'. "     \
      "Links in the folders are not followed. Files there that are no text "  \
      "are skipped, and a note says how many." }

#define CLI_KEY_OPTION(settings, inputs)                                      \
    { 0, "key", "KEY", CLI_LIST, offsetof(settings, inputs.keys), false,      \
      "A key itself, instead of files; it may come several times. -f and "    \
      "what else is about columns does not touch it; -i and --trim do, but "  \
      "--trim not if the filter's keys are several columns." }

/* In the order of their bytes, each name once. */
void inputs_sort(cli_operands *list);

/* Put all files to be read into the place of the operands from number `first`
 * on, and what is given into `how`. CLI_GO or CLI_ERROR. */
int inputs_take(const cli_command *command, cli_inputs *in, cli_how *how,
                cli_operands *operands, size_t first);

/* Is standard input among them, or what named them? */
bool inputs_stdin(const cli_inputs *in, const cli_operands *operands,
                  size_t first);

/* If this very name came from a folder, remember that its file was skipped;
 * and was it? */
bool inputs_skip(const cli_found *found, const char *name);
bool inputs_skipped(const cli_found *found, const char *name);

/* Does the command that runs take folders? */
bool inputs_folders(void);

/* Does it take keys on the command line, as --key KEY? */
bool inputs_keys(void);

/* At the end, after an error too: free all, the option's keys as well, and
 * `tell` how many files were skipped. */
void inputs_end(cli_inputs *in, bool tell);

/* ==== work.c ============================================================ */

#define CLI_JOBS_OPTION(settings, jobs)                                       \
    { 'j', "jobs", "N", CLI_NUMBER, offsetof(settings, jobs), false,           \
      "Work with N threads. Default: as many as there are processors." }

/* A chunk of lines on its way through the threads, and room for the work. */
typedef struct {
    const cli_lines *lines;
    cli_chunk  chunk;
    cli_batch *batch;           /* room to split the chunk in              */
    void      *own;             /* the work's own, zero at first           */
    bool       failed;          /* work() said false                       */
} cli_worker;

typedef struct {
    size_t own;                 /* bytes of cli_worker.own                 */
    /* On a chunk of lines, by many threads at once; false: no memory. */
    bool (*work)(void *job, cli_worker *worker);
    /* On each chunk in the order of the input, errors too, by one thread at
     * a time, which may be another one. CLI_GO, or the status to stop with. */
    int  (*commit)(void *job, cli_worker *worker);
    void (*clean)(void *own);   /* or NULL */
} cli_work;

/* Run the work over all lines. CLI_GO: to the end; or why it stopped. */
int work_run(cli_lines *lines, const cli_work *work, void *job, size_t jobs);

/* The number of threads for -j; 0: one for each processor. */
size_t work_jobs(uint64_t wanted);

/* Call loop(argument) in n threads, the caller's one of them, and wait for all.
 * A thread that cannot be had is done without. */
void work_threads(size_t n, void *(*loop)(void *), void *argument);

#endif
