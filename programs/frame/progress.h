/* progress.h - the line that shows how far a command is. */
#ifndef FRAME_PROGRESS_H
#define FRAME_PROGRESS_H

#include "frame/tables.h"

#include <bloomery.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_NO_PROGRESS_OPTION(settings, no_progress)                         \
    { 0, "no-progress", NULL, CLI_FLAG, offsetof(settings, no_progress),      \
      false, "Show no progress on the terminal.",                             \
      .group = CLI_OUTPUT }

/* Begin and end a command's bar. Inside another one they do nothing. */
void progress_open(const char *what, bool wanted);
void progress_close(void);

/* Sets the share, 0 to 1, that the next phase has of the rest of the bar. By
 * default it has all of it. */
void progress_expect(double share);

/* Begins a phase that reads `bytes` bytes of input, 0 if that is unknown or it
 * reads none. Outside a command's bar it is a bar of its own. */
void progress_start(const char *what, uint64_t bytes, bool wanted);
void progress_at(uint64_t bytes);       /* bytes read in this phase          */
void progress_share(double share);      /* part of this phase done, 0 to 1   */

/* Returns a callback for a library call that is a phase, or NULL if no bar is
 * shown. */
const bly_progress *progress_library(void);

void progress_erase(void);      /* for report_before */

/* Returns whether a command that prints lines as it works may show progress
 * too: not if both go to the same terminal. */
bool progress_apart(void);

#endif
