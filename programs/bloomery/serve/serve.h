/* serve.h - what the files of `bloomery serve` share.
 *
 *      guard.c     files that are written over while they are mapped
 *      served.c    the filters, and new files in the place of old ones
 *      counts.c    what is counted, and Prometheus' text of it
 *      asking.c    a batch of requests -> their answers
 *      talk.c      bytes of a client -> batches -> bytes for it
 *      plain.c     the protocol of lines
 *      helper.c    Squid's
 *      postfix.c   Postfix's two
 *      place.c     where a socket is to listen
 *      client.c    a client at a socket
 *      list.c      a JSON array of keys
 *      http.c      bytes of a client -> a request of HTTP
 *      web.c       answers to requests of HTTP
 *      loop.c      the clients of a thread
 *      coprocess.c the one client at standard input and output
 *      server.c    threads, signals, new files
 *      cmd_serve.c options
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "filters/filters.h"
#include "frame/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

enum {
    SERVE_BATCH = 1024,         /* requests that are answered at once       */
    SERVE_LONGEST = 1 << 20,    /* bytes of a request                       */
    SERVE_READ = 1 << 16,       /* bytes that are read at once              */
    SERVE_UNSENT = 1 << 18      /* bytes that may wait for a client to read
                                   them; before that nothing more is asked  */
};

/* ==== guard.c =========================================================== */

/* A file that may be mapped, as it was when it was opened. */
typedef struct {
    int             fd;         /* -1: it cannot be mapped                  */
    off_t           size;
    struct timespec changed;
} serve_guard;

/* From here on SIGBUS is caught where a guard is. */
void guard_start(void);

/* Do this. False: it came upon bytes that were cut off, and did not end. */
bool guard_run(void (*work)(void *context), void *context);

void guard_open(serve_guard *g, const char *path);
void guard_close(serve_guard *g);

/* bly_contains_keys. False: the file was written to since it was opened, and
 * the answers are none. */
bool guard_ask(const serve_guard *g, const bly_filter *filter,
               const bly_keys *keys, bool *there);

/* ==== served.c ========================================================== */

#define SERVED_ALL SIZE_MAX

/* A filter, as it was when its file was opened. */
typedef struct {
    bly_filter *filter;
    serve_guard guard;          /* of its file                              */
    uint64_t    stated;         /* the form that it states                  */
    uint64_t    form;           /* by which keys are made: that form, or the
                                   one that the options ask for             */
    bool        cut_cr;         /* a CR before a newline is not in the key  */
    bly_stat_t  stat;
    char       *about;          /* what `info --json` says, if that was
                                   wanted; NULL: no memory                  */
    size_t      about_length;
    size_t      users;          /* sets that it is in                       */
} served_filter;

/* All filters at one time; never changed. */
typedef struct {
    size_t         users;
    size_t         n;
    served_filter *filters[];
} served_set;

typedef struct {
    bool load;                  /* into memory, instead of mapping it       */
    bool trust;                 /* the checksum is not compared             */
    bool about;                 /* is to be told                            */
    bool fold, null;            /* -i and -0                                */
    uint64_t as;                /* --as, or FORMS_UNSAID                    */
} served_how;

/* Open all. CLI_GO or CLI_ERROR. */
int  served_open(const cli_operands *files, const served_how *how);
void served_close(void);

/* Look whether files are new, and open those. A file that cannot be opened is
 * reported once, and the old filter stays; with `again` it is tried once more.
 * True: there is another set. */
bool served_renew(bool again);

/* The set of now, for as long as it takes; and a number that is another one for
 * each set, without a lock. */
const served_set *served_take(void);
void served_give(const served_set *set);
uint64_t served_age(void);

/* The name of filter i: that of its file, without folder and last ending. */
const char *served_name(size_t i);
size_t served_find(const void *name, size_t length);    /* or SERVED_ALL */

extern atomic_uint_fast64_t served_reloads, served_refusals;

/* ==== How all is done =================================================== */

