/* completion.h - prints completion scripts for shells. */
#ifndef FRAME_COMPLETION_H
#define FRAME_COMPLETION_H

#include <stdbool.h>

/* Prints the script for "bash", "zsh" or "fish". Returns false for any other
 * shell. */
bool completion_script(const char *shell);

#endif
