/* gossip.h - what the files of the lab's Pournaras share.
 *
 * From the bottom up:
 *
 *      mail.c       bytes from every rank to every rank, counted
 *      node.c       one node of the aggregation: its filters and its sums
 *      gossip.c     all nodes, talking to each other round by round
 *      pournaras.c  the experiments
 *
 * It runs as several processes, the *ranks* of an MPI job, as many as the file
 * `ranks` says. Floor 8: a program of the lab; includes lab.h and MPI only.
 */
#ifndef POURNARAS_GOSSIP_H
#define POURNARAS_GOSSIP_H

#include "lab.h"

#include <mpi.h>

/* ==== mail.c ============================================================ */

/* Bytes that grow. All zero: empty. */
typedef struct {
    unsigned char *bytes;
    size_t n, room;
} mail_bytes;

/* Room for `more` bytes at the end, which count as there; where they begin. */
unsigned char *mail_extend(mail_bytes *b, size_t more);

/* What goes to each rank, and what came from all of them, one after another:
 * from rank r the bytes from begin[r] to begin[r + 1]. */
typedef struct {
    MPI_Comm    ranks;
    int         rank, n;        /* this one, of how many                   */
    mail_bytes *to, in;
    int        *begin;
    uint64_t    sent;           /* bytes to other ranks so far             */
} mail;

void mail_open(mail *m, MPI_Comm ranks);
void mail_close(mail *m);

/* Forget what was to be sent. */
void mail_empty(mail *m);

/* Send all of it; less than 2 GiB from and to each rank. Collective. */
void mail_exchange(mail *m);

/* ==== node.c ============================================================ */

/* Instead of a value: the member has left. */
#define NODE_GONE INT64_MIN

/* A value of a member that some nodes hold. */
typedef struct {
    int64_t  value;
    uint64_t holders;           /* by their acknowledgements               */
} node_state;

/* A member, in the node to which it belongs. */
typedef struct {
    uint64_t    name;
    int64_t     selected;       /* its value now                           */
    bool        there;          /* it has had one                          */
    node_state *states;
    size_t      n, room;
} node_member;

/* What a node believes of all members. */
typedef struct {
    int64_t count, sum;         /* of values that are no NODE_GONE         */
    int64_t least, most;        /* of all values that it has ever received;
                                   least > most: of none                   */
} node_sums;

/* How large filters are to be: for a rate, or, with `probes` not 0, so many
 * bits for an entry. */
typedef struct {
    const char *kind;           /* of those that entries leave again       */
    double   rate;
    unsigned bits, probes;
    bool     skip;              /* add no entry that seems to be there     */
    uint64_t nodes, members;    /* of all ranks                            */
} node_plan;

/* What became of reports. */
typedef struct {
    uint64_t first, replaced, same, unsuccessful;
    uint64_t repeated;          /* messages that had come before           */
    uint64_t messages;
} node_tally;

typedef struct {
    uint64_t     number;        /* of the node                             */
    node_member *members;       /* its own                                 */
    size_t       n;
    bly_filter  *met;           /* my members and nodes that have counted
                                   them, with any value (AMD)              */
    bly_filter  *held;          /* … that hold this value (AMS)            */
    bly_filter  *counted;       /* members that I have counted (DMA)       */
    bly_filter  *inside;        /* their values that are in my sums (SMA)  */
    uint64_t    *last;          /* number of the last message of each node */
    node_sums    sums;
    bool         skip;
    uint64_t     refused;       /* entries that no filter took, or let go  */
} node;

void node_open(node *n, const node_plan *plan, uint64_t number);
void node_close(node *n);

/* Append a message: all members' values for node `to`. Messages from one node
 * to another have rising numbers, from 1. */
void node_report(const node *n, uint64_t to, uint64_t number, mail_bytes *out);

/* Where a message that begins here is for, and its length. */
uint64_t node_message_to(const unsigned char *message);
size_t   node_message_bytes(const unsigned char *message);

/* Add up what a message reports, and append a byte for each report in it;
 * nothing if it had come before. */
void node_receive(node *n, const unsigned char *message, mail_bytes *answer,
                  node_tally *tally);

/* The answer to a message of mine; how many bytes of it. */
size_t node_acknowledge(node *n, const unsigned char *message,
                        const unsigned char *answer);

/* Bytes of filters. */
uint64_t node_memory(const node *n);

/* ==== gossip.c ========================================================== */

typedef struct {
    node_plan plan;
    unsigned  repeat;           /* each message is sent so many times      */
    uint64_t  seed;             /* of who talks to whom                    */
} gossip_plan;

typedef struct gossip gossip;

/* All nodes, spread over these ranks; no member is there yet. Collective. */
gossip *gossip_open(MPI_Comm ranks, const gossip_plan *plan);
void    gossip_close(gossip *g);

/* From now on member i has this value. Members belong to nodes in turn; all
 * ranks are told of all members. */
void gossip_set(gossip *g, uint64_t i, int64_t value);

/* Every node sends its members' values to another one. Collective. */
void gossip_round(gossip *g);

/* What became of reports so far, how many entries filters refused, the bytes
 * that were sent from rank to rank, and those of filters: of all ranks
 * together. Collective. */
node_tally gossip_tally(const gossip *g);
uint64_t   gossip_refused(const gossip *g);
uint64_t   gossip_sent(const gossip *g);
uint64_t   gossip_memory(const gossip *g);

/* On rank 0 views[i] becomes what node i believes. Collective. */
void gossip_views(const gossip *g, node_sums *views);

/* The share of what all nodes send each other that leaves its rank, after each
 * has talked to each. */
double gossip_away(const gossip *g);

#endif
