/* candidates.h - the files, and parts of files, that may have a match. */
#ifndef SEARCH_REGEX_CANDIDATES_H
#define SEARCH_REGEX_CANDIDATES_H

#include "search/regex/request.h"
#include "frame/inputs.h"

typedef struct {
    const search_settings *set;
    earlier      index;
    cli_inputs   inputs;
    cli_operands all, changed;  /* files, in rising order                    */
    cli_bytes    names;         /* of files that the index knows             */
    char       **listed;        /* these names, from malloc, or NULL         */
    uint64_t    *row;           /* of documents that may match               */
    found_list   found;         /* these, but for files that have changed    */
    search_task *tasks;
    size_t       n;
    bool         unasked;       /* the patterns exclude no document          */
} candidates;

/* Finds the files to search, and makes a task of each. CLI_GO or CLI_ERROR. */
int candidates_find(candidates *c, const cli_command *self,
                    const cli_operands *patterns);
void candidates_free(candidates *c);

#endif
