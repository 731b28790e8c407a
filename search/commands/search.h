/* search.h - declarations shared by `bloomery index`, `which` and `search`.
 *
 *     terms.c     finds and hashes the terms of a document
 *     waiting.c   hashes terms, many at once
 *     multiset.c  sorts and counts hashes of terms
 *     kmers.c     finds the k-mers of FASTA and FASTQ files
 *     values.c    finds the values of members and columns
 *     rowgroups.c queries the filters inside Parquet and ORC files
 *     text.c      splits a file into blocks of whole lines
 *     settings.c  the settings stored in an index
 *     found.c     documents in the order of their files
 *     earlier.c   what an existing index still knows about files
 *     plan.c      estimates the size of an index
 *     sequences.c queries an index with sequences
 *     question.c  finds documents that may match a pattern
 *     many.c      finds any of many texts
 *     match.c     matches patterns against lines
 *     select.c    selects the lines of a file
 *     cmd_index.c files -> an index
 *     cmd_which.c an index and words -> names of files
 *     cmd_search.c an index and patterns -> lines
 *
 * A file is a document. One that is longer than a block becomes several
 * documents of whole lines, so that a result refers to a part of it.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "filters/filters.h"
#include "frame/bytes.h"

#include <bloomery/index.h>

#include <stdatomic.h>
#include <sys/stat.h>

/* ==== terms.c =========================================================== */

/* The rules for splitting text into terms. */
typedef enum {
    TERMS_TRIGRAMS, TERMS_WORDS, TERMS_FIELDS, TERMS_LINES, TERMS_KMERS,
    TERMS_MEMBERS, TERMS_COLUMNS, TERMS_RULES
} terms_rule;

enum {
    TERMS_KMER = 31,                    /* the longest, and the default */
    TERMS_WAITING = 1024                /* terms that are hashed at once */
};

/* Parses a rule, "words" or "kmers=21". Returns NULL, or what is wrong. */
const char *terms_read(const char *text, terms_rule *rule, unsigned *k);

/* Returns whether the rule has names: of members or columns. */
static inline bool terms_named(terms_rule rule)
{
    return rule == TERMS_MEMBERS || rule == TERMS_COLUMNS;
}

/* Its name, how likely a document is named wrongly for one term, and the
 * probes of a term; 0: those that are best. */
const char *terms_name(terms_rule rule);
double terms_rate(terms_rule rule);
uint32_t terms_probes(terms_rule rule);

/* A line of a file of sequences; KMERS_NONE: none yet, or an empty one. */
typedef enum {
    KMERS_NONE, KMERS_HEADER, KMERS_BASES, KMERS_PLUS, KMERS_QUALITY
} kmers_line;

enum { KMERS_WAITING = 1024 };

/* A reader of sequences, which are given piece by piece. */
typedef struct {
    uint64_t    least;          /* k-mers that are rarer in a file are left
                                   out; 1 .. KMERS_LEAST                     */
    bool        named;          /* names are wanted                          */
    cli_bytes   name;           /* of the record, up to a blank              */
    uint64_t    line;           /* number of the last line                   */
    const char *broken;         /* what is wrong with it                     */
    kmers_line  kind;           /* of the last line …                        */
    bool        within;         /* … whose newline has not been read         */
    bool        fastq, known;   /* which format, and whether that is known   */
    bool        plain;          /* a first record needs no header            */
    bool        open;           /* there is a record                         */
    bool        nameless;       /* the rest of the header is not its name    */
    uint64_t    bases, quality; /* bytes of both lines of a FASTQ record     */
    uint64_t    strand, other;  /* the last k bases, and the other strand's  */
    size_t      run;            /* bases in a row                            */
    unsigned char waiting[8 * KMERS_WAITING];
    size_t      waits;          /* k-mers that are not hashed yet            */
    bly_filter *once;           /* k-mers that have occurred, if least > 1   */
} kmers_reader;

enum { VALUES_MOST = 16 };

/* The members or columns whose values are terms. */
typedef struct {
    const char *names[VALUES_MOST];
    size_t      n;
    int         separator;      /* of columns, or -1                         */
    bool        tsv;            /* columns end with TABs, without quotes     */
} values_names;

