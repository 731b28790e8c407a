/* how.h - how a line holds its key: the options of every command that reads
 * keys. */
#ifndef FRAME_HOW_H
#define FRAME_HOW_H

#include "frame/columns.h"
#include "frame/forms.h"
#include "frame/tables.h"

#include <bloomery.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files that were found in folders (inputs.c). */
typedef struct cli_found cli_found;

struct cli_how {
    bool     null;              /* lines end with NUL, not newline          */
    bool     crlf, keep_cr;     /* options about a CR before the newline    */
    bool     trim;              /* remove blanks and TABs around the key    */
    bool     lower, upper;      /* change the case of its letters           */
    bool     unicode;           /* with `lower`: as Unicode folds case      */
    uint64_t as;                /* the class from --as, or FORMS_UNSAID     */
    uint64_t form;              /* the form of the keys (forms_choose)      */
    bool     stated;            /* the filter states it, or will            */
    bool     nests;             /* the command can handle keys that lie within
                                   others (bloomery/nested.h)               */
    bool     cut_cr;            /* cut off a CR before the newline          */
    bool     bare;              /* the lines are --key values, which keep a
                                   CR at their end                          */
    bool     skip_blank;        /* lines of blanks and TABs have no key     */
    const char *comment;        /* begins a comment, which is not part of the
                                   line; NULL: there are no comments        */
    bool     listing;           /* the keys are added to a filter or a list */
    bool     compressed;        /* do not decompress                        */
    bool     text;              /* accept bytes that do not occur in text   */
    bool     copy;              /* the files are copies of verified input:
                                   verify nothing again                     */
    bool     csv;               /* columns may be quoted, as in RFC 4180    */
    bool     tsv;               /* columns end with TABs                    */
    bool     blanks;            /* runs of blanks and TABs separate columns */
    bool     header;            /* the first line names the columns         */
    int      separator;         /* of columns; -1: TAB, or comma with `csv` */
    cli_columns field;          /* the key; none: the whole line, or all of
                                   it but the label                         */
    cli_columns label;          /* at most one column                       */
    bly_key  given;             /* the lines themselves; NULL: in the files */
    const cli_found *found;     /* the files to skip if they are not text, or
                                   NULL                                     */
    const char *member;         /* lines are JSON objects, and the key is the
                                   value of this member; NULL: they are not */
    bool     trust;             /* do not verify the rest of the JSON       */
    const char *lacks;          /* the advice if a header lacks a column in
                                   `field`, or NULL                         */
    const char *twice;          /* and if it has one twice; NULL: its number */
};

/* No option given. */
#define CLI_HOW_UNSAID { .separator = -1, .as = FORMS_UNSAID }

#define CLI_NO_DECOMPRESS_OPTION(settings, compressed)                        \
    { 0, "no-decompress", NULL, CLI_FLAG, offsetof(settings, compressed),     \
      false, "Read compressed files as they are. Default: files of gzip, "    \
      "zstd, xz, bzip2 and lz4 are decompressed.",                            \
      .group = CLI_INPUT }