/* A question on its way to its answer. */
typedef struct {
    const unsigned char *text;  /* the key as it was written; NULL: there is
                                   no question, and …                       */
    size_t         length;
    bool           returns;     /* it is a line that ends with CR LF, and
                                   the CR is the last byte of the text      */
    const char    *fault;       /* … this is why                            */
    bool           passing;     /* asked again it may be answered           */
    const void    *tag;         /* what the answer begins with              */
    size_t         tag_length;
    size_t         filter;      /* its number, or SERVED_ALL                */
    bool           there;       /* the answer                               */
} serve_request;

typedef struct serve_how serve_how;

/* A language that clients speak. */
typedef struct {
    const char *name;

    /* Take the request at the start of n bytes, of which the first *looked are
     * known to hold no end of it; `end`: nothing follows them. How many bytes
     * it has; 0: it is not complete. TALK_GARBAGE: no request can be found
     * here, nor behind it, and the fault of *out says why. */
    size_t (*take)(const serve_how *how, unsigned char *bytes, size_t n,
                   size_t *looked, bool end, serve_request *out);

    /* Append the answer. False: no memory. */
    bool (*put)(const serve_how *how, const serve_request *r, cli_bytes *out);
} serve_protocol;

#define TALK_GARBAGE SIZE_MAX

extern const serve_protocol plain_protocol, helper_protocol,
    postfix_map_protocol, postfix_table_protocol;

/* Where clients come to. */
typedef struct {
    const char *text;           /* as it was given; NULL: nowhere           */
    const char *path;           /* of a Unix socket, or NULL                */
    struct sockaddr_storage address;
    socklen_t   length;
} serve_place;

struct serve_how {
    const serve_protocol *protocol;
    served_how  open;
    serve_place socket, port, web;
    bool        all;            /* filters must have the key; else one      */
    bool        null, channels;
    uint64_t    field;          /* of Squid's line, from 1                  */
    const char *value;          /* of what is there, for Postfix            */
    size_t      threads;
    uint64_t    clients;
    int         mode;           /* of Unix sockets; -1: as umask has it     */
    cli_operands hosts;         /* --host                                   */
};

/* ==== counts.c ========================================================== */

/* Each loop counts its own, and anybody may read it. */
typedef struct {
    atomic_uint_fast64_t requests, keys, positives, errors, clients;
} serve_counts;

typedef struct {
    const char   *protocol;
    const serve_counts *counts;
} serve_counted;