/* Lines that were read, and those without a value. */
typedef struct {
    uint64_t lines;
    uint64_t faults;            /* not JSON objects, or too few columns      */
    size_t   file;              /* number of the file with the first of those */
    uint64_t line;              /* and its line                              */
    uint64_t lacking[VALUES_MOST];      /* objects without each member       */
    char     advice[256];       /* what to check in the first of those       */
} values_tally;

/* A reader of members or columns. */
typedef struct {
    const values_names *names;
    size_t       file;          /* number of the file being read …           */
    const char  *path;          /* … and its name                            */
    cli_how      how;
    bool         headed;        /* its header has been read                  */
    uint64_t     columns[VALUES_MOST], last;    /* numbers of the columns    */
    unsigned char *terms;       /* those that are not hashed yet             */
    size_t       used, room;
    values_tally tally;
    char         why[512];      /* what is wrong with the header             */
} values_reader;

/* Terms of one text after another. */
typedef struct {
    terms_rule rule;
    unsigned  k;                /* for kmers                                 */
    uint64_t *hashes;           /* of the last text; may repeat              */
    size_t    n, room;
    bool      apart;            /* several words are never one term more     */
    bly_key  *waiting;          /* terms that are not hashed yet             */
    size_t    waits;
    uint64_t *recent;           /* hashes that need not come again           */
    uint64_t *seen;             /* a bit for each trigram …                  */
    uint32_t *trigrams;         /* … and those that are set                  */
    size_t    trigram_room;
    kmers_reader sequences;
    values_reader values;
} terms;

/* Returns false if out of memory; call terms_close in either case. */
bool terms_open(terms *t, terms_rule rule, unsigned k);
void terms_close(terms *t);

/* Finds the terms of n bytes. For trigrams and words, this changes A to Z to
 * lower case in place. Returns false if out of memory. */
bool terms_find(terms *t, unsigned char *text, size_t n);

/* ==== waiting.c ========================================================= */

/* Makes room for terms. Returns false if out of memory; call waiting_close in
 * either case. */
bool waiting_open(terms *t);
void waiting_close(terms *t);

/* Forgets the terms of the last text. */
void waiting_clear(terms *t);

/* Adds a term, whose bytes must stay until it is hashed; hashes all that wait.
 * Return false if out of memory. */
bool waiting_push(terms *t, const unsigned char *from, size_t n);
bool waiting_flush(terms *t);

/* ==== multiset.c ======================================================== */

/* Makes room for that many more hashes. Returns false if out of memory. */
bool multiset_room(terms *t, size_t more);

/* Sorts n hashes. Keeps those that occur `least` times or more, and of equal
 * ones at most `most`. Returns how many are left. */
size_t multiset_sift(uint64_t *hashes, size_t n, size_t least, size_t most);

/* Returns how many of n hashes are this share; n if it is negative. */
size_t multiset_share(double share, size_t n);

/* ==== kmers.c =========================================================== */

enum { KMERS_LEAST = 255 };             /* the most that `least` may be      */

typedef enum {
    KMERS_MORE,                 /* nothing is left                           */
    KMERS_RECORD,               /* a record has ended                        */
    KMERS_BROKEN,               /* t->sequences.broken says why              */
    KMERS_MEMORY                /* out of memory                             */
} kmers_result;

/* Begins a file. Returns false if out of memory. */
bool kmers_begin(terms *t);

/* Reads on, at most to the end of a record, and moves *at behind what was read.
 * The k-mers of a record are added to t->hashes when it ends; others may be
 * there before. */
kmers_result kmers_read(terms *t, const unsigned char **at,
                        const unsigned char *end);

/* Ends a file: KMERS_RECORD, or KMERS_MORE if there is no other record. */
kmers_result kmers_end(terms *t);

/* Returns the result as an error: 0, EBADMSG or ENOMEM. */
int kmers_error(kmers_result result);

/* Finds the k-mers of a whole text; none if it is broken. Returns false if out
 * of memory. */
bool kmers_all(terms *t, const unsigned char *text, size_t n);

/* ==== text.c ============================================================ */

/* A part of a file. */
typedef struct {
    unsigned char *bytes;
    size_t   n;
    uint64_t offset;            /* in what the file holds, decompressed      */
    uint64_t lines;             /* before it, if they are counted            */
    bool     binary;            /* there is a NUL in it, or before it        */
    bool     whole;             /* whether it is the whole file              */
} text_block;

