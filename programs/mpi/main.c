/* main.c - `bloomery-mpi`: its table of subcommands.
 *
 * To add a subcommand, add a file cmd_NAME.c and a line in main_commands.
 */
#include "mpi/cluster.h"
#include "frame/program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const cli_command *const main_commands[] = {
    &cmd_build,
    &cmd_query,
    &cmd_dedup,
    &program_cmd_help,
    NULL
};

static const cli_example main_first[] = {
    { "mpirun -n 4 bloomery-mpi build -n 1G -o all.bly *.txt",
      "Make a filter of the lines of many files." },
    { "mpirun -n 4 bloomery-mpi dedup *.txt > unique",
      "Print each line once." },
    { NULL, NULL }
};

static const cli_program main_program = {
    .name = "bloomery-mpi",
    .version = BLY_VERSION,
    .library = bly_version,
    .about = filter_about,
    .summary = "filters for approximate membership, by many processes",
    .text =
        "Runs jobs of 'bloomery' for more keys than one machine can hold. The "
        "processes (ranks) of an MPI job divide the lines of the files among "
        "them. Start it with mpirun; every machine must see the same files. "
        "Output and messages are those of rank 0. Each rank reads a part of a "
        "file, so --csv and --header are refused.",
    .first = main_first,
    .status = "0 for success (query: a line was selected), 1 if query "
              "selected none, 2 after an error.",
    .own = "a filter",
    .knows = filter_knows,
    .commands = main_commands,
};

/* Returns whether only help or the version is wanted, which must work without
 * MPI: where man pages are made, and on machines that only submit jobs. */
static bool main_only_helps(int argc, char **argv)
{
    static const char *const words[] = { "help", "--help", "-h", "--version",
                                         "-V" };

    for (size_t i = 0; argc > 1 && i < sizeof words / sizeof *words; i++)
        if (strcmp(argv[1], words[i]) == 0)
            return true;
    return false;
}

/* Returns whether a launcher (Open MPI, PMIx, PMI) started this as a rank other
   than 0. */
static bool main_is_other(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                         "PMI_RANK" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);

        if (rank != NULL)
            return strcmp(rank, "0") != 0;
    }
    return false;
}

int main(int argc, char **argv)
{
    int status;

    if (main_only_helps(argc, argv))
        return main_is_other() ? CLI_OK
                               : program_main(&main_program, argc, argv);
    signal(SIGPIPE, SIG_IGN);   /* dying of it would end the other ranks in the
                                   middle of their work */
    job_start(&argc, &argv);
    status = job_agree(program_main(&main_program, argc, argv));
    job_end();
    return status;
}
