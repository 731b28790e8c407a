/* program.h - runs a program with subcommands. */
#ifndef FRAME_PROGRAM_H
#define FRAME_PROGRAM_H

#include "frame/tables.h"

/* The subcommand `help`, for the program's table. */
extern const cli_command program_cmd_help;

/* Does all the work of main(). Returns the exit status. */
int program_main(const cli_program *p, int argc, char **argv);

#endif
