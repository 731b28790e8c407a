/* count.h - what the files of `bloomery-mpi count` share.
 *
 * From the bottom up:
 *
 *      events.c     lines of a name and a value -> the rank that has the name
 *      node.c       one node of the aggregation: its filters and its sums
 *      gossip.c     all nodes, talking to each other round by round
 *      cmd_count.c  the command
 *
 * Floor 8 (programs); includes cluster.h only.
 */
#ifndef CLUSTER_COUNT_H
#define CLUSTER_COUNT_H

#include "mpi/cluster.h"

/* ==== events.c ========================================================== */

/* Instead of a value: the member has left. */
#define EVENTS_GONE INT64_MIN

/* A member has this value from now on. */
typedef struct {
    uint64_t name;              /* the hash of its name                    */
    int64_t  value;             /* so many units, or EVENTS_GONE           */
    uint64_t epoch;             /* in which it is to happen, from 0        */
} event;

typedef struct {
    event   *list;              /* of this rank's members, in line order   */
    size_t   n, room;
    unsigned digits;            /* a unit is the last of so many decimals  */
    uint64_t most;              /* the largest value, without its sign     */
    uint64_t lines, keyless;    /* of all ranks                            */
    uint64_t sent;              /* bytes by all ranks, to bring them here  */
} events;

/* Read all lines, divide them evenly into so many epochs, and bring each to the
 * rank of its member's node, of so many nodes. CLI_GO or CLI_ERROR, as
 * job_agree says. Collective. */
int  events_read(events *e, share *s, uint64_t nodes, uint64_t epochs);
void events_free(events *e);

/* ==== node.c ============================================================ */

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
    uint64_t count, sum;        /* of values that are no EVENTS_GONE; the sum
                                   in units, modulo 2^64                   */
    int64_t  least, most;       /* of all values that it has ever taken in;
                                   least > most: of none                   */
} node_sums;

/* How large filters are to be: for a rate, or, with `probes` not 0, so many
 * bits for an entry. */
typedef struct {
    const char *kind;           /* of those that entries leave again       */
    double   rate;              /* 0: so that errors are unlikely          */
    uint64_t bits, probes;
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
    node_member *members;       /* its own, sorted by name                 */
    size_t       n;
    bly_filter  *met;           /* my members and nodes that have counted
                                   them, with any value (AMD)              */
    bly_filter  *held;          /* … that hold this value (AMS)            */
    bly_filter  *counted;       /* members that I have counted (DMA)       */
    bly_filter  *inside;        /* their values that are in my sums (SMA)  */
    uint64_t    *last;          /* number of the last message of each node */
    node_sums    sums;
    uint64_t     refused;       /* entries that a filter could not take    */
    uint64_t     stuck;         /* that it could not take out again        */
} node;

/* `members` stay the caller's. CLI_GO or CLI_ERROR. */
int  node_open(node *n, const node_plan *plan, uint64_t number,
               node_member *members, size_t count);
void node_close(node *n);
void node_forget(node_member *m);       /* free its states */

/* Append a message: all members' values for node `to`. Messages from one node
 * to another have rising numbers, from 1. */
void node_report(const node *n, uint64_t to, uint64_t number, job_bytes *out);

/* Where a message that begins here is for, and its length. */
uint64_t node_message_to(const unsigned char *message);
size_t   node_message_bytes(const unsigned char *message);

/* Take a message in, and append a byte for each report in it; nothing if it had
 * come before. */
void node_take(node *n, const unsigned char *message, job_bytes *answer,
               node_tally *tally);

/* The answer to a message of mine; how many bytes of it. */
size_t node_settle(node *n, const unsigned char *message,
                   const unsigned char *answer);

/* Bytes of filters. */
uint64_t node_memory(const node *n);

/* ==== gossip.c ========================================================== */

typedef struct {
    node_plan plan;
    uint64_t  repeat;           /* each message is sent so many times      */
    uint64_t  seed;             /* of who talks to whom                    */
} gossip_plan;

typedef struct gossip gossip;

/* The nodes of this rank with their members, as the events tell of them, of
 * which the plan need not know the number. NULL: one rank cannot, and has said
 * why. Collective. */
gossip *gossip_open(const gossip_plan *plan, const events *e);
void    gossip_close(gossip *g);

/* The first of a rank's nodes, and the rank of a node, of so many. */
uint64_t gossip_first(uint64_t nodes, int rank);
int      gossip_rank(uint64_t nodes, uint64_t number);

/* The node of a member. */
uint64_t gossip_node(uint64_t nodes, uint64_t name);

/* Let the events of an epoch happen. */
void gossip_events(gossip *g, const events *e, uint64_t epoch);

/* Every node sends its members' values to another one. Collective. */
void gossip_round(gossip *g);

/* The truth about this rank's members, and what became of reports to its nodes
 * so far. */
node_sums  gossip_truth(const gossip *g);
node_tally gossip_tally(const gossip *g);
uint64_t   gossip_memory(const gossip *g);
uint64_t   gossip_refused(const gossip *g);
uint64_t   gossip_stuck(const gossip *g);
const node_plan *gossip_settled(const gossip *g);       /* with its numbers */

/* Rank 0 gets what all nodes believe, in their order; others NULL. To be
 * freed. Collective. */
node_sums *gossip_views(const gossip *g);

#endif
