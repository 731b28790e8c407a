/* help.h - prints help and man pages. */
#ifndef FRAME_HELP_H
#define FRAME_HELP_H

#include "frame/tables.h"

#include <stdbool.h>

/* Print the help or the man page of a subcommand, or of the whole program.
 * Return false if output fails. */
bool help_text(const cli_command *command);
bool help_roff(const cli_command *command);
bool help_overview(void);
bool help_overview_roff(void);

#endif
