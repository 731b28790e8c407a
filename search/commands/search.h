/* search.h - what the files of `bloomery index`, `which` and `search` share.
 *
 *      terms.c     bytes of a document -> its terms, hashed
 *      text.c      a file -> blocks of whole lines
 *      settings.c  what an index says of how it was made
 *      found.c     documents in the order of their files
 *      earlier.c   what an index has already of some files
 *      plan.c      some of the files -> how large an index would be
 *      question.c  a pattern -> documents that may have a match
 *      many.c      many texts -> where one of them is
 *      match.c     patterns and a line -> does it match, and where?
 *      select.c    a file and patterns -> the lines that are selected
 *      cmd_index.c files -> an index
 *      cmd_which.c an index and words -> names of files
 *      cmd_search.c an index and patterns -> lines
 *
 * A file is a document; one that is longer than a block is several, each of
 * whole lines, so that a name found leads to a part of it.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "filters/filters.h"
#include "frame/bytes.h"

#include <bloomery/index.h>

#include <sys/stat.h>

/* ==== terms.c =========================================================== */

/* What of a text is a term. */
typedef enum {
    TERMS_TRIGRAMS, TERMS_WORDS, TERMS_FIELDS, TERMS_LINES, TERMS_KMERS,
    TERMS_RULES
} terms_rule;

enum { TERMS_KMER = 31 };               /* the longest, and the default */

/* A rule by its name, "words" or "kmers=21". NULL: fine; or what is wrong. */
const char *terms_read(const char *text, terms_rule *rule, unsigned *k);

/* Its name, how likely a document is named wrongly for one term, and the
 * probes of a term; 0: those that are best. */
const char *terms_name(terms_rule rule);
double terms_rate(terms_rule rule);
uint32_t terms_probes(terms_rule rule);

/* Terms of one text after another. */
typedef struct {
    terms_rule rule;
    unsigned  k;                /* of kmers                                  */
    uint64_t *hashes;           /* of the last text; they may repeat         */
    size_t    n, room;
    bool      apart;            /* several words are never one term more     */
    bly_key  *waiting;          /* terms that are not hashed yet             */
    size_t    waits;
    uint64_t *recent;           /* hashes that need not come again           */
    uint64_t *seen;             /* a bit for each trigram …                  */
    uint32_t *trigrams;         /* … and those that are set                  */
    size_t    trigram_room;
} terms;

/* False: no memory; terms_close is to follow all the same. */
bool terms_open(terms *t, terms_rule rule, unsigned k);
void terms_close(terms *t);

/* Find the terms of n bytes, of which A to Z become a to z there where the rule
 * is trigrams or words. False: no memory. */
bool terms_find(terms *t, unsigned char *text, size_t n);

/* ==== text.c ============================================================ */

/* A part of a file. */
typedef struct {
    unsigned char *bytes;
    size_t   n;
    uint64_t offset;            /* in what the file holds, decompressed      */
    uint64_t lines;             /* before it                                 */
    bool     binary;            /* there is a NUL in it, or before it        */
    bool     whole;             /* it is all of the file                     */
} text_block;

/* A file on its way through memory; one after another. */
typedef struct {
    size_t   block;             /* bytes of a block, about                   */
    bool     uncut;             /* but a file is one, however long           */
    bool     plain;             /* compressed bytes are taken as they are    */
    bool     text;              /* a NUL never ends a line                   */
    struct stat about;          /* the file, when it was opened              */
    uint64_t stamp;             /* see text_stamp                            */
    int      fd;
    cli_source *source;
    bool     begun, ended, binary;
    bool     decoded;           /* what is read comes from a source          */
    unsigned char *bytes;
    size_t   n, room;           /* read, the last block included             */
    size_t   given;             /* bytes of the last block                   */
    uint64_t offset, lines;
} text_reader;

/* A number that another state of the file does not have: of size, times and
 * inode. 0: it was changed so lately that the next change might show in none
 * of them. `now` is the time before `about` was asked for. */
uint64_t text_stamp(const struct stat *about, const struct timespec *now);

/* 0, or why not, for refuse_file. */
int text_open(text_reader *t, const char *path);

/* Let the next block be the one that began there when an index was made; only
 * what is not compressed moves. */
bool text_seek(text_reader *t, uint64_t offset, uint64_t lines, bool binary);

/* Threads that read files, for -j; 0: twice as many as processors, as one may
 * wait for a disk while another works. */
#define TEXT_JOBS_OPTION(settings, jobs)                                       \
    { 'j', "jobs", "N", CLI_NUMBER, offsetof(settings, jobs), false,           \
      "Read files with N threads. Default: two for each processor." }
size_t text_jobs(uint64_t wanted);

/* The next block: 1; 0: there is none, and *error says why or is 0: EFBIG where
 * a line is too long. */
int text_next(text_reader *t, text_block *out, int *error);
void text_close(text_reader *t);

/* ==== settings.c ======================================================== */

/* What an index says of how it was made. */
typedef struct {
    terms_rule   rule;
    unsigned     k;
    uint64_t     block;
    bool         recursive, git, plain;
    const char  *folder;        /* where it was made: its names begin there  */
    cli_operands paths;         /* that were given                           */
} settings;

/* As bytes from malloc, or NULL: no memory. */
char *settings_write(const settings *s, size_t *n);

/* Open an index that `bloomery index` made. s->paths.names is from malloc, and
 * all else points into the index. NULL, and stderr says why. */
bly_index *settings_open(const char *path, settings *s);

/* Do its names lead to its files from this folder? They do where it was made,
 * and from anywhere if they are absolute. CLI_GO or CLI_ERROR. */
int settings_here(const char *path, const settings *made,
                  const bly_index *index, const char *folder);

