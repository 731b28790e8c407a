/* main.c - the command `bloomery`: a table of subcommands.
 *
 * A new subcommand is one file cmd_NAME.c and one line in main_commands. Floor
 * 7 (programs); includes cli.h and <bloomery.h> only.
 */
#include "cli.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int main_help(const cli_command *self, int argc, char **argv);

/* ==== The table ========================================================= */

typedef struct {
    bool roff;
} main_help_settings;

static const cli_option main_help_options[] = {
    { 0, "roff", NULL, CLI_FLAG, offsetof(main_help_settings, roff), false,
      "Print a man page (roff with the macros of man(7))." },
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example main_help_examples[] = {
    { "bloomery help build", "All about 'bloomery build'." },
    { "bloomery help --roff build | man -l -", "The same as a man page." },
    { NULL, NULL }
};

static const cli_command main_cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "tell all about a command",
    .text = "Prints the help of COMMAND, or of 'bloomery' as a whole.",
    .options = main_help_options,
    .examples = main_help_examples,
    .status = "0, or 2 if there is no such command.",
    .run = main_help,
};

static const cli_command *const main_commands[] = {
    &cmd_build, &cmd_add, &cmd_remove, &cmd_query, &cmd_count, &cmd_put,
    &cmd_get, &cmd_dedup, &cmd_resize, &cmd_info, &cmd_check, &cmd_plan,
    &cmd_kinds, &cmd_unite, &cmd_intersect, &cmd_compare,
    &cmd_sketch, &cmd_diff, &main_cmd_help, NULL
};

/* ==== Finding a command ================================================= */

static const cli_command *main_find(const char *name)
{
    for (size_t i = 0; main_commands[i] != NULL; i++)
        if (strcmp(main_commands[i]->name, name) == 0)
            return main_commands[i];
    return NULL;
}

static size_t main_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum { MAIN_LONGEST = 16 };

/* Letters to change, add or drop between two names [Levenshtein 1966], row by
 * row of the table; MAIN_LONGEST where a name is longer than any command. */
static size_t main_distance(const char *a, const char *b)
{
    size_t row[MAIN_LONGEST + 1], n = strlen(b);

    if (strlen(a) > MAIN_LONGEST || n > MAIN_LONGEST)
        return MAIN_LONGEST;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j];

            row[j] = main_least(main_least(above, row[j - 1]) + 1,
                                diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

/* A name that is at most two letters away, or half of a short one. */
static int main_unknown(const char *name)
{
    const cli_command *nearest = NULL;
    size_t best = main_least(3, strlen(name) / 2 + 1);

    for (size_t i = 0; main_commands[i] != NULL; i++) {
        size_t distance = main_distance(name, main_commands[i]->name);

        if (distance < best) {
            best = distance;
            nearest = main_commands[i];
        }
    }
    if (nearest != NULL)
        return report_error("there is no command '%s': did you mean '%s'? See "
                            "'bloomery %s --help'", name, nearest->name,
                            nearest->name);
    return report_error("there is no command '%s': 'bloomery --help' lists "
                        "them", name);
}

/* ==== help, --help, --version =========================================== */

static int main_help(const cli_command *self, int argc, char **argv)
{
    main_help_settings s = { false };
    cli_operands names;
    const cli_command *command;
    int status = options_read(self, argc, argv, &s, &names);

    if (status != CLI_GO)
        return status;
    if (names.count > 1)
        return options_wrong(self, "it takes one COMMAND at most");
    if (names.count == 0) {
        (s.roff ? help_overview_roff : help_overview)(main_commands);
        return CLI_OK;
    }
    command = main_find(names.names[0]);
    if (command == NULL)
        return main_unknown(names.names[0]);
    (s.roff ? help_roff : help_text)(command);
    return CLI_OK;
}

static int main_version(void)
{
    output_format("bloomery %s\n", BLY_VERSION);
    if (strcmp(BLY_VERSION, bly_version()) != 0)
        output_format("library %s\n", bly_version());
    return CLI_OK;
}

/* What stands where a command should, and begins with a hyphen. */
static int main_option(const char *option)
{
    if (strcmp(option, "--version") == 0 || strcmp(option, "-V") == 0)
        return main_version();
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
        help_overview(main_commands);
        return CLI_OK;
    }
    return report_error("there is no option '%s' before the command: see "
                        "'bloomery --help'", option);
}

/* ==== Start ============================================================= */

/* A mapped filter was cut short by another program while it was in use. Only
 * calls that are safe in a signal handler. */
static void main_bus_error(int number)
{
    static const char text[] = "bloomery: a filter was cut short or became "
                               "unreadable while in use: try again with a copy "
                               "of it\n";

    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(CLI_ERROR);
    _exit(CLI_ERROR);
}

/* A pipe that closes and a file that grows too large shall be errors of
 * write, which are reported, not the end of the program. */
static void main_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN);
#endif
#ifdef SIGBUS
    signal(SIGBUS, main_bus_error);
#endif
}

/* Were 0, 1 or 2 closed, the next file opened would become standard input or
 * output. Put something there that refuses to be read, or written. */
static void main_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0
            && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(CLI_ERROR);
}

static int main_run(int argc, char **argv)
{
    const cli_command *command;

    if (argc < 2)
        return report_error("no command is given: 'bloomery --help' lists "
                            "them");
    if (argv[1][0] == '-')
        return main_option(argv[1]);
    command = main_find(argv[1]);
    if (command == NULL)
        return main_unknown(argv[1]);
    report_command = command->name;
    return command->run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    main_standard_files();
    main_signals();
    return output_finish(main_run(argc, argv));
}
