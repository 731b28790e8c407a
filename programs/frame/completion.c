/* completion.c - completion scripts for bash, zsh and fish, written from the
 * tables of the subcommands.
 *
 * The words for an option's value or an operand called NAME are the first words
 * of the lines that the command `names` prints (KIND: `kinds`), if the program
 * has one; it is run with --all where it has that option. COMMAND stands for a
 * subcommand or a topic. Anything else is left to the shell, which offers
 * files.
 */
#include "frame/completion.h"

#include "frame/output.h"
#include "frame/report.h"
#include "frame/rules.h"
#include "frame/tables.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Returns the command that lists the values called `value`, or NULL. */
static const char *completion_lister(const char *value)
{
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++) {
        const char *name = (*c)->name;
        size_t n = strlen(name) - 1, i = 0;

        if (value == NULL || strlen(value) != n || name[n] != 's')
            continue;
        while (i < n && tolower((unsigned char)value[i]) == name[i])
            i++;
        if (i == n)
            return name;
    }
    return NULL;
}

/* Returns " --all" if the lister has that option, or "". */
static const char *completion_all(const char *lister)
{
    const cli_command *const *c = report_program->commands;

    while (strcmp((*c)->name, lister) != 0)
        c++;
    for (const cli_option *o = (*c)->options; o->name != NULL; o++)
        if (strcmp(o->name, "all") == 0)
            return " --all";
    return "";
}

/* Returns the lister for the operand of a command, such as "[KIND]". */
static const char *completion_operand(const cli_command *c)
{
    char word[32];
    size_t length;
    const char *operand = c->operands;

    operand += strspn(operand, "[");
    length = strcspn(operand, "].= ");
    if (length >= sizeof word)
        return NULL;
    snprintf(word, sizeof word, "%.*s", (int)length, operand);
    return completion_lister(word);
}

static bool completion_takes_command(const cli_command *c)
{
    return strstr(c->operands, "COMMAND") != NULL;
}

/* Prints the program's name as a part of names in a script. */
static void completion_name(void)
{
    for (const char *s = report_program->name; *s != '\0'; s++)
        output_format("%c", *s == '-' ? '_' : *s);
}

static void completion_commands(const char *between)
{
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++)
        output_format("%s%s", c == report_program->commands ? "" : between,
                      (*c)->name);
}

/* Prints what `help` takes: commands, and topics that no command is called
 * like. */
static void completion_helped(void)
{
    const cli_topic *topic = report_program->topics;

    completion_commands(" ");
    for (; topic != NULL && topic->name != NULL; topic++) {
        const cli_command *const *c = report_program->commands;

        while (*c != NULL && strcmp((*c)->name, topic->name) != 0)
            c++;
        if (*c == NULL)
            output_format(" %s", topic->name);
    }
}

/* Prints the first sentence without its full stop, inside single quotes: a
 * backslash goes before each byte of `special`, and a quote becomes `quote`. */
static void completion_sentence(const char *text, const char *special,
                                const char *quote)
{
    const char *end = strstr(text, ". ");
    size_t length = end != NULL ? (size_t)(end - text) : strlen(text);

    if (length > 0 && text[length - 1] == '.')
        length--;
    for (size_t i = 0; i < length; i++) {
        char c = text[i] == '\n' || text[i] == '\037' ? ' ' : text[i];

        if (c == '\'')
            output_text(quote);
        else if (strchr(special, c) != NULL)
            output_format("\\%c", c);
        else
            output_bytes(&c, 1);
    }
}

/* ==== bash ============================================================== */

static void completion_bash_options(const cli_command *c)
{
    output_format("        %s) words='", c->name);
    for (const cli_option *o = c->options; o->name != NULL; o++)
        output_format("--%s ", o->name);
    output_text("--help' ;;\n");
}

/* Prints "'build --kind' | 'build -k'", after `between`. */
static void completion_bash_pattern(const cli_command *c, const cli_option *o,
                                    const char *between)
{
    output_format("%s'%s --%s'", between, c->name, o->name);
    if (o->letter != 0)
        output_format(" | '%s -%c'", c->name, o->letter);
}

/* Prints what completes the value of an option: the words that a command lists,
 * or nothing. */
