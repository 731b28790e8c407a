/* git.h - the files of a folder that git knows, or would add. */
#ifndef FRAME_GIT_H
#define FRAME_GIT_H

#include "frame/bytes.h"

/* Appends the names of these files, relative to the folder, each ended by NUL,
 * and a final NUL. CLI_GO or CLI_ERROR. */
int git_files(cli_bytes *names, const char *folder);

#endif
