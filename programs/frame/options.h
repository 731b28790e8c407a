/* options.h - parses the command line of a subcommand by its option table. */
#ifndef FRAME_OPTIONS_H
#define FRAME_OPTIONS_H

#include "frame/tables.h"

#include <stdbool.h>
#include <stddef.h>

/* Parses the command line (argv[0] is the subcommand) into `settings`, which
 * holds the defaults. Returns CLI_GO, or the status to exit with. */
int options_read(const cli_command *command, int argc, char **argv,
                 void *settings, cli_operands *operands);

/* Reports an error in the command line and where to find help. Returns
 * CLI_ERROR. */
int options_wrong(const cli_command *command, const char *what);

/* Writes the command line of this process, quoted for a shell, with one more
 * option. Returns false, and writes "", if it does not fit. */
bool options_again(char *text, size_t room, const char *option);

/* Appends a name to a list that is from malloc. Returns false if memory is
 * short. */
bool options_append(cli_operands *list, char *name);

#endif
