/* how.c - verifies that the options about lines and keys fit each other.
 *
 * Every command that reads keys has the same options for them (how.h), and
 * calls how_check before it reads anything.
 */
#include "frame/how.h"

#include "frame/inputs.h"
#include "frame/keys.h"
#include "frame/members.h"
#include "frame/options.h"

int how_check_member(const cli_command *command, const cli_how *how)
{
    const char *wrong;

    if (how->trust && how->member == NULL)
        return options_wrong(command, "--trust-json is about --json-field: "
                                      "give that too");
    if (how->member == NULL)
        return CLI_GO;
    if (how->field.n > 0 || how->label.n > 0)
        return options_wrong(command, "--json-field says what the key is: it "
                                      "excludes -f and -l");
    if (how->csv || how->tsv || how->blanks || how->header)
        return options_wrong(command, "--json-field says that lines are JSON "
                                      "objects: it excludes --csv, --tsv, "
                                      "--blanks and --header");
    wrong = members_wrong(how->member);
    if (wrong != NULL)
        return report_error("--json-field '%s' %s", how->member, wrong);
    return members_open() ? CLI_GO : CLI_ERROR;
}

/* Verifies the options that say how lines are cut into columns. CLI_GO or
 * CLI_ERROR. */
static int how_check_columns(const cli_command *command, const cli_how *how)
{
    bool chosen = how->field.n > 0 || how->label.n > 0;

    if (how->csv + how->tsv + how->blanks > 1)
        return options_wrong(command, "--csv, --tsv and --blanks exclude each "
                                      "other: give the one that the lines are");
    if (how->separator >= 0 && (how->tsv || how->blanks))
        return options_wrong(command, "--tsv and --blanks say what lies "
                                      "between columns: they exclude -t");
    if (how->separator >= 0 && !chosen && !how->csv)
        return options_wrong(command,
                             "-t says what lies between columns, but no "
                             "column is chosen: give -f LIST too");
    if (how->blanks && !chosen)
        return options_wrong(command, "--blanks says what lies between "
                                      "columns, but no column is chosen: give "
                                      "-f LIST too");
    if (how->label.n > 0 && how->field.n == 0 && (how->csv || how->blanks))
        return options_wrong(command, "with --csv or --blanks what stands "
                                      "beside the label is no key: give -f "
                                      "LIST too");
    return CLI_GO;
}

/* Verifies the options about the keys themselves. CLI_GO or CLI_ERROR. */
static int how_check_forms(const cli_command *command, const cli_how *how)
{
    if (how->crlf && how->keep_cr)
        return options_wrong(command, "--crlf and --keep-cr exclude each "
                                      "other");
    if ((how->crlf || how->keep_cr) && how->null)
        return options_wrong(command, "--crlf and --keep-cr are about lines "
                                      "that end with a newline: they exclude "
                                      "-0");
    if (how->comment != NULL && how->comment[0] == '\0')
        return options_wrong(command, "--comment is empty: give what comments "
                                      "begin with, such as '#'");
    if (keys_skips(how) && how->member != NULL)
        return options_wrong(command, "JSON has no comments, and blank lines "
                                      "have no member: --json-field excludes "
                                      "--skip-blank and --comment");
    if (how->lower && how->upper)
        return options_wrong(command, "-i and --upper exclude each other");
    if (how->unicode && !how->lower)
        return options_wrong(command, "--unicode says how -i ignores case: "
                                      "give -i too");
    if (how->as == BLY_KEYS_BYTES
        && (how->lower || how->upper || how->trim || how->keep_cr))
        return options_wrong(command, "--as bytes takes lines as they are: it "
                                      "excludes -i, --upper, --trim and "
                                      "--keep-cr");
    return CLI_GO;
}

int how_check(const cli_command *command, cli_how *how)
{
    if (how->member != NULL && how->separator >= 0)
        return options_wrong(command, "--json-field says what the key is: it "
                                      "excludes -t");
    if (how->csv && how->null)
        return options_wrong(command, "--csv is about records that end with a "
                                      "newline: it excludes -0");
    if (how->csv && (how->separator == '"' || how->separator == '\n'
                     || how->separator == '\r'))
        return options_wrong(command, "with --csv quotes and ends of lines "
                                      "have a meaning of their own: -t must "
                                      "be another byte");
    if (how_check_forms(command, how) != CLI_GO)
        return CLI_ERROR;
    forms_choose(how);
    if (forms_can(how->form) != CLI_GO)
        return CLI_ERROR;
    if (how->csv)
        report_lack = (report_words){ "column", "its number and -t",
                                      "-f and -t", false };
    if (keys_skips(how) && how->field.n == 0 && how->label.n == 0
        && (how->form & BLY_FORM_CLASS) <= BLY_KEYS_TEXT)
        report_lack = (report_words){
            "key", "--skip-blank and --comment", "--skip-blank and --comment",
            true
        };
    if (how->label.n > 0)
        report_lack.options = how->field.n == 0 ? "-l and -t"
                            : how->csv ? "-f, -l and -t"
                            : "-f, -l, -t and --csv";
    return how_check_columns(command, how) == CLI_GO
         ? how_check_member(command, how) : CLI_ERROR;
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
        return options_wrong(command, "the FILE to ask is missing");
    if (inputs_is_stdin(operands->names[0]) && how_want_stdin(operands, 1))
        return options_wrong(command, "the filter and the keys cannot both "
                                      "come from standard input");
    return CLI_GO;
}
