/* cluster.h - what the files of the command `bloomery-mpi` share.
 *
 * The command runs as several processes, the *ranks* of an
 * MPI job, on one machine or many. All ranks go through the same steps, and
 * talk only in steps that all take (collective ones, marked so below): a rank
 * that fails in between says so in the next job_agree, and all end together.
 *
 * The files, from the bottom up; what reads options and lines is the command
 * `bloomery`'s own (programs/filters/filters.h):
 *
 *      job.c       ranks: how many, what all have together, failing as one
 *      exchange.c  bytes from every rank to every rank, counted
 *      share.c     the lines of all files, divided among the ranks
 *      part.c      one filter, divided among the ranks
 *      sparse.c    an image of which few bits are set, as lists of them
 *      replicate.c a filter of each rank -> the union, on all of them
 *      mix.h       numbers that look random, from hashes
 *      dedup.h     what the files of `dedup` share
 *      cmd_*.c     one subcommand each
 *      main.c      the table of subcommands
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "filters/filters.h"
#include "frame/batches.h"

/* ==== job.c ============================================================= */

/* Which of how many ranks this is. Rank 0 writes the output and the messages;
 * what others write to standard output goes nowhere. */
extern int job_rank, job_ranks;

void job_start(int *argc, char ***argv);
void job_end(void);

/* Has any rank failed (CLI_ERROR)? Then the line that the first of them
 * reported is written, once, and CLI_ERROR is what all get; or else `status`
 * as it is. Messages of rank 0 that are no error are written in any case, those
 * of other ranks are not. Collective. */
int job_agree(int status);

/* The sum, or the largest one, over all ranks. Collective. */
uint64_t job_sum(uint64_t n);
double job_add(double x);
uint64_t job_most(uint64_t n);

/* Of each byte the largest one. Collective. */
void job_most_each(unsigned char *bytes, size_t n);

/* Copies the bytes of rank 0 to all ranks. Collective. */
void job_spread(void *bytes, size_t n);

/* Have all ranks the same number? Collective. */
bool job_same(uint64_t n);

/* Where something must not go on and others cannot wait: one line, and the
 * whole job ends with status 2. */
_Noreturn void job_give_up(const char *why);

/* Memory, or the end of the job. */
void *job_memory(void *old, size_t bytes);

/* ==== exchange.c ======================================================== */

/* Bytes that grow. All zero: empty. */
typedef struct {
    unsigned char *bytes;
    size_t n, room;
} job_bytes;

/* Room for `more` bytes at the end, which count as there; where they begin. */
unsigned char *job_extend(job_bytes *b, size_t more);
void job_free(job_bytes *b);

/* What this rank has sent to others so far: what it does not send to itself,
 * without the lengths that go before (8 bytes a message). */
extern uint64_t exchange_sent;

/* Send to[r] to rank r, for all r: *in is then what came from all, one after
 * another, what came from r from begin[r] to begin[r + 1]. A message may have
 * any length. Collective. */
void exchange_all(const job_bytes *to, job_bytes *in, size_t *begin);

/* Send n bytes of one rank to another: both call it, others do not. */
void exchange_send(int rank, const void *bytes, size_t n);
void exchange_receive(int rank, void *bytes, size_t n);

/* Two ranks send each other n bytes, each its own number of them, which may be
 * 0: *in is then what the other one sent. Both call it, others do not. */
void exchange_pair(int rank, const void *bytes, size_t n, job_bytes *in);

/* ==== share.c =========================================================== */

/* The lines of all files, as one text, of which each rank reads a part. A line
 * belongs to the part in which its first byte is. */
typedef struct {
    cli_lines lines;            /* how lines hold keys, for batches_split     */
    uint64_t *start;            /* where each file begins, and the text ends*/
    size_t   *skip;             /* a byte order mark before each, no text   */
    uint64_t  at, end;          /* of the part being read                   */
    size_t    file;             /* the one in which `at` is                 */
    int       fd;
} share;

/* Look at the files `operands` from number `first` on, which must be ordinary
 * ones. CLI_GO, or CLI_ERROR: this rank cannot, and has said why. `keep` as
 * lines_open has it. */