#define CLI_HOW_OPTIONS(settings, how)                                        \
    { '0', "null", NULL, CLI_FLAG, offsetof(settings, how.null), false,       \
      "Lines end with a NUL byte instead of a newline.",                      \
      .group = CLI_KEYS },                                                    \
    { 'f', "field", "LIST", CLI_COLUMNS, offsetof(settings, how.field),       \
      false, "The key is these columns: 2, 2,3, 2-4 or names, as in "         \
      "email,name. Default: the whole line. See 'bloomery help keys'.",       \
      .group = CLI_KEYS },                                                    \
    { 't', "separator", "C", CLI_BYTE, offsetof(settings, how.separator),     \
      false, "The byte between columns: a character or one of \\t \\n \\r "   \
      "\\0 \\\\ \\xHH. Default: TAB, or a comma with --csv.",                 \
      .excludes = "tsv blanks",                                               \
      .needs = "field label list-field csv",                                  \
      .group = CLI_KEYS },                                                    \
    { 0, "csv", NULL, CLI_FLAG, offsetof(settings, how.csv), false,           \
      "Columns may be in quotes, as in RFC 4180.",                            \
      .excludes = "tsv blanks null json-field",                               \
      .group = CLI_KEYS },                                                    \
    { 0, "tsv", NULL, CLI_FLAG, offsetof(settings, how.tsv), false,           \
      "Columns end with TABs. Quotes are ordinary bytes.",                    \
      .excludes = "blanks json-field",                                        \
      .group = CLI_KEYS },                                                    \
    { 0, "blanks", NULL, CLI_FLAG, offsetof(settings, how.blanks), false,     \
      "Runs of blanks and TABs separate columns, as in awk.",                 \
      .excludes = "json-field",                                               \
      .needs = "field label list-field",                                      \
      .group = CLI_KEYS },                                                    \
    { 0, "header", NULL, CLI_FLAG, offsetof(settings, how.header), false,     \
      "The first line of each file names its columns and is not a key. A "    \
      "name in -f implies this option.",                                      \
      .excludes = "json-field",                                               \
      .group = CLI_KEYS },                                                    \
    { 0, "json-field", "NAME", CLI_TEXT, offsetof(settings, how.member),      \
      false, "Lines are JSON objects, and the key is the member NAME, or the "\
      "place /a/b of a JSON pointer.",                                        \
      .excludes = "field label",                                              \
      .group = CLI_KEYS },                                                    \
    { 0, "trust-json", NULL, CLI_FLAG, offsetof(settings, how.trust), false,  \
      "Do not verify other members of the JSON, which almost halves the "     \
      "time of reading.",                                                     \
      .needs = "json-field list-json-field",                                  \
      .group = CLI_KEYS },                                                    \
    { 0, "keep-cr", NULL, CLI_FLAG, offsetof(settings, how.keep_cr), false,   \
      "In lines that end with CR LF, the CR is part of the key.",             \
      .excludes = "null crlf",                                                \
      .group = CLI_KEYS },                                                    \
    { 0, "crlf", NULL, CLI_FLAG, offsetof(settings, how.crlf), false,         \
      "In lines that end with CR LF, the CR is not part of the key, even if " \
      "the filter does not state the form of its keys.",                      \
      .excludes = "null",                                                     \
      .group = CLI_KEYS },                                                    \
    { 0, "trim", NULL, CLI_FLAG, offsetof(settings, how.trim), false,         \
      "Remove blanks and TABs at both ends of the key, or of each of its "    \
      "columns.",                                                             \
      .group = CLI_KEYS },                                                    \
    { 0, "skip-blank", NULL, CLI_FLAG, offsetof(settings, how.skip_blank),    \
      false, "Skip empty lines and lines of blanks and TABs. Default: an "    \
      "empty line is the empty key.",                                         \
      .group = CLI_KEYS },                                                    \
    { 0, "comment", "TEXT", CLI_TEXT, offsetof(settings, how.comment), false, \
      "Skip comments, which begin with TEXT, such as '#'.",                   \
      .group = CLI_KEYS },                                                    \
    { 'i', "ignore-case", NULL, CLI_FLAG, offsetof(settings, how.lower),      \
      false, "Change the letters A to Z in keys to a to z.",                  \
      .group = CLI_KEYS },                                                    \
    { 0, "unicode", NULL, CLI_FLAG, offsetof(settings, how.unicode), false,   \
      "With -i, fold the case of all alphabets. Keys must be UTF-8. For "     \
      "programs that were built with ICU.",                                   \
      .needs = "ignore-case",                                                 \
      .group = CLI_KEYS },                                                    \
    { 0, "upper", NULL, CLI_FLAG, offsetof(settings, how.upper), false,       \
      "Change the letters a to z in keys to A to Z.",                         \
      .excludes = "ignore-case",                                              \
      .group = CLI_KEYS },                                                    \
    { 0, "as", "CLASS", CLI_FORM, offsetof(settings, how.as), false,          \
      "The class of keys: text, number, int32, int64, float, double, utf16, " \
      "hex, bytes, domain, cidr, path or any. Default: the class that the "   \
      "filter states, or text. See 'bloomery help keys'.",                    \
      .group = CLI_KEYS },                                                    \
    CLI_NO_DECOMPRESS_OPTION(settings, how.compressed),                       \
    { 0, "text", NULL, CLI_FLAG, offsetof(settings, how.text), false,         \
      "Read lines even from files that do not look like text.",               \
      .group = CLI_INPUT }

#define CLI_LABEL_OPTION(settings, how, unless)                               \
    { 'l', "label", "COLUMN", CLI_COLUMN, offsetof(settings, how.label), false,\
      "This column, a number or a name, is the label of the key: a whole "    \
      "number such as 42 or 0x2a. " unless,                                   \
      .group = CLI_KEYS }

/* Verifies that the options fit each other, and chooses the form of the keys by
 * them (forms_choose). CLI_GO or CLI_ERROR. */
int how_check(const cli_command *command, cli_how *how);

/* Verifies only the options about --json-field, for commands with two inputs.
 * CLI_GO or CLI_ERROR. */
int how_check_member(const cli_how *how);

/* Verifies that the first operand, the filter to query, is there, and that not
 * both it and the keys come from stdin. CLI_GO or CLI_ERROR. */
int how_check_asked(const cli_command *command, const cli_operands *operands);

#endif
