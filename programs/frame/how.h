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
};

/* No option given. */
#define CLI_HOW_UNSAID { .separator = -1, .as = FORMS_UNSAID }

#define CLI_NO_DECOMPRESS_OPTION(settings, compressed)                        \
    { 0, "no-decompress", NULL, CLI_FLAG, offsetof(settings, compressed),     \
      false, "Take the bytes of compressed files as they are. Without it "    \
      "what gzip, zstd, xz, bzip2 and lz4 wrote, known by its first bytes, "  \
      "is decompressed." }

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
      "\\t \\n \\r \\0 \\\\ \\xHH. Default: TAB; with --csv a comma.",        \
      .excludes = "tsv blanks",                                               \
      .needs = "field label list-field csv" },                                \
    { 0, "csv", NULL, CLI_FLAG, offsetof(settings, how.csv), false,           \
      "Columns may be in quotes, as RFC 4180 has it: separators and newlines "\
      "within quotes are part of the column, the quotes are not, and a CR "   \
      "before the newline is no part of the line. A key without -f is the "   \
      "whole record, with its quotes.",                                       \
      .excludes = "tsv blanks null json-field" },                             \
    { 0, "tsv", NULL, CLI_FLAG, offsetof(settings, how.tsv), false,           \
      "Columns end with TABs, and quotes are bytes like others.",             \
      .excludes = "blanks json-field" },                                      \
    { 0, "blanks", NULL, CLI_FLAG, offsetof(settings, how.blanks), false,     \
      "Columns are apart by runs of blanks and TABs, and those at the start " \
      "of the line do not count, as in awk.",                                 \
      .excludes = "json-field",                                               \
      .needs = "field label list-field" },                                    \
    { 0, "header", NULL, CLI_FLAG, offsetof(settings, how.header), false,     \
      "The first line of each file names the columns: it is no key. Where "   \
      "lines are printed that of the first file comes first. A name in -f "   \
      "implies it.",                                                          \
      .excludes = "json-field" },                                             \
    { 0, "json-field", "NAME", CLI_TEXT, offsetof(settings, how.member),      \
      false, "Lines are JSON objects, and the key is the value of the member " \
      "NAME: of a string what it stands for, of a number its text as it is " \
      "written, and true or false. A line has no key where this is null, an " \
      "object or an array, or is not there. A NAME that begins with / is a " \
      "JSON pointer, such as /user/id or /tags/0. Of members with the same " \
      "name the last one counts. A line that is not a JSON object, or has "    \
      "more than 1,024 objects and arrays within each other, has no key; a "  \
      "note reports how many there are.",                                     \
      .excludes = "field label" },                                            \
    { 0, "trust-json", NULL, CLI_FLAG, offsetof(settings, how.trust), false,  \
      "With --json-field: do not verify the values of other members. The "    \
      "result is the same if all lines are JSON, and reading them takes "     \
      "almost half the time.",                                                \
      .needs = "json-field list-json-field" },                                \
    { 0, "keep-cr", NULL, CLI_FLAG, offsetof(settings, how.keep_cr), false,   \
      "In lines that end with CR LF, as in files from Windows, the CR is part "\
      "of the key. Without this option it is not, and in a file without a "    \
      "newline a CR alone ends a line.",                                      \
      .excludes = "null crlf" },                                              \
    { 0, "crlf", NULL, CLI_FLAG, offsetof(settings, how.crlf), false,         \
      "In lines that end with CR LF, the CR is not part of the key even if "  \
      "the filter does not state the form of its keys. Without this option "  \
      "it then is, and a note says so.",                                      \
      .excludes = "null" },                                                   \
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
    { 0, "unicode", NULL, CLI_FLAG, offsetof(settings, how.unicode), false,   \
      "With -i, ignore the case of the letters of all alphabets, by the full " \
      "case folding of Unicode, which also makes 'ss' of the sharp s. Keys "   \
      "must be UTF-8. Only in programs that were built with ICU.",            \
      .needs = "ignore-case" },                                               \
    { 0, "upper", NULL, CLI_FLAG, offsetof(settings, how.upper), false,       \
      "In keys the letters a to z become A to Z, as in lists of hashes that " \
      "are written in upper case.",                                           \
      .excludes = "ignore-case" },                                            \
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
    CLI_NO_DECOMPRESS_OPTION(settings, how.compressed),                       \
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