/* A reader of files, one after another. */
typedef struct {
    size_t   block;             /* bytes of a block, about                   */
    bool     anywhere;          /* it may end within a line                  */
    bool     pipes;             /* files need not be regular; "-" is stdin   */
    bool     plain;             /* compressed bytes are taken as they are    */
    bool     text;              /* a NUL never ends a line                   */
    bool     numbers;           /* lines are counted                         */
    bool     records;           /* blocks end where records of CSV end …     */
    int      separator;         /* … with this byte between columns          */
    bool     keys;              /* there is room for keys behind a block, as
                                   much as t->room, and CLI_MEMBER_PADDING   */
    const char *broken;         /* what is wrong with the CSV …              */
    uint64_t broken_line;       /* … in which line                           */
    atomic_uint_fast64_t *total;        /* what is read is added, and shown as
                                           progress; may be NULL             */
    struct stat about;          /* the file, when it was opened              */
    uint64_t stamp;             /* see text_stamp                            */
    int      fd;
    cli_source *source;
    bool     begun, ended, binary;
    bool     decoded;           /* whether the input is decompressed         */
    unsigned char *bytes;
    size_t   n, room;           /* read, the last block included             */
    size_t   given;             /* bytes of the last block                   */
    uint64_t offset, lines;
} text_reader;

/* Returns a number for the state of a file, from its size, times and inode.
 * Returns 0 if it was changed so recently that the next change might not show.
 * `now` is the time before `about` was read. */
uint64_t text_stamp(const struct stat *about, const struct timespec *now);

/* Returns 0, or the error for refuse_file. */
int text_open(text_reader *t, const char *path);

/* Returns the position behind the last block. */
static inline uint64_t text_at(const text_reader *t)
{
    return t->offset + t->given;
}

/* Moves to a block by its position when an index was made; only for files that
 * are not compressed. */
bool text_seek(text_reader *t, uint64_t offset, uint64_t lines, bool binary);

/* Threads that read files, for -j; 0: twice as many as processors, as one may
 * wait for a disk while another works. */
#define TEXT_JOBS_OPTION(settings, jobs)                                      \
    { 'j', "jobs", "N", CLI_NUMBER, offsetof(settings, jobs), false,          \
      "Read files with N threads. Default: two for each processor.",          \
      .group = CLI_SPEED }
size_t text_jobs(uint64_t wanted);

/* Reads the next block. Returns 1, or 0 if there is none; *error is then 0 or
 * the error, EFBIG if a line is too long, EBADMSG if t->broken says why. */
int text_next(text_reader *t, text_block *out, int *error);
void text_close(text_reader *t);

/* ==== settings.c ======================================================== */

/* The settings stored in an index. */
typedef struct {
    terms_rule   rule;
    unsigned     k;
    uint64_t     block;
    uint64_t     least;         /* as in kmers_reader                        */
    values_names values;        /* of members or columns, by their rules     */
    bool         recursive, git, plain;
    const char  *folder;        /* where it was made; the base of names      */
    cli_operands paths;         /* as given                                  */
} settings;

/* Reads the value of --by into the rule and what belongs to it. Names stay in
 * `by`, which is changed. Returns NULL, or what is wrong. */
const char *settings_rule(char *by, settings *made);

/* Returns them as bytes from malloc, or NULL if out of memory. */
char *settings_write(const settings *s, size_t *n);

/* Opens an index made by `bloomery index`. s->paths.names is from malloc;
 * everything else points into the index. Returns NULL after reporting an error.
 */
bly_index *settings_open(const char *path, settings *s);

/* Checks that its names are valid from this folder: it was made here, or they
 * are absolute. Returns CLI_GO or CLI_ERROR. */
int settings_here(const char *path, const settings *made,
                  const bly_index *index, const char *folder);

