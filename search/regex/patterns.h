/* patterns.h - the patterns of a search. */
#ifndef SEARCH_REGEX_PATTERNS_H
#define SEARCH_REGEX_PATTERNS_H

#include "search/commands/search.h"

typedef struct {
    cli_operands each;          /* one for each line of those given          */
    cli_operands texts;         /* from malloc; these hold the patterns      */
} patterns;

/* Reads the operand, which may be NULL, the patterns given by options, and
 * those in files. CLI_GO or CLI_ERROR. */
int patterns_read(patterns *p, const char *operand, const cli_operands *given,
                  const cli_operands *files);
void patterns_free(patterns *p);

#endif