int  share_open(share *s, const cli_how *how, const cli_operands *operands,
                size_t first, bool keep);
void share_close(share *s);

/* How many bytes there are in all files. */
uint64_t share_bytes(const share *s);

/* Do all ranks see the same files, as far as lengths tell? CLI_GO or
 * CLI_ERROR, on all ranks. Collective. */
int share_same(const share *s);

/* Begin with the lines whose first byte is in [from, to). CLI_GO or
 * CLI_ERROR. */
int share_begin(share *s, uint64_t from, uint64_t to);

/* The same for this rank's part of the text, when it is divided evenly. */
int share_begin_mine(share *s);

/* The next chunk, to be given to batches_split; CLI_GO, CLI_OK at the end, or
 * CLI_ERROR. It keeps its block from call to call; free that in the end. */
int share_next(share *s, cli_chunk *chunk);

/* The same, in batches. All zero at first; free the chunk's block in the end.*/
typedef struct {
    cli_chunk chunk;
    size_t    at;               /* in the chunk */
    cli_batch batch;
} share_reader;

/* The next batch; CLI_GO, CLI_OK at the end, or CLI_ERROR. */
int share_batch(share *s, share_reader *r);

/* Say how many lines of the last pass were no JSON objects. Collective. */
void share_note_strange(const share *s);

/* ==== part.c ============================================================ */

/* Where the image of a filter with local keys is divided: each rank has so
 * many bytes of it, the last ones less or none. */
typedef struct {
    uint64_t bytes, width;
} part_map;

/* CLI_GO or CLI_ERROR. */
int part_divide(part_map *map, const bly_filter *filter);

/* The rank that has this byte of the image. */
int part_owner(const part_map *map, uint64_t place);

/* Bytes [*from, *to) of the image are this rank's. */
void part_range(const part_map *map, int rank, uint64_t *from, uint64_t *to);

/* Have all ranks the same image, as far as its header tells, whose checksum
 * must be up to date? Collective. */
bool part_same(const bly_filter *filter);

/* Do all ranks hash keys alike, with one secret? CLI_GO or CLI_ERROR, on all
 * ranks. Collective. */
int part_same_key(const bly_filter *filter);

/* Hashes on their way to the ranks that have their place. All zero at first. */
typedef struct {
    job_bytes *to, in;          /* `to` for each rank                      */
    size_t    *begin;           /* as exchange_all has it                  */
    size_t     ranks;
} part_mail;

void part_mail_open(part_mail *m);
void part_mail_close(part_mail *m);
void part_mail_empty(part_mail *m);

/* Save the filter of which each rank has a part; rank 0 writes. CLI_GO or
 * CLI_ERROR, as job_agree says. Collective. */
int part_save(const bly_filter *filter, const part_map *map, const char *path,
              uint64_t items);

/* ==== sparse.c ========================================================== */

/* An image to lists of its bits, or as it is where that is shorter; and back,
 * where the job ends if bytes are damaged. What *to and *image held is gone. */
void sparse_pack(job_bytes *to, const void *image, size_t n);
void sparse_unpack(job_bytes *image, const job_bytes *from);

/* How many bits of it are set. */
uint64_t sparse_count(const void *image, size_t n);

/* What lists take, of an image's bits, if a share p of them is set. */
double sparse_share(double p);

/* ==== replicate.c ======================================================= */

/* *filter becomes the union of all ranks' filters, on all ranks; they are sent
 * as lists of their bits, if that is asked for. CLI_GO or CLI_ERROR, as
 * job_agree says; *filter is still to be freed, or NULL after an error.
 * Collective. */
int replicate(bly_filter **filter, bool sparse);

/* How many bytes all ranks send for that, for an image of so many; and as
 * lists, if a share p of its bits is set in the end, and all ranks have as many
 * keys. */
uint64_t replicate_bytes(uint64_t image);
uint64_t replicate_bytes_sparse(uint64_t image, double p);

/* ==== cmd_*.c =========================================================== */

extern const cli_command
    cmd_build,
    cmd_dedup,
    cmd_query;

#endif
