/* program.c - runs a program with subcommands: finds the subcommand, handles
 * `help`, --help and --version, and starts safely.
 *
 * bloomery (programs/bloomery/main.c) and bloomery-mpi (programs/mpi/main.c)
 * are such programs.
 */
#include "frame/program.h"

#include "frame/completion.h"
#include "frame/help.h"
#include "frame/nearest.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int program_no_shell(const char *name)
{
    cli_nearest nearest = nearest_to(name, strlen(name));

    nearest_try(&nearest, "bash");
    nearest_try(&nearest, "zsh");
    nearest_try(&nearest, "fish");
    if (nearest.name != NULL)
        return report_error("unknown shell '%s': did you mean '%s'? bash, zsh "
                            "and fish have completions", name, nearest.name);
    return report_error("unknown shell '%s': bash, zsh and fish have "
                        "completions", name);
}

static int program_help(const cli_command *self, int argc, char **argv);

/* ==== The command `help` ================================================ */

/* Sections of the manual. */
enum { PROGRAM_ALL = 0, PROGRAM_COMMANDS = 1, PROGRAM_TOPICS = 7 };

typedef struct {
    bool roff;
    uint64_t section;
    const char *completion;
} program_help_settings;

static const cli_option program_help_options[] = {
    { 0, "roff", NULL, CLI_FLAG, offsetof(program_help_settings, roff), false,
      "Print the man page (roff with the macros of man(7))." },
    { 0, "section", "N", CLI_NUMBER, offsetof(program_help_settings, section),
      false, "Choose between a command, 1, and a topic, 7, with the same name. "
      "Default: the topic." },
    { 0, "completion", "SHELL", CLI_TEXT,
      offsetof(program_help_settings, completion), false,
      "Print the completion script for bash, zsh or fish.",
      .excludes = "roff section" },
    { 0 }
};

static const cli_example program_help_examples[] = {
    { "bloomery help build", "Everything about 'bloomery build'." },
    { "bloomery help exit-status", "A topic: what 0, 1 and 2 mean." },
    { "bloomery help --roff build > build.1",
      "The man page, for 'man -l build.1'." },
    { "bloomery help --completion bash > completion.bash",
      "The completion script, for 'source completion.bash'. 'make install' "
      "installs it." },
    { NULL, NULL }
};

const cli_command program_cmd_help = {
    .name = "help",
    .operands = "[COMMAND | TOPIC]",
    .summary = "describe a command or a topic",
    .text = "Prints all help about COMMAND, or about a TOPIC that several "
            "commands share. Without an operand it lists both.",
    .options = program_help_options,
    .usual = "roff section completion",
    .examples = program_help_examples,
    .status = "0, or 2 if there is no such command, topic or shell.",
    .run = program_help,
};

/* ==== Finding a command ================================================= */

static const cli_command *program_find(const char *name)
{
    for (size_t i = 0; report_program->commands[i] != NULL; i++)
        if (strcmp(report_program->commands[i]->name, name) == 0)
            return report_program->commands[i];
    return NULL;
}

/* Returns the command that another program calls by this name, or the one whose
 * name is nearest, or NULL. */
static const char *program_meant(const char *name)
{
    const cli_example *other = report_program->others;
    cli_nearest nearest = nearest_to(name, strlen(name));

    for (; other != NULL && other->command != NULL; other++)
        if (strcmp(other->command, name) == 0)
            return other->what;
    for (size_t i = 0; report_program->commands[i] != NULL; i++)
        nearest_try(&nearest, report_program->commands[i]->name);
    return nearest.name;
}

static const cli_topic *program_topic(const char *name)
{
    const cli_topic *topic = report_program->topics;

    for (; topic != NULL && topic->name != NULL; topic++)
        if (strcmp(topic->name, name) == 0)
            return topic;
    return NULL;
}

static int program_unknown(const char *name)
{
    const char *meant = program_meant(name);

    if (program_topic(name) != NULL)
        return report_error("unknown command '%s': did you mean '%s help "
                            "%s'?", name, report_program->name, name);
    if (strcmp(name, "version") == 0)
        return report_error("unknown command '%s': did you mean '%s "
                            "--version'?", name, report_program->name);
    if (meant != NULL)
        return report_error("unknown command '%s': did you mean '%s'? See '%s "
                            "%s --help'", name, meant, report_program->name,
                            meant);
    return report_error("unknown command '%s': '%s --help' lists them",
                        name, report_program->name);
}

/* Reports that `help` knows no such name. */
static int program_no_topic(const char *name)
{
    const cli_topic *topic = report_program->topics;
    char names[200] = "";

    if (topic == NULL || program_meant(name) != NULL)
        return program_unknown(name);
    for (; topic->name != NULL; topic++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 *names == '\0' ? "" : topic[1].name == NULL ? " and " : ", ",
                 topic->name);
    return report_error("unknown command or topic '%s': the topics are %s, "
                        "and '%s --help' lists the commands", name, names,
                        report_program->name);
}

/* ==== help, --help, --version =========================================== */