static inline void counts_add(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* Prometheus' text; of several counts of one protocol the sum. */
bool counts_text(cli_bytes *out, const serve_counted *counted, size_t n,
                 const served_set *set);

/* ==== asking.c ========================================================== */

/* What a thread needs to answer requests. */
typedef struct {
    const serve_how  *how;
    const served_set *set;
    uint64_t      age;
    serve_request requests[SERVE_BATCH];
    size_t        places[SERVE_BATCH];  /* of the keys in requests          */
    bool          there[SERVE_BATCH], one[SERVE_BATCH];
    bool          some_unread;          /* a filter cannot read some keys:  */
    uint8_t       unread[SERVE_BATCH];  /* the class of that filter, or 0   */

    /* The keys of one filter, made by its form. */
    bly_key       keys[SERVE_BATCH];
    bool          lacks[SERVE_BATCH];   /* the key cannot be read by it …   */
    size_t        lacking;              /* … which holds for so many        */
    uint64_t      form;                 /* BLY_KEYS_TEXT: as written        */
    bool          cut_cr;               /* without the CR of lines          */
    bool          returns;              /* there are such lines             */
    cli_bytes     bytes;                /* of keys that a form has changed  */
    char          why[256];             /* a fault that names forms         */
} serve_asker;

serve_asker *asking_new(const serve_how *how);
void asking_free(serve_asker *asker);

/* From now on ask the filters of now. */
void asking_renew(serve_asker *asker);

/* Answers its first n requests. `as` is the class of keys that they name, or
 * FORMS_UNSAID. A request whose key cannot be read by the form of a filter gets
 * a fault, unless the other filters decide its answer. Keys are counted, and
 * requests are not: one may have many. */
void asking_batch(serve_asker *asker, size_t n, uint64_t as,
                  serve_counts *counts);

/* ==== http.c ============================================================ */

/* A request of HTTP whose head is complete. */
typedef struct {
    char  *data;
    size_t length;
} http_text;

typedef struct {
    unsigned    status;         /* 0: well formed; else what refuses it …   */
    const char *fault;          /* … and why                                */
    http_text   method, path, query;
    bool        old;            /* HTTP/1.0                                 */
    bool        close;          /* the last one of its connection           */
    bool        chunked, expects;
    unsigned char *body;        /* may be changed                           */
    uint64_t    length;         /* of the body                              */
    size_t      bytes;          /* of all of it                             */
} http_question;

/* A request on its way. All zero at first; offsets count from its start. */
typedef enum {
    HTTP_IN_HEAD, HTTP_IN_SIZE, HTTP_IN_CHUNK, HTTP_IN_END, HTTP_IN_TRAILERS
} http_part;

typedef struct {
    http_part part;
    size_t    looked, line;     /* bytes without a newline; where a line
                                   begins                                   */
    size_t    head, body;       /* their lengths; head 0: incomplete        */
    size_t    trailers;
    uint64_t  left;             /* bytes of a chunk that are still to come  */
    size_t    held;             /* bytes of its share in the budget         */
    bool      chunked, expects;
} http_state;

typedef enum { HTTP_MORE, HTTP_DONE, HTTP_WRONG } http_step;

/* Takes the next request of `in`. HTTP_DONE: it is in *q and is q->bytes long,
 * and http_forget is due before the next one. HTTP_WRONG: the status and fault
 * of *q say why nothing that follows can be trusted. HTTP_MORE: it is not
 * complete. */
http_step http_take(const serve_how *how, http_state *s, cli_bytes *in,
                    http_question *q);
void http_forget(http_state *s);

/* ==== talk.c ============================================================ */

/* One client's side of it. All zero at first. */
typedef struct {
    cli_bytes in, out;
    size_t looked;              /* bytes of `in` without an end             */
    http_state http;
    bool   ended;               /* nothing more comes in                    */
    bool   broken;              /* it was garbage: nothing more is read     */
    bool   idle;                /* no complete request is in `in`           */
} serve_talk;

/* Answer what is complete, until much is unsent. False: no memory. */
bool talk_answer(serve_talk *talk, serve_asker *asker, serve_counts *counts);
void talk_free(serve_talk *talk);

/* ==== plain.c =========================================================== */

/* The line at the start of n bytes, by its end or because it is the last one;
 * of serve_protocol.take all but *out. */
size_t plain_line(char terminator, const unsigned char *bytes, size_t n,
                  size_t *looked, bool end, size_t *length);

extern const char plain_too_long[];

/* Put bytes in the place of their %XX; how many are left, or SIZE_MAX: a % has
 * no two hexadecimal digits behind it. */
size_t plain_unescape(unsigned char *text, size_t n);

/* ==== place.c =========================================================== */

/* "8080", "127.0.0.1:8080", "[::1]:8080"; or, where `paths`, one with a slash:
 * as numbers.c has it. */
const char *place_read(const char *text, bool paths, serve_place *out);
const char *place_path(const char *path, serve_place *out);

/* Sockets that listen there, one for each of n threads, which may be the same
 * one. CLI_GO, or CLI_ERROR: there is none. */
int  place_open(const serve_place *place, int mode, int *sockets, size_t n);

/* Take away the file of a Unix socket that was opened, once nobody listens to
 * it any more: where another server does, it is that one's. */
void place_close(const serve_place *place);

/* ==== client.c ========================================================== */

/* What a loop waits for. */
typedef enum { LOOP_WAKE, LOOP_LISTENER, LOOP_CLIENT } loop_kind;
typedef struct {
    loop_kind kind;
    int       fd;
} loop_source;

typedef struct serve_web serve_web;
typedef struct serve_client serve_client;
struct serve_client {
    loop_source   source;       /* first: events name it                    */
    serve_talk    talk;
    serve_web    *web;          /* it speaks HTTP; NULL: the protocol       */
    serve_client *next, *before;
    double        since;        /* when it last moved on                    */
    uint32_t      events;       /* that are waited for                      */
    bool          leaving;      /* all is said: what it still sends is
                                   thrown away                              */
    bool          draining;     /* of what it sends …                       */
    size_t        left;         /* … so much is still answered              */
};

/* Go on with it, at this time; `ready`: it can be read. False: it is done. */
bool client_step(serve_client *c, serve_asker *asker, serve_counts *counts,
                 bool ready, double now);

/* What to wait for. */
uint32_t client_events(const serve_client *c);

/* Answer what it has sent, and nothing that it sends from now on. */
void client_drain(serve_client *c);

/* Has it let us wait too long? */
bool client_stalls(const serve_client *c, double now);

/* Returns whether it has a request or an answer on its way. */
bool client_owes(const serve_client *c);

/* ==== list.c ============================================================ */

/* An array on its way: from `at` to `end` is what is to come. */
typedef struct {
    unsigned char *at, *end;
    bool           begun;
} serve_list;

typedef enum { LIST_KEY, LIST_END, LIST_WRONG } list_step;

/* The next key, which lies in the text of the array, and changes it. */
list_step list_next(serve_list *list, bly_key *key);

/* ==== web.c ============================================================= */

/* Answers requests of HTTP for the clients of one thread. NULL: an error was
 * reported. */
serve_web *web_open(serve_asker *asker, serve_counts *counts,
                    const serve_counted *counted, size_t n);

/* As talk_answer. */
bool web_talk(serve_web *web, serve_talk *talk);

/* ==== loop.c ============================================================ */

enum {
    LOOP_WEB = 2, LOOP_LISTENERS,   /* socket, port, and that of HTTP        */
    LOOP_TELL = 60                  /* seconds between notes                 */
};

/* Where new clients come from. */
typedef struct {
    loop_source source;
    double      paused;             /* since when nobody is taken; 0: not so */
} loop_listener;

/* What loops share. */
typedef struct {
    atomic_bool stop;
    atomic_uint_fast64_t clients;
    atomic_int_fast64_t  told;      /* when, at first -LOOP_TELL             */
} serve_common;

typedef struct {
    const serve_how *how;
    serve_common *common;
    pthread_t    thread;
    int          epoll, wake;
    loop_source  waker;
    loop_listener listeners[LOOP_LISTENERS];
    serve_client *clients;
    uint64_t     visitors;      /* clients that speak HTTP                   */
    serve_asker *asker;
    serve_web   *web;
    serve_counts talks, webs;
    bool         failed, draining;
    double       now, swept, deadline;
} serve_loop;

/* Get ready to serve at these sockets, -1: none, which are then its own.
 * CLI_GO or CLI_ERROR; in either case it is to be closed. */
int   loop_open(serve_loop *loop, const int sockets[LOOP_LISTENERS],
                const serve_counted *counted, size_t n);
void *loop_run(void *loop);
void  loop_close(serve_loop *loop);

/* Wake who waits for this eventfd; and be awake. */
void  loop_wake(int wake);
void  loop_hear(int wake);

/* ==== coprocess.c ======================================================= */

typedef struct {
    const serve_how *how;
    pthread_t    thread;
    int          wake, done;    /* to wake it, and that it has ended         */
    atomic_bool *stop;
    serve_asker *asker;
    serve_counts counts;
    bool         failed;
} serve_coprocess;

int   coprocess_open(serve_coprocess *c);
void *coprocess_run(void *coprocess);
void  coprocess_close(serve_coprocess *c);

/* ==== server.c ========================================================== */

/* Serve until a signal, or the end of standard input. The exit status. */
int server_run(const serve_how *how, const cli_operands *files);

extern const cli_command cmd_serve;

#endif