/* What is kept of a document besides its name. */
typedef struct {
    uint64_t stamp;             /* of its file, as text_stamp says           */
    uint64_t offset, length, lines;     /* as text_block has them            */
    bool     binary, whole;
} settings_part;

enum { SETTINGS_EXTRA = 32 };
void settings_pack(unsigned char to[SETTINGS_EXTRA], const settings_part *part);
void settings_unpack(settings_part *part, const void *from);

/* ==== found.c =========================================================== */

/* Documents of an index, in the order of their files and parts. */
typedef struct {
    bly_document  document;
    settings_part part;
    uint64_t      number;       /* in the index                              */
} found_one;

typedef struct {
    found_one *all;             /* from malloc                               */
    size_t     n;
} found_list;

/* Those whose bit in the row is set; NULL: all that count. CLI_GO or CLI_ERROR.
 */
int found_make(found_list *out, const bly_index *index, const uint64_t *row);

/* As qsort has it, by their files only. */
int found_order(const bly_document *a, const bly_document *b);

/* Documents of the file of this name, behind all those that were asked for
 * before: how many, from the one that *at becomes. */
size_t found_next(const found_list *list, size_t *at, const char *name);

/* ==== earlier.c ========================================================= */

/* Of an index that is to be renewed: which of its documents stay. */
typedef struct {
    bly_index *index;           /* NULL: there is none                       */
    settings   made;
    bool      *stays;           /* for each document                         */
    uint64_t   documents;       /* that stay                                 */
} earlier;

/* Of these files, whose names are in rising order, leave those of which the
 * index has nothing that still holds; `jobs` as for text_jobs. `trust`: what it
 * has of a file is taken to hold. CLI_GO or CLI_ERROR. */
int earlier_sift(earlier *e, cli_operands *files, bool trust, uint64_t jobs);

/* ==== plan.c ============================================================ */

/* Report how large an index of these files would be, of which some are read.
 * CLI_OK; CLI_ERROR: one of them is not there, too. */
int plan_index(const settings *made, double rate, const cli_operands *files,
               bool json);

/* ==== question.c ======================================================== */

typedef struct {
    const bly_index *index;
    uint64_t  documents;
    terms    *terms;
    bool      failed;           /* no memory …                               */
    bool      told;             /* … or another reason, which stderr has     */
} question;

/* A bit for each document that may have a match, from malloc; NULL: nothing is
 * known, or q->failed. `fixed`: it is a text; `words`: which matches whole
 * words only. */
uint64_t *question_ask(question *q, const char *pattern, bool fixed,
                       bool words);

/* The longest text that each match of a regular expression has, from malloc;
 * NULL: none is known, or there is no memory. */
char *question_literal(const char *pattern);

/* Those of either; NULL stands for all. Both are given away. */
uint64_t *question_any(const question *q, uint64_t *a, uint64_t *b);

/* ==== many.c ============================================================ */

/* Bytes of a line. */
typedef struct { size_t start, end; } match_span;

enum { MANY_LEAST = 4 };                /* texts for which it is quicker     */

typedef struct many many;

/* To look for these texts, the longest of which come first, and which stay the
 * caller's. Memory from malloc. NULL: they are too few, or one is too short,
 * or there is no memory. */
many *many_open(const cli_operands *patterns, bool fold);

/* The first of them that begins behind the end of *span, which becomes it; of
 * those that begin there the longest. */
bool many_find(const many *m, const unsigned char *text, size_t n,
               match_span *span);

/* ==== match.c =========================================================== */

/* What a line must have. */
typedef struct {
    bool fixed, fold, words, lines;
} match_how;

typedef struct match match;

/* Compile these patterns, of which a line must match one; their order may
 * change. NULL, and stderr says why. */
match *match_open(cli_operands *patterns, const match_how *how);

/* The same patterns for another thread, for as long as `other` is open. NULL:
 * no memory. */
match *match_share(const match *other);
void match_close(match *m);

/* Where a line that may match has a byte, at or behind `from`; n: none has. The
 * bytes are lines. Never past a line that matches. */
size_t match_next(match *m, const unsigned char *text, size_t n, size_t from);

/* The first match in the line, without its newline, that begins behind the end
 * of *span, which becomes it: 1; 0: there is none; less than 0: an error, for
 * match_why. */
int match_find(match *m, const unsigned char *line, size_t n, match_span *span);
void match_why(char *text, size_t room, int error);

/* ==== select.c ========================================================== */

/* Which lines are selected, and what is printed of them. */
typedef struct {
    match_how how;
    bool      invert, files, others, count, number, nameless, quiet, text;
    bool      only, null, json, color;
    uint64_t  most;             /* lines of a file                           */
    uint64_t  before, after;    /* lines beside each                         */
} select_want;

/* A file that is being searched by one thread; one after another. */
typedef struct {
    const select_want *want;
    match      *match;
    const char *name;
    cli_bytes   out;            /* what is to be printed                     */
    uint64_t    selected;
    bool        done;           /* nothing that follows matters              */
    bool        refused;        /* a line was too much for the pattern       */
    bool        binary, printed;
    uint64_t    after;          /* lines that are to be printed yet          */
    uint64_t    next;           /* number of the line behind the printed one */
    cli_bytes   tail;           /* lines before the block, not printed       */
    uint64_t    tails;
} select_file;

void select_begin(select_file *f, const char *name);

/* The line between lines that stand apart. */
const char *select_break(const select_want *want);

/* CLI_GO or CLI_ERROR. The block's bytes may change. */
int select_block(select_file *f, text_block *block);

/* Does anything more come of a block in which no line is selected? */
bool select_waits(const select_file *f);

/* What is said of the file as a whole. CLI_GO or CLI_ERROR. */
int select_end(select_file *f);

extern const cli_command cmd_index, cmd_which, cmd_search;

#endif
