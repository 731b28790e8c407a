/* how.c - verifies that the options about lines and keys fit each other.
 *
 * Every command that reads keys has the same options for them (how.h), and
 * calls how_check before it reads anything. The tables of options say which
 * exclude or need others (rules.c); this file has the checks that take more.
 */
#include "frame/how.h"

#include "frame/inputs.h"
#include "frame/keys.h"
#include "frame/members.h"
#include "frame/options.h"

#include <inttypes.h>

int how_check_member(const cli_how *how)
{
    const char *wrong;

    if (how->member == NULL)
        return CLI_GO;
    wrong = members_wrong(how->member);
    if (wrong != NULL)
        return report_error("--json-field '%s' %s", how->member, wrong);
    return members_open() ? CLI_GO : CLI_ERROR;
}

/* Refuses columns beside a label that cannot be one key. CLI_GO or
 * CLI_ERROR. */
static int how_check_columns(const cli_command *command, const cli_how *how)
{
    if (how->label.n > 0 && how->field.n == 0 && (how->csv || how->blanks))
        return options_wrong(command, "with --csv or --blanks, the rest of a "
                                      "line beside its label is not a key: use "
                                      "-f LIST too");
    return CLI_GO;
}

/* Verifies the values of options about the keys themselves. CLI_GO or
 * CLI_ERROR. */
static int how_check_forms(const cli_command *command, const cli_how *how)
{
    if (how->comment != NULL && how->comment[0] == '\0')
        return options_wrong(command, "--comment is empty: give the beginning "
                                      "of comments, such as '#'");
    if (keys_skips(how) && how->member != NULL)
        return options_wrong(command, "JSON has no comments, and blank lines "
                                      "have no members: --json-field cannot be "
                                      "used with --skip-blank or --comment");
    if (how->as != FORMS_UNSAID && how->as != BLY_KEYS_UNSTATED
        && !forms_is_text(how->as)
        && (how->lower || how->upper || how->trim || how->keep_cr))
        return options_wrong(command, "-i, --upper, --trim and --keep-cr are "
                                      "for keys that are text: they cannot be "
                                      "used with another --as than text and "
                                      "utf16");
    if (how->as != FORMS_UNSAID && bly_form_nests(how->as))
        return how->nests ? CLI_GO : forms_no_nesting("--as", how->as);
    return CLI_GO;
}

/* Names what a line needs to have a key. */
static void how_name_need(const cli_how *how)
{
    const cli_columns *columns = how->field.n > 0 ? &how->field : &how->label;

    if (how->member != NULL)
        report_need("member '%s'", how->member);
    else if (how->field.n + how->label.n > 1)
        report_need("all of these columns");
    else if (columns->n > 0 && columns->numbers[0] > 0)
        report_need("column %" PRIu64, columns->numbers[0]);
    else if (columns->n > 0)
        report_need("column '%.*s'", (int)columns->names[0].length,
                    (const char *)columns->names[0].data);
}

/* Chooses the words about skipped lines. */
static void how_name_skipped(const cli_how *how)
{
    report_skipped = how->comment == NULL
        ? (report_skipped_words){ "blank", "blank", "--skip-blank" }
        : !how->skip_blank
        ? (report_skipped_words){ "a comment", "comments", "--comment" }
        : (report_skipped_words){ "blank or a comment", "blank or comments",
                                  "--skip-blank and --comment" };
}

int how_check(const cli_command *command, cli_how *how)
{
    if (how->csv && (how->separator == '"' || how->separator == '\n'
                     || how->separator == '\r'))
        return options_wrong(command, "with --csv, quotes and line ends have a "
                                      "meaning of their own: -t must be "
                                      "another byte");
    if (how_check_forms(command, how) != CLI_GO)
        return CLI_ERROR;
    forms_choose(how);
    if (forms_can(how->form) != CLI_GO)
        return CLI_ERROR;
    how_name_skipped(how);
    if (how->csv)
        report_lack = (report_words){ "column", "its number and -t",
                                      "-f and -t" };
    if (how->label.n > 0)
        report_lack.options = how->field.n == 0 ? "-l and -t"
                            : how->csv ? "-f, -l and -t"
                            : "-f, -l, -t and --csv";
    how_name_need(how);
    return how_check_columns(command, how) == CLI_GO
         ? how_check_member(how) : CLI_ERROR;
}

/* Returns whether keys are read from stdin. */
static bool how_want_stdin(const cli_operands *operands, size_t first)
{
    for (size_t i = first; i < operands->count; i++)
        if (inputs_is_stdin(operands->names[i]))
            return true;
    return operands->count == first;
}

int how_check_asked(const cli_command *command, const cli_operands *operands)
{
    if (operands->count == 0)
        return options_wrong(command, "the FILE to query is missing");
    if (inputs_is_stdin(operands->names[0]) && how_want_stdin(operands, 1))
        return options_wrong(command, "the filter and the keys cannot both be "
                                      "read from standard input");
    return CLI_GO;
}