static void completion_bash_values(const cli_command *c)
{
    const char *between = "        ";

    for (const cli_option *o = c->options; o->name != NULL; o++) {
        const char *lister = completion_lister(o->value);

        if (lister == NULL)
            continue;
        completion_bash_pattern(c, o, between);
        output_text(") words=$(_");
        completion_name();
        output_format("_list %s%s) ;;\n", lister,
                      completion_all(lister));
    }
    for (const cli_option *o = c->options; o->name != NULL; o++) {
        if (o->value == NULL || completion_lister(o->value) != NULL)
            continue;
        completion_bash_pattern(c, o, between);
        between = " | ";
    }
    if (between[1] == '|')
        output_text(") ;;\n");
}

static void completion_bash_operands(const cli_command *c)
{
    const char *lister = completion_operand(c);

    if (completion_takes_command(c)) {
        output_format("            %s) words='", c->name);
        completion_helped();
        output_text("' ;;\n");
    } else if (lister != NULL) {
        output_format("            %s) words=$(_", c->name);
        completion_name();
        output_format("_list %s%s) ;;\n", lister,
                      completion_all(lister));
    }
}

static void completion_bash(void)
{
    const cli_command *const *c;

    output_text("# The first word of each line that begins with one.\n_");
    completion_name();
    output_format("_list()\n{\n    command %s \"$@\" 2>/dev/null |\n"
                  "        sed -n 's/^\\([a-z0-9-][a-z0-9-]*\\) .*/\\1/p'\n"
                  "}\n\n_", report_program->name);
    completion_name();
    output_text("()\n{\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
        "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n\n"
        "    if [[ $word == = ]]; then\n"
        "        word=\n"
        "    elif [[ $before == = ]]; then\n"
        "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "    fi\n"
        "    COMPREPLY=()\n"
        "    if ((COMP_CWORD == 1)); then\n"
        "        words='");
    completion_commands(" ");
    output_text(" --help --version'\n"
        "    elif [[ $word == -* ]]; then\n"
        "        case ${COMP_WORDS[1]} in\n");
    for (c = report_program->commands; *c != NULL; c++)
        completion_bash_options(*c);
    output_text("        esac\n"
        "    else\n"
        "        case \"${COMP_WORDS[1]} $before\" in\n");
    for (c = report_program->commands; *c != NULL; c++)
        completion_bash_values(*c);
    output_text("        *)\n"
        "            case ${COMP_WORDS[1]} in\n");
    for (c = report_program->commands; *c != NULL; c++)
        completion_bash_operands(*c);
    output_text("            esac\n"
        "            ;;\n"
        "        esac\n"
        "    fi\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
        "}\n\n"
        "# Where it knows no words, bash offers files.\n"
        "complete -o bashdefault -o default -F _");
    completion_name();
    output_format(" %s\n", report_program->name);
}

/* ==== zsh =============================================================== */

static void completion_zsh_value(const char *value)
{
    const char *lister = completion_lister(value);

    if (lister != NULL) {
        output_format(":%s:{compadd -- $(_", value);
        completion_name();
        output_format("_list %s%s)}", lister, completion_all(lister));
    } else {
        output_format(":%s:_files", value);
    }
}

static const cli_option completion_help = {
    'h', "help", NULL, CLI_FLAG, 0, false, "Print a help text."
};

/* Prints '(-k --kind --by)': what zsh no longer offers once the option is
 * there, itself and the options that it excludes. */
static void completion_zsh_excluded(const cli_command *c, const cli_option *o)
{
    const char *before = "(";

    if (o->letter != 0) {
        output_format("(-%c --%s", o->letter, o->name);
        before = " ";
    }
    for (const cli_option *x = c->options; x->name != NULL; x++) {
        if (x == o || !rules_exclude(o, x))
            continue;
        if (x->letter != 0)
            output_format("%s-%c --%s", before, x->letter, x->name);
        else
            output_format("%s--%s", before, x->name);
        before = " ";
    }
    output_text(*before == ' ' ? ")" : "");
}

/* Prints '(-k --kind)'{-k,--kind}'[text]:KIND:…' */
static void completion_zsh_option(const cli_command *c, const cli_option *o)
{
    bool value = o->value != NULL;

    output_text("            ");
    output_text("'");
    completion_zsh_excluded(c, o);
    if (o->letter != 0)
        output_format("'{-%c%s,--%s%s}'", o->letter, value ? "+" : "",
                      o->name, value ? "=" : "");
    else
        output_format("--%s%s", o->name, value ? "=" : "");
    output_text("[");
    completion_sentence(o->help, "[]\\:", "'\\''");
    output_text("]");
    if (value)
        completion_zsh_value(o->value);
    output_text("' \\\n");
}

