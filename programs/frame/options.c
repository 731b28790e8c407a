/* options.c - parses the command line of a subcommand by its option table.
 *
 * Each subcommand has one table of cli_option. It is converted for getopt_long;
 * values are checked and stored by it, and help.c prints it. getopt's own
 * messages are switched off: ours are one line, and say where to find help.
 */
#include "frame/options.h"

#include "frame/bytes.h"
#include "frame/columns.h"
#include "frame/forms.h"
#include "frame/help.h"
#include "frame/nearest.h"
#include "frame/numbers.h"
#include "frame/rules.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTIONS_MOST = 64, OPTIONS_FIRST = 256, OPTIONS_HELP = 255
};

/* ==== Feeding getopt ==================================================== */

/* The table in getopt's two forms. */
typedef struct {
    char          letters[2 * OPTIONS_MOST + 4];
    struct option longs[OPTIONS_MOST + 2];
} options_forms;

static void options_add_letter(char *letters, const cli_option *option)
{
    size_t n = strlen(letters);

    if (option->letter == 0)
        return;
    letters[n++] = option->letter;
    if (option->value != NULL)
        letters[n++] = ':';
    letters[n] = '\0';
}

/* The leading colon makes getopt distinguish a missing value from an unknown
 * name. */
static void options_prepare(options_forms *forms, const cli_option *table)
{
    size_t i;

    memset(forms, 0, sizeof *forms);
    strcpy(forms->letters, ":h");
    for (i = 0; table[i].name != NULL; i++) {
        assert(i < OPTIONS_MOST);
        options_add_letter(forms->letters, &table[i]);
        forms->longs[i].name = table[i].name;
        forms->longs[i].has_arg = table[i].value != NULL;
        forms->longs[i].val = OPTIONS_FIRST + (int)i;
    }
    forms->longs[i].name = "help";
    forms->longs[i].val = OPTIONS_HELP;
}

/* Returns the option that getopt means by `code`, or NULL. */
static const cli_option *options_find(const cli_option *table, int code)
{
    for (size_t i = 0; table[i].name != NULL; i++)
        if (code == OPTIONS_FIRST + (int)i
            || (table[i].letter != 0 && code == table[i].letter))
            return &table[i];
    return NULL;
}

/* ==== Errors ============================================================ */

int options_wrong(const cli_command *command, const char *what)
{
    return report_error("%s: see '%s %s --help'", what, report_program->name,
                        command->name);
}

/* Returns the option whose name a word begins with: null, for null-data. */
static const char *options_within(const cli_command *command, const char *word)
{
    enum { LEAST = 4 };

    for (const cli_option *o = command->options; o->name != NULL; o++) {
        size_t length = strlen(o->name);

        if (length >= LEAST && strncmp(o->name, word, length) == 0)
            return o->name;
    }
    return NULL;
}

/* Returns the command's option that other programs call by this name or
 * letter, or NULL. */
static const char *options_other(const cli_command *command, const char *word,
                                 size_t length)
{
    const cli_example *other = report_program->other_options;

    for (; other != NULL && other->command != NULL; other++) {
        if (strlen(other->command) != length
            || strncmp(other->command, word, length) != 0)
            continue;
        for (const cli_option *o = command->options; o->name != NULL; o++)
            if (strcmp(o->name, other->what) == 0)
                return o->name;
    }
    return NULL;
}

/* getopt does not distinguish an unknown long name from an ambiguous one. */
static int options_bad_name(const cli_command *command, const char *word)
{
    const char *name = word + strspn(word, "-");
    size_t length = strcspn(name, "=");
    cli_nearest nearest = nearest_to(name, length);
    char what[512];

    snprintf(what, sizeof what, "option '%.400s' is ambiguous", word);
    nearest_try(&nearest, "help");
    for (const cli_option *o = command->options; o->name != NULL; o++) {
        if (strncmp(o->name, name, length) == 0)
            return options_wrong(command, what);
        nearest_try(&nearest, o->name);
    }
    if (options_other(command, name, length) != NULL)
        nearest.name = options_other(command, name, length);
    if (nearest.name == NULL)
        nearest.name = options_within(command, name);
    snprintf(what, sizeof what, "unknown option '%.400s'", word);
    if (nearest.name == NULL)
        return options_wrong(command, what);
    return report_error("unknown option '%.400s': did you mean '--%s'? See '%s "
                        "%s --help'", word, nearest.name, report_program->name,
                        command->name);
}