/* Prints the help of one command or topic. */
static int program_help_about(const program_help_settings *s, const char *name)
{
    const cli_topic *topic = program_topic(name);
    const cli_command *command = program_find(name);

    if (topic != NULL && command == NULL && s->section == PROGRAM_COMMANDS)
        return report_error("'%s' is not a command but a topic, of section %d: "
                            "leave --section out", name, PROGRAM_TOPICS);
    if (topic == NULL && command != NULL && s->section == PROGRAM_TOPICS)
        return report_error("'%s' is not a topic but a command, of section %d: "
                            "leave --section out", name, PROGRAM_COMMANDS);
    if (topic != NULL && s->section != PROGRAM_COMMANDS)
        (s->roff ? help_topic_roff : help_topic)(topic);
    else if (command != NULL)
        (s->roff ? help_roff : help_text)(command);
    else
        return program_no_topic(name);
    return CLI_OK;
}

static int program_help(const cli_command *self, int argc, char **argv)
{
    program_help_settings s = { false, PROGRAM_ALL, NULL };
    cli_operands names;
    int status = options_read(self, argc, argv, &s, &names);

    if (status != CLI_GO)
        return status;
    if (names.count > 1)
        return options_wrong(self, "this command takes at most one "
                                   "COMMAND or TOPIC");
    if (s.section != PROGRAM_ALL && s.section != PROGRAM_COMMANDS
        && s.section != PROGRAM_TOPICS)
        return options_wrong(self, "--section is not 1, for commands, or 7, "
                                   "for topics");
    if (s.section != PROGRAM_ALL && names.count == 0 && !s.roff)
        return options_wrong(self, "--section needs a COMMAND or a TOPIC");
    if (s.completion != NULL) {
        if (names.count > 0)
            return options_wrong(self, "--completion is for all commands: "
                                       "leave COMMAND out");
        if (!completion_script(s.completion))
            return program_no_shell(s.completion);
        return CLI_OK;
    }
    if (names.count == 0) {
        (s.roff ? help_overview_roff : help_overview)();
        return CLI_OK;
    }
    return program_help_about(&s, names.names[0]);
}

/* Prints the version. `more` are the arguments after the option; NULL ends
 * them. */
static int program_version(char **more)
{
    bool verbose = more[0] != NULL && strcmp(more[0], "--verbose") == 0;

    if (more[verbose] != NULL)
        return report_error("--version can be combined only with --verbose: "
                            "leave '%s' out", more[verbose]);
    output_format("%s %s\n", report_program->name, report_program->version);
    if (strcmp(report_program->version, report_program->library()) != 0)
        output_format("library %s\n", report_program->library());
    if (report_program->parts != NULL)
        output_format("parts: %s\n", report_program->parts);
    if (verbose)
        report_program->about();
    return CLI_OK;
}

/* Returns the option that the name begins, or whose name is nearest, or
 * NULL. */
static const char *program_option_meant(const char *name)
{
    static const char *const options[] = { "version", "help" };
    const size_t n = sizeof options / sizeof *options, length = strlen(name);
    cli_nearest nearest = nearest_to(name, length);

    for (size_t i = 0; i < n; i++) {
        if (length > 0 && strncmp(options[i], name, length) == 0)
            return options[i];
        nearest_try(&nearest, options[i]);
    }
    return length > 1 ? nearest.name : NULL;
}

static int program_no_option(const char *option)
{
    const char *meant = program_option_meant(option + strspn(option, "-"));

    if (meant != NULL)
        return report_error("unknown option '%s' before the command: did you "
                            "mean '--%s'? See '%s --help'", option, meant,
                            report_program->name);
    return report_error("unknown option '%s' before the command: see '%s "
                        "--help'", option, report_program->name);
}

/* Handles an option in the place of a command. */
static int program_option(const char *option, char **next)
{
    if (strcmp(option, "--version") == 0 || strcmp(option, "-V") == 0)
        return program_version(next);
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
        (option[1] == 'h' ? help_brief : help_overview)();
        return CLI_OK;
    }
    return program_no_option(option);
}

/* ==== Start ============================================================= */

/* Reports that another program has cut a mapped file short. Makes only calls
 * that are safe in a signal handler. */
static void program_bus_error(int number)
{
    static const char text[] = ": a file was cut short or became unreadable "
                               "while in use: try again with a copy of it\n";
    const char *name = report_program->name;

    (void)number;
    if (write(STDERR_FILENO, name, strlen(name)) < 0
        || write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(CLI_ERROR);
    _exit(CLI_ERROR);
}

/* Makes a file that grows too large an error of write, which is reported,
 * instead of the end of the program. */
static void program_signals(void)
{
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN);
#endif
#ifdef SIGBUS
    signal(SIGBUS, program_bus_error);
#endif
}

/* Opens descriptors 0 to 2 if they are closed, so that no other file becomes
 * standard input or output. They refuse to be read or written. */
static void program_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0
            && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(CLI_ERROR);
}

static int program_begin(int argc, char **argv)
{
    const cli_command *command;
    int status;

    if (argc < 2) {
        help_first();
        return report_error("no command is given: '%s --help' lists them",
                            report_program->name);
    }
    if (argv[1][0] == '-')
        return program_option(argv[1], argv + 2);
    command = program_find(argv[1]);
    if (command == NULL)
        return program_unknown(argv[1]);
    report_command = command->name;
    if (!command->shows_progress)
        return command->run(command, argc - 1, argv + 1);
    progress_open(command->name, true);
    status = command->run(command, argc - 1, argv + 1);
    progress_close();
    return status;
}

int program_main(const cli_program *p, int argc, char **argv)
{
    report_program = p;
    report_before = progress_erase;
    program_standard_files();
    program_signals();
    output_start();
    return output_finish(program_begin(argc, argv));
}