static void completion_zsh_command(const cli_command *c)
{
    const char *lister = completion_operand(c);

    output_format("    %s)\n        _arguments -s \\\n", c->name);
    for (const cli_option *o = c->options; o->name != NULL; o++)
        completion_zsh_option(c, o);
    completion_zsh_option(c, &completion_help);
    output_text("            ");
    if (completion_takes_command(c)) {
        output_text("':command:(");
        completion_helped();
        output_text(")'");
    } else if (lister != NULL) {
        output_format("':%s:{compadd -- $(_", lister);
        completion_name();
        output_format("_list %s%s)}'", lister, completion_all(lister));
    } else {
        output_text("'*:file:_files'");
    }
    output_text("\n        ;;\n");
}

static void completion_zsh(void)
{
    const cli_command *const *c;

    output_format("#compdef %s\n\n_", report_program->name);
    completion_name();
    output_format("_list() {\n    command %s \"$@\" 2>/dev/null |\n"
                  "        sed -n 's/^\\([a-z0-9-][a-z0-9-]*\\) .*/\\1/p'\n"
                  "}\n\n_", report_program->name);
    completion_name();
    output_text("() {\n    local -a commands\n    commands=(\n");
    for (c = report_program->commands; *c != NULL; c++) {
        output_format("        '%s:", (*c)->name);
        completion_sentence((*c)->summary, "", "'\\''");
        output_text("'\n");
    }
    output_text("    )\n"
        "    if (( CURRENT == 2 )); then\n"
        "        _describe command commands\n"
        "        return\n"
        "    fi\n"
        "    shift words\n"
        "    (( CURRENT-- ))\n"
        "    case $words[1] in\n");
    for (c = report_program->commands; *c != NULL; c++)
        completion_zsh_command(*c);
    output_text("    esac\n}\n\n"
        "# The shell loads this file as the function itself, or it is "
        "sourced.\n"
        "if [[ $funcstack[1] == _");
    completion_name();
    output_text(" ]]; then\n    _");
    completion_name();
    output_text(" \"$@\"\nelse\n    compdef _");
    completion_name();
    output_format(" %s\nfi\n", report_program->name);
}

/* ==== fish ============================================================== */

/* Prints the beginning of a line about one command. */
static void completion_fish_line(const cli_command *c)
{
    output_format("complete -c %s -n '__fish_seen_subcommand_from %s'",
                  report_program->name, c->name);
}

/* Prints the code that has a command list words. */
static void completion_fish_list(const char *lister)
{
    output_format(" -x -a '(command %s %s%s 2>/dev/null | string match -r "
                  "\"^[a-z0-9-]+\")'", report_program->name, lister,
                  completion_all(lister));
}

static void completion_fish_option(const cli_command *c, const cli_option *o)
{
    const char *lister = completion_lister(o->value);

    completion_fish_line(c);
    if (o->letter != 0)
        output_format(" -s %c", o->letter);
    output_format(" -l %s", o->name);
    if (lister != NULL)
        completion_fish_list(lister);
    else if (o->value != NULL)
        output_text(" -r");
    output_text(" -d '");
    completion_sentence(o->help, "\\", "\\'");
    output_text("'\n");
}

static void completion_fish_operands(const cli_command *c)
{
    const char *lister = completion_operand(c);

    if (completion_takes_command(c)) {
        completion_fish_line(c);
        output_text(" -x -a '");
        completion_helped();
        output_text("'\n");
    } else if (lister != NULL) {
        completion_fish_line(c);
        completion_fish_list(lister);
        output_text("\n");
    }
}

static void completion_fish(void)
{
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++) {
        output_format("complete -c %s -f -n __fish_use_subcommand -a %s -d '",
                      report_program->name, (*c)->name);
        completion_sentence((*c)->summary, "\\", "\\'");
        output_text("'\n");
        for (const cli_option *o = (*c)->options; o->name != NULL; o++)
            completion_fish_option(*c, o);
        completion_fish_line(*c);
        output_text(" -s h -l help -d 'Print a help text'\n");
        completion_fish_operands(*c);
    }
}

/* ==== Shells ============================================================ */

bool completion_script(const char *shell)
{
    static const struct {
        const char *shell;
        void (*write)(void);
    } scripts[] = {
        { "bash", completion_bash },
        { "zsh", completion_zsh },
        { "fish", completion_fish },
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        if (strcmp(shell, scripts[i].shell) != 0)
            continue;
        scripts[i].write();
        return true;
    }
    return false;
}
