/* scan.h - searches files with all threads. */
#ifndef SEARCH_REGEX_SCAN_H
#define SEARCH_REGEX_SCAN_H

#include "search/regex/candidates.h"
#include "search/regex/turns.h"

#include <stdatomic.h>
#include <sys/stat.h>

typedef struct {
    const search_settings *set;
    const candidates *from;
    match        *match;
    struct stat   self;         /* the index, which is not searched          */
    turns         turns;
    atomic_size_t next;         /* task                                      */
    atomic_bool   failed, unread, any;
} scan;

/* Searches the files of all tasks, and prints the results. */
void scan_run(scan *s);

#endif
