/* help.h - prints help and man pages. */
#ifndef FRAME_HELP_H
#define FRAME_HELP_H

#include "frame/tables.h"

#include <stdbool.h>

/* These print the help or the man page of a subcommand, of the whole program or
 * of a topic. They return false if output fails. */
bool help_text(const cli_command *command);
bool help_roff(const cli_command *command);
bool help_overview(void);
bool help_brief(void);
bool help_overview_roff(void);
bool help_topic(const cli_topic *topic);
bool help_topic_roff(const cli_topic *topic);

/* Prints the help of a subcommand in at most 30 lines. Returns false if output
 * fails. */
bool help_short(const cli_command *command);

/* Writes the usage and examples of the program to stderr. */
void help_first(void);

#endif
