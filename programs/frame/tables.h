/* tables.h - the tables that describe a program: its subcommands, their options
 * and examples.
 *
 * The command line is parsed by these tables (options.c); help, man pages and
 * shell completion are generated from them (help.c, completion.c).
 */
#ifndef FRAME_TABLES_H
#define FRAME_TABLES_H

#include "frame/report.h"

#include <stdbool.h>
#include <stddef.h>

/* The type of an option's value, and the C type that stores it. */
typedef enum {
    CLI_FLAG,                   /* bool                          */
    CLI_TEXT,                   /* const char *                  */
    CLI_ITEMS,                  /* uint64_t, at least 1          */
    CLI_NUMBER,                 /* uint64_t, a small number      */
    CLI_LINES,                  /* uint64_t, 0 included          */
    CLI_RATE,                   /* double, between 0 and 1       */
    CLI_SHARE,                  /* double, 0 to 1 inclusive      */
    CLI_SIZE,                   /* uint64_t, bytes, at least 1   */
    CLI_SEED,                   /* uint64_t                      */
    CLI_BYTE,                   /* int, 0 to 255                 */
    CLI_FORM,                   /* uint64_t, a class of keys     */
    CLI_COLUMN,                 /* cli_columns with one column   */
    CLI_COLUMNS,                /* cli_columns                   */
    CLI_LIST                    /* cli_operands; each use of the option adds a
                                   value. Names are from malloc; the command
                                   frees them, after an error too */
} cli_type;

/* The headings under which --help lists options. The command's own come
 * first. */
typedef enum {
    CLI_OWN, CLI_INPUT, CLI_KEYS, CLI_OUTPUT, CLI_SPEED, CLI_SAFETY, CLI_GROUPS
} cli_group;

/* A row leaves out the columns at its end that it does not use. A letter has
 * one meaning in all subcommands, except in `search`, which has grep's. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
typedef struct {
    char        letter;         /* 'k'; 0: it has only the long name       */
    const char *name;           /* "kind"; NULL ends a table               */
    const char *value;          /* "KIND"; NULL: takes no value            */
    cli_type    type;
    size_t      offset;         /* in the command's settings              */
    bool        required;
    const char *help;           /* sentences; help wraps them              */
    /* Names with blanks between them; names that the command does not have
     * count for nothing. It is enough if one of two options excludes the
     * other. */
    const char *excludes;       /* "csv tsv": not together with any        */
    const char *needs;          /* "field label": only with at least one   */
    cli_group   group;
} cli_option;

typedef struct {
    const char *command;        /* NULL ends a table */
    const char *what;
} cli_example;

/* The exit status of a command that writes `file`. */
#define CLI_KEPT(file)                                                        \
    "2 after an error; " file " is then unchanged, unless the message says "  \
    "otherwise."

typedef struct cli_command cli_command;
struct cli_command {
    const char        *name;
    const char        *operands;        /* "FILE [KEYS...]"                */
    const char        *summary;         /* one line, no full stop          */
    const char        *caution;         /* sentences that -h and --help show
                                           behind the summary, or NULL     */
    const char        *text;            /* paragraphs, an empty line apart */
    const cli_option  *options;         /* --help is not listed here       */
    const char        *usual;           /* names of the up to eight options
                                           that -h shows, in this order    */
    const cli_example *examples;
    const char        *status;          /* the meaning of exit statuses    */
    bool               shows_progress;  /* in one bar for the whole run    */
    int (*run)(const cli_command *self, int argc, char **argv);
};

typedef struct {
    char **names;
    size_t count;
} cli_operands;

/* A heading in the list of commands, and the first command below it. */
typedef struct {
    const char        *title;           /* NULL ends a table */
    const cli_command *first;
} cli_heading;

/* A piece of a topic: a heading if it has no text, a paragraph if it has no
 * term, a term and its text, or rows that a function reads from a table. */
typedef struct {
    const char *term;
    const char *text;
    void (*rows)(void (*row)(const char *term, const char *text));
} cli_passage;

/* A text for `help TOPIC`, which is also a man page of section 7. */
typedef struct {
    const char        *name;            /* "keys"; NULL ends a table       */
    const char        *summary;         /* one line, no full stop          */
    const cli_passage *passages;        /* an empty one ends them          */
} cli_topic;

/* A program with subcommands. */
struct cli_program {
    const char *name;           /* "bloomery"                              */
    const char *version;        /* of the program's source                 */
    const char *(*library)(void);       /* version of the library in use   */
    void (*about)(void);        /* what --version --verbose adds           */
    const char *parts;          /* "+json -serve": optional parts that were
                                   built in or left out; or NULL           */
    const char *summary;        /* one line, no full stop                  */
    const char *text;           /* a paragraph                             */
    const cli_example *first;   /* examples for a first try                */
    const char *status;
    const cli_example *environment;     /* variables, or NULL              */
    const cli_example *others;          /* names that other programs have for
                                           commands, and ours; or NULL     */
    const cli_example *other_options;   /* likewise for options and letters */
    const char *own;            /* the files it writes that do not hold lines:
                                   "a filter"                              */
    bool (*knows)(const void *bytes, size_t n);     /* by their first bytes */
    const cli_command *const *commands;         /* NULL ends it            */
    const cli_heading *headings;                /* of the commands, or NULL */
    const cli_topic *topics;                    /* or NULL                 */
};

#endif