static int options_bad_letter(const cli_command *command, char letter)
{
    const char *name = options_other(command, &letter, 1);
    char what[64];

    snprintf(what, sizeof what, "unknown option '-%c'", letter);
    if (name == NULL)
        return options_wrong(command, what);
    return report_error("%s: did you mean '--%s'? See '%s %s --help'", what,
                        name, report_program->name, command->name);
}

/* Reports an unknown option, or a value where none belongs. */
static int options_unknown(const cli_command *command, char **argv)
{
    const cli_option *option = options_find(command->options, optopt);
    char what[512];

    if (option != NULL || optopt == OPTIONS_HELP)
        snprintf(what, sizeof what, "--%s takes no value",
                 option != NULL ? option->name : "help");
    else if (optopt != 0)
        return options_bad_letter(command, (char)optopt);
    else
        return options_bad_name(command, argv[optind - 1]);
    return options_wrong(command, what);
}

static int options_no_value(const cli_command *command)
{
    const cli_option *option = options_find(command->options, optopt);
    char what[128];

    if (option == NULL)
        return options_wrong(command, "an option has no value");
    snprintf(what, sizeof what, "--%s needs a value, %s", option->name,
             option->value);
    return options_wrong(command, what);
}

/* ==== Values ============================================================ */

bool options_append(cli_operands *list, char *name)
{
    size_t n = list->count;

    if ((n & (n - 1)) == 0                      /* full: 0, 1, 2, 4, ... */
        && !bytes_grow(&list->names, n == 0 ? 1 : 2 * n, sizeof *list->names))
        return false;
    list->names[list->count++] = name;
    return true;
}

/* Returns what is wrong with an empty text, or NULL. An option whose value is
 * named by one of these words takes the name of a file or a folder. */
static const char *options_nameless(const cli_option *option)
{
    static const char *const files[] = { "FILE", "OUT", "LIST", "PATH", "ALL" };

    if (option->type != CLI_TEXT && option->type != CLI_LIST)
        return NULL;
    if (strcmp(option->value, "FOLDER") == 0)
        return "names no folder: give its name";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(option->value, files[i]) == 0)
            return "names no file: give its name";
    return NULL;
}

/* Stores one option's value. Returns what is wrong with it, or NULL. */
static const char *options_store(const cli_option *option, const char *text,
                                 void *settings)
{
    void *place = (char *)settings + option->offset;

    switch (option->type) {
    case CLI_FLAG:
        *(bool *)place = true;
        return NULL;
    case CLI_TEXT:
        *(const char **)place = text;
        return NULL;
    case CLI_ITEMS:
        return numbers_items(text, place);
    case CLI_NUMBER:
        return numbers_number(text, place);
    case CLI_LINES:
        return numbers_lines(text, place);
    case CLI_RATE:
        return numbers_rate(text, place);
    case CLI_SHARE:
        return numbers_share(text, place);
    case CLI_SIZE:
        return numbers_size(text, place);
    case CLI_SEED:
        return numbers_seed(text, place);
    case CLI_BYTE:
        return numbers_byte(text, place);
    case CLI_FORM:
        return forms_read(text, place);
    case CLI_COLUMN:
        return columns_read_one(text, place);
    case CLI_COLUMNS:
        return columns_read(text, place);
    case CLI_LIST:
        return options_append(place, (char *)(uintptr_t)text)
             ? NULL : "is too much: out of memory";
    }
    return NULL;
}

/* Reports a wrong value, with the name of the option as it was given. */
static int options_refuse(const cli_option *option, int code, const char *wrong)
{
    if (code < OPTIONS_FIRST)
        return report_error("-%c '%s' %s", option->letter, optarg, wrong);
    return report_error("--%s '%s' %s", option->name, optarg, wrong);
}

/* Handles one result of getopt_long. */
static int options_take(const cli_command *command, int code, char **argv,
                        void *settings, bool *seen)
{
    const cli_option *option;
    const char *wrong;

    if (code == OPTIONS_HELP || code == 'h') {
        (code == 'h' ? help_short : help_text)(command);
        return CLI_OK;
    }
    if (code == ':')
        return options_no_value(command);
    option = options_find(command->options, code);
    if (option == NULL)
        return options_unknown(command, argv);
    seen[option - command->options] = true;
    wrong = optarg != NULL && *optarg == '\0' ? options_nameless(option) : NULL;
    if (wrong == NULL)
        wrong = options_store(option, optarg, settings);
    return wrong != NULL ? options_refuse(option, code, wrong) : CLI_GO;
}

