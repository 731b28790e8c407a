/* gossip.h - interfaces between the files of the Pournaras experiment.
 *
 * From the bottom up:
 *
 *      mail.c       bytes from every rank to every rank, counted
 *      node.c       one node of the aggregation: its filters and its sums
 *      gossip.c     all nodes, talking to each other round by round
 *      pournaras.c  the experiments
 *
 * It runs as several processes, the *ranks* of an MPI job; the file `ranks` has
 * their number.
 */
#ifndef POURNARAS_GOSSIP_H
#define POURNARAS_GOSSIP_H

#include "lab.h"

#include <mpi.h>

/* ==== mail.c ============================================================ */

/* A growing byte buffer. All zero: empty. */
typedef struct {
    unsigned char *bytes;
    size_t n, room;
} mail_bytes;

/* Extends the buffer by `more` bytes; returns where they begin. */
unsigned char *mail_extend(mail_bytes *b, size_t more);

/* Data for each rank, and data received from all of them in order: the bytes
 * from begin[r] to begin[r + 1] are from rank r. */
typedef struct {
    MPI_Comm    ranks;
    int         rank, n;        /* this rank, their number                 */
    mail_bytes *to, in;
    int        *begin;
    uint64_t    sent;           /* bytes sent to other ranks so far        */
} mail;

void mail_open(mail *m, MPI_Comm ranks);
void mail_close(mail *m);

/* Discards data not yet sent. */
void mail_empty(mail *m);

/* Sends everything; less than 2 GiB from and to each rank. Collective. */
void mail_exchange(mail *m);

/* ==== node.c ============================================================ */

/* Marks a member that has left, in place of a value. */
#define NODE_GONE INT64_MIN

/* A member's value that some nodes hold. */
typedef struct {
    int64_t  value;
    uint64_t holders;           /* counted by acknowledgements             */
} node_state;

/* A member, in its own node. */
typedef struct {
    uint64_t    name;
    int64_t     selected;       /* its current value                       */
    bool        there;          /* it has had a value                      */
    node_state *states;
    size_t      n, room;
} node_member;

/* A node's view of all members. */
typedef struct {
    int64_t count, sum;         /* of values other than NODE_GONE          */
    int64_t least, most;        /* of all received, or least > most */
} node_sums;

/* The size of filters: for a rate or, if `probes` is not 0, in bits per
 * entry. */
typedef struct {
    const char *kind;           /* of filters with removal                 */
    double   rate;
    unsigned bits, probes;
    bool     skip;              /* skip entries that seem to be present    */
    uint64_t nodes, members;    /* over all ranks                          */
} node_plan;

/* The outcome of reports. */
typedef struct {
    uint64_t first, replaced, same, unsuccessful;
    uint64_t repeated;          /* messages received before                */
    uint64_t messages;
} node_tally;

typedef struct {
    uint64_t     number;        /* of the node                             */
    node_member *members;       /* its own                                 */
    size_t       n;
    bly_filter  *met;           /* my members and the nodes that have
                                   counted them, with any value (AMD) */
    bly_filter  *held;          /* … that hold this value (AMS)            */
    bly_filter  *counted;       /* members that I have counted (DMA)       */
    bly_filter  *inside;        /* their values in my sums (SMA)           */
    uint64_t    *last;          /* number of each node's last message */
    node_sums    sums;
    bool         skip;
    uint64_t     refused;       /* entries that no filter could add or remove */
} node;

void node_open(node *n, const node_plan *plan, uint64_t number);
void node_close(node *n);

/* Appends a message: all members' values for node `to`. Messages from one node
 * to another have rising numbers, from 1. */
void node_report(const node *n, uint64_t to, uint64_t number, mail_bytes *out);

/* Returns the recipient of a message that begins here; its length. */
uint64_t node_message_to(const unsigned char *message);
size_t   node_message_bytes(const unsigned char *message);

/* Adds up a message's reports, and appends a byte for each; nothing if it was
 * received before. */
void node_receive(node *n, const unsigned char *message, mail_bytes *answer,
                  node_tally *tally);

/* Reads the answer to a message of this node; returns its length. */
size_t node_acknowledge(node *n, const unsigned char *message,
                        const unsigned char *answer);

/* Returns the bytes of filters. */
uint64_t node_memory(const node *n);

/* ==== gossip.c ========================================================== */

typedef struct {
    node_plan plan;
    unsigned  repeat;           /* copies sent of each message             */
    uint64_t  seed;             /* for the choice of partners              */
} gossip_plan;

typedef struct gossip gossip;

/* Makes all nodes, spread over these ranks, without members. Collective. */
gossip *gossip_open(MPI_Comm ranks, const gossip_plan *plan);
void    gossip_close(gossip *g);

/* Sets the value of member i from now on. Nodes own members in turn; all ranks
 * call this for all members. */
void gossip_set(gossip *g, uint64_t i, int64_t value);

/* Every node sends its members' values to another one. Collective. */
void gossip_round(gossip *g);

/* Sums over all ranks: the outcome of reports so far, entries refused by
 * filters, bytes sent between ranks, and bytes of filters. Collective. */
node_tally gossip_tally(const gossip *g);
uint64_t   gossip_refused(const gossip *g);
uint64_t   gossip_sent(const gossip *g);
uint64_t   gossip_memory(const gossip *g);

/* On rank 0, sets views[i] to the view of node i. Collective. */
void gossip_views(const gossip *g, node_sums *views);

/* Returns the share of all messages that leaves its rank, after each node has
 * talked to each. */
double gossip_away(const gossip *g);

#endif