/* The data stored with a document, besides its name. */
typedef struct {
    uint64_t stamp;             /* of its file, from text_stamp              */
    uint64_t offset, length, lines;     /* as text_block has them            */
    bool     binary, whole;
    bool     cut;               /* the file could not be read to its end     */
    bool     inside;            /* it is a file with filters inside, which
                                   are queried instead of the index          */
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

/* Returns whether the bit of a document is set. */
static inline bool found_is(const uint64_t *row, uint64_t i)
{
    return (row[i / 64] >> i % 64 & 1) != 0;
}

/* Lists the documents whose bit in the row is set; NULL for all. Returns CLI_GO
   or CLI_ERROR. */
int found_make(found_list *out, const bly_index *index, const uint64_t *row);

/* Compares documents by their files only, for qsort. */
int found_order(const bly_document *a, const bly_document *b);

/* Documents of the file of this name, behind all those that were asked for
 * before: how many, from the one that *at becomes. */
size_t found_next(const found_list *list, size_t *at, const char *name);

/* Prints a note if an index has files that could not be read, or only in part,
 * so that it does not tell what is in them. Returns CLI_GO or CLI_ERROR. */
int found_note_uncovered(const bly_index *index, const char *path);

/* ==== earlier.c ========================================================= */

/* The documents of an old index to keep. */
typedef struct {
    bly_index *index;           /* NULL: there is none                       */
    settings   made;
    found_list list;            /* all documents, once they are needed       */
    bool      *stays;           /* for each document                         */
    uint64_t   documents;       /* number of those                           */
    uint64_t   gone;            /* documents of other files than those wanted */
} earlier;

/* Lists the documents, unless that is done. Returns CLI_GO or CLI_ERROR. */
int earlier_list(earlier *e);

/* Removes from these files, sorted by name, those whose documents are still
 * valid; `jobs` as for text_jobs. With `trust`, documents are assumed to be
 * valid. So are those of a file with a document whose bit in `read` is set,
 * because its state is checked when it is read; NULL: none. Returns CLI_GO or
 * CLI_ERROR. */
int earlier_sift(earlier *e, cli_operands *files, bool trust,
                 const uint64_t *read, uint64_t jobs);

/* Frees everything, the index as well. */
void earlier_free(earlier *e);

/* ==== plan.c ============================================================ */

/* Reports the estimated size of an index of these files, some of which are
 * read. Returns CLI_OK, or CLI_ERROR, also if a file does not exist. */
int plan_index(const settings *made, double rate, const cli_operands *files,
               bool json);

/* ==== values.c ========================================================== */

/* Reads a list of names for the rule. They stay in `text`, which is changed.
 * Returns NULL, or what is wrong. */
const char *values_read(char *text, terms_rule rule, values_names *out);

/* Returns the name in NAME=VALUE, or NULL if the index lacks it. */
const char *values_name(const values_names *names, const char *given);

/* Makes t->hashes[0], the term of a value. Returns false if out of memory. */
bool values_hash(terms *t, const char *name, const char *value);

/* Prepares to read a file, which is not open yet. */
void values_begin(terms *t, text_reader *text, const char *path);

/* Finds the terms of a block. Returns 0, ENOMEM, or EBADMSG if t->values.why
 * says what is wrong. */
int values_find(terms *t, const text_reader *text, const text_block *block);

/* Adds the counts of another reader. */
void values_merge(values_tally *into, const values_tally *more);

/* Reports the lines without a value; `file` has the first fault. */
void values_note(const values_names *names, terms_rule rule,
                 const values_tally *tally, const char *file, bool quiet);

/* Writes the counts as members of a JSON object. */
void values_json(const values_names *names, terms_rule rule,
                 const values_tally *tally);

/* ==== rowgroups.c ======================================================= */

/* Verifies that a file with filters inside has filters of all columns. Returns
 * CLI_GO, or CLI_ERROR after reporting what it lacks. */
int rowgroups_check(const char *path, const values_names *names);

/* Finds whether a row group of the file may have all of these values, each
 * NAME=VALUE (or, with `any`, any of them). Returns CLI_GO or CLI_ERROR. */
int rowgroups_query(bool *may, const char *path, const values_names *names,
                    const cli_operands *given, bool any);

/* ==== Documents ========================================================= */

/* Opens a file to read its terms. Returns 0, or the error for refuse_file. */
int terms_file(terms *t, text_reader *text, const char *path);

/* Reads the next document of a file, a block or, for k-mers, the whole file,
 * and finds its terms. Returns 1, or 0 if there is none; *error is then 0 or
 * the error, EBADMSG if t->sequences.broken, text->broken or t->values.why
 * says what is wrong. */
int terms_next(terms *t, text_reader *text, settings_part *part, int *error);
int kmers_next(terms *t, text_reader *text, settings_part *part, int *error);

/* ==== sequences.c ======================================================= */

/* Queries the index that is the first operand with the records of the files
 * that are the others. Returns the exit status. */
int sequences_query(const cli_operands *operands, double share, bool json);

/* ==== question.c ======================================================== */

typedef struct {
    const bly_index *index;
    uint64_t  documents;
    terms    *terms;
    bool      failed;           /* no memory …                               */
    bool      told;             /* … or another reason, which stderr has     */
} question;

/* Returns a bit for each document that may match, from malloc. Returns NULL if
 * nothing is known, or q->failed. `fixed`: the pattern is plain text; `words`:
 * it must match whole words. */
uint64_t *question_ask(question *q, const char *pattern, bool fixed,
                       bool words);

/* Returns the longest text that every match of a regular expression contains,
 * from malloc. Returns NULL if none is known or memory is short. */
char *question_literal(const char *pattern);

/* Returns a bit that is set for every document, from malloc. Returns NULL if
 * q->failed. */
uint64_t *question_all(question *q);

/* Returns the union of both; NULL stands for all. Frees both. */
uint64_t *question_any(const question *q, uint64_t *a, uint64_t *b);

/* ==== many.c ============================================================ */

/* Bytes of a line. */
typedef struct { size_t start, end; } match_span;

enum { MANY_LEAST = 4 };                /* texts for which it is quicker     */

typedef struct many many;

/* Prepares to find any of these texts, preferring the longest; they remain the
 * caller's. From malloc. Returns NULL if there are too few, one is too short,
 * or memory is short. */
many *many_open(const cli_operands *patterns, bool fold);

/* Finds the first text that begins after the end of *span, and the longest one
 * there. */
bool many_find(const many *m, const unsigned char *text, size_t n,
               match_span *span);

/* ==== match.c =========================================================== */

/* How lines are matched. */
typedef struct {
    bool fixed, fold, words, lines;
} match_how;

typedef struct match match;

/* Compiles patterns, of which a line must match one; may reorder them. Returns
 * NULL after reporting an error. */
match *match_open(cli_operands *patterns, const match_how *how);

/* Copies the patterns for another thread, valid while `other` is open. Returns
 * NULL if out of memory. */
match *match_share(const match *other);
void match_close(match *m);

/* Returns an offset at or after `from` in a line that may match; n if none may.
 * The bytes are whole lines. Never skips a line that matches. */
size_t match_next(match *m, const unsigned char *text, size_t n, size_t from);

/* Finds the first match in the line, given without its newline, that begins
 * after the end of *span, and stores it there. Returns 1, 0 if there is none,
 * or a negative error for match_why. */
int match_find(match *m, const unsigned char *line, size_t n, match_span *span);
void match_why(char *text, size_t room, int error);

/* ==== select.c ========================================================== */

/* The choice of lines, and what to print. */
typedef struct {
    match_how how;
    bool      invert, files, others, count, number, nameless, quiet, text;
    bool      only, null, json, color;
    bool      apart;            /* separate lines that are not adjacent      */
    uint64_t  most;             /* lines of a file                           */
    uint64_t  before, after;    /* lines beside each                         */
} select_want;

/* A file being searched by one thread; reused for later ones. */
typedef struct {
    const select_want *want;
    match      *match;
    const char *name;
    cli_bytes   out;            /* output                                    */
    uint64_t    selected;
    bool        done;           /* nothing that follows matters              */
    bool        refused;        /* a line was too much for the pattern       */
    bool        binary, printed;
    uint64_t    after;          /* lines that are to be printed yet          */
    uint64_t    next;           /* number of the line behind the printed one */
    cli_bytes   tail;           /* lines before the block, not printed       */
    uint64_t    tails;
} select_file;

/* Returns whether the numbers of lines are needed. */
bool select_counts(const select_want *want);

void select_begin(select_file *f, const char *name);

/* Returns the separator of non-adjacent lines. */
const char *select_break(const select_want *want);

/* Returns CLI_GO or CLI_ERROR. May modify the block's bytes. */
int select_block(select_file *f, text_block *block);

/* Does anything more come of a block in which no line is selected? */
bool select_waits(const select_file *f);

/* Prints what concerns the whole file. Returns CLI_GO or CLI_ERROR. */
int select_end(select_file *f);

extern const cli_command cmd_index, cmd_which, cmd_search;

#endif