/* ==== Options that exclude or need others =============================== */

static int options_check_excludes(const cli_option *table, const bool *seen)
{
    for (size_t i = 0; table[i].name != NULL; i++)
        for (size_t j = 0; j < i; j++)
            if (seen[i] && seen[j] && rules_exclude(&table[i], &table[j]))
                return report_error("--%s and --%s cannot be used together: "
                                    "leave one out", table[j].name,
                                    table[i].name);
    return CLI_GO;
}

/* Returns whether an option has what it needs. Names that the command does not
 * have are ignored, even if it has none of them. */
static bool options_met(const cli_option *table, const cli_option *one,
                        const bool *seen)
{
    bool needs = false;

    for (size_t i = 0; table[i].name != NULL; i++) {
        if (!rules_need(one, &table[i]))
            continue;
        if (seen[i])
            return true;
        needs = true;
    }
    return !needs;
}

static int options_check_needs(const cli_command *command, const bool *seen)
{
    const cli_option *table = command->options;
    char needs[RULES_MOST] = "";

    for (size_t i = 0; table[i].name != NULL; i++) {
        if (!seen[i] || options_met(table, &table[i], seen))
            continue;
        rules_list(command, &table[i], rules_need, " or ", needs,
                   sizeof needs);
        return report_error("--%s needs %s: use %s too", table[i].name, needs,
                            strchr(needs, ' ') != NULL ? "one" : "that");
    }
    return CLI_GO;
}

static int options_check_required(const cli_command *command, const bool *seen)
{
    const cli_option *o = command->options;
    char what[128];

    for (size_t i = 0; o[i].name != NULL; i++) {
        if (!o[i].required || seen[i])
            continue;
        snprintf(what, sizeof what, "-%c %s is missing", o[i].letter,
                 o[i].value);
        return options_wrong(command, what);
    }
    return CLI_GO;
}

/* The arguments of the subcommand; the first is its name. */
static char *const *options_line;

/* Frees the lists of values, which the command does not get. */
static void options_forget(const cli_option *option, void *settings)
{
    for (; option->name != NULL; option++)
        if (option->type == CLI_LIST) {
            cli_operands *list = (void *)((char *)settings + option->offset);

            free(list->names);
            *list = (cli_operands){ 0 };
        }
}

static int options_read_all(const cli_command *command, int argc, char **argv,
                            void *settings, cli_operands *operands)
{
    options_forms forms;
    bool seen[OPTIONS_MOST] = { false };
    int code, status;

    options_line = argv;
    options_prepare(&forms, command->options);
    opterr = 0;
    while ((code = getopt_long(argc, argv, forms.letters, forms.longs, NULL))
           != -1) {
        status = options_take(command, code, argv, settings, seen);
        if (status != CLI_GO)
            return status;
    }
    operands->names = argv + optind;
    operands->count = (size_t)(argc - optind);
    status = options_check_excludes(command->options, seen);
    if (status == CLI_GO)
        status = options_check_needs(command, seen);
    return status == CLI_GO ? options_check_required(command, seen) : status;
}

int options_read(const cli_command *command, int argc, char **argv,
                 void *settings, cli_operands *operands)
{
    int status = options_read_all(command, argc, argv, settings, operands);

    if (status != CLI_GO)
        options_forget(command->options, settings);
    return status;
}

/* ==== The command line again ============================================ */

/* Appends a word as a shell reads it, behind a blank. Returns false if it does
 * not fit. */
static bool options_say(char *text, size_t room, const char *word)
{
    size_t n = strlen(text);
    bool plain = *word != '\0'
              && strpbrk(word, " \t\n\"\\$&|;<>()*?[]#~`!{}'") == NULL;
    int more;

    if (strchr(word, '\'') != NULL || strpbrk(word, "\n\r") != NULL)
        return false;
    more = snprintf(text + n, room - n, plain ? " %s" : " '%s'", word);
    return more >= 0 && (size_t)more < room - n;
}

bool options_again(char *text, size_t room, const char *option)
{
    bool fits = report_program != NULL && options_line != NULL;

    *text = '\0';
    if (fits) {
        snprintf(text, room, "%s", report_program->name);
        fits = options_say(text, room, options_line[0])
            && options_say(text, room, option);
        for (size_t i = 1; fits && options_line[i] != NULL; i++)
            fits = options_say(text, room, options_line[i]);
    }
    if (!fits)
        *text = '\0';
    return fits;
}
