/* folder.h - what makes a file's name last.
 *
 * Floor 6.
 */
#ifndef BLY_IO_FOLDER_H
#define BLY_IO_FOLDER_H

#include <stdbool.h>

/* Flush the folder that holds `path`, so that a new name in it outlives a
 * crash. Some file systems cannot (EINVAL): they have nothing to flush. False:
 * errno says why. `path` is changed and put back. */
bool folder_flush(char *path);

#endif /* BLY_IO_FOLDER_H */
