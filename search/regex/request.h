/* request.h - the options of `bloomery search`, and one file to search. */
#ifndef SEARCH_REGEX_REQUEST_H
#define SEARCH_REGEX_REQUEST_H

#include "search/commands/search.h"

typedef struct {
    cli_operands patterns, files;
    const char  *color;
    select_want  want;
    uint64_t     beside, jobs;
    cli_operands include, exclude;      /* names of files                    */
    const char  *from;
    bool         trust, known, silent, stats;
} search_settings;

/* A file, and those documents of it that may match. */
typedef struct {
    const char      *name;
    const found_one *parts;
    size_t           n;
    bool             whole;     /* read all of it                            */
} search_task;

#endif
