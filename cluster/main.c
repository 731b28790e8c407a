/* main.c - the command `bloomery-mpi`: its table of subcommands.
 *
 * A new subcommand is one file cmd_NAME.c and one line in main_commands. Floor
 * 7 (programs); includes cluster.h only.
 */
#include "cluster.h"

static const cli_command *const main_commands[] = {
    &cmd_build,
    &cmd_query,
    &cmd_dedup,
    &program_cmd_help,
    NULL
};

static const cli_program main_program = {
    .name = "bloomery-mpi",
    .summary = "filters for approximate membership, by many processes",
    .text =
        "What 'bloomery' does, for more keys than one machine can hold: by "
        "many processes (ranks) of an MPI job, which divide the lines of the "
        "files among them. Start it with mpirun; every machine must see the "
        "same files. Output and messages are those of rank 0.",
    .first =
        "  mpirun -n 4 bloomery-mpi build -n 1G -o all.bly *.txt\n"
        "  mpirun -n 4 bloomery-mpi dedup *.txt > unique\n",
    .status = "0 if all went well (query: if a line was selected), 1 if query "
              "selected none, 2 after an error.",
    .commands = main_commands,
};

int main(int argc, char **argv)
{
    int status;

    job_start(&argc, &argv);
    status = job_agree(program_main(&main_program, argc, argv));
    job_end();
    return status;
}
