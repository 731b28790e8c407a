/* serve.h - declarations shared by the files of `bloomery serve`.
 *
 *      guard.c     protection against files overwritten while mapped
 *      served.c    the filters, and their replacement by new files
 *      counts.c    counters, and their text for Prometheus
 *      asking.c    answers a batch of requests
 *      talk.c      gathers requests into batches, and writes answers
 *      plain.c     the line protocol
 *      helper.c    Squid's protocol
 *      postfix.c   Postfix's two protocols
 *      place.c     listening addresses
 *      client.c    one client on a socket
 *      list.c      JSON arrays of keys
 *      http.c      parses HTTP requests
 *      web.c       answers HTTP requests
 *      loop.c      the clients of a thread
 *      coprocess.c the single client on standard input and output
 *      listen.c    threads, signals, reloading
 *      cmd_serve.c options
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "filters/filters.h"
#include "frame/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/types.h>

enum {
    SERVE_BATCH = 1024,         /* maximum requests in a batch              */
    SERVE_LONGEST = 1 << 20,    /* maximum bytes of a request               */
    SERVE_READ = 1 << 16,       /* bytes per read                           */
    SERVE_UNSENT = 1 << 18      /* unread bytes of answers at which no more
                                   requests of the client are handled       */
};

/* ==== guard.c =========================================================== */

/* A file that may be mapped, with its status when it was opened. */
typedef struct {
    int             fd;         /* -1 if it cannot be mapped                */
    off_t           size;
    struct timespec changed;
} serve_guard;

/* Installs the SIGBUS handler. */
void guard_start(void);

/* Calls work(context). Returns false if SIGBUS interrupted it. */
bool guard_run(void (*work)(void *context), void *context);

void guard_open(serve_guard *g, const char *path);
void guard_close(serve_guard *g);

/* Looks up keys of a form. Returns false, and the answers are invalid, if the
 * file was written to since it was opened. */
bool guard_ask(const serve_guard *g, const bly_filter *filter, uint64_t form,
               const bly_keys *keys, bool *there);

/* ==== served.c ========================================================== */

#define SERVED_ALL SIZE_MAX

/* A filter, with the state of its file when it was opened. */
typedef struct {
    bly_filter *filter;
    serve_guard guard;          /* of its file                              */
    uint64_t    stated;         /* the form stated by the filter            */
    uint64_t    form;           /* the form used: the stated one, or the one
                                   chosen by options                        */
    bool        cut_cr;         /* whether a CR before a newline is dropped */
    bly_info_t  stat;
    char       *about;          /* output of `info --json`, if wanted; NULL if
                                   out of memory                            */
    size_t      about_length;
    size_t      users;          /* number of sets that contain it           */
} served_filter;

/* The filters served at one time; immutable. */
typedef struct {
    size_t         users;
    size_t         n;
    served_filter *filters[];
} served_set;

typedef struct {
    bool load;                  /* load into memory instead of mapping      */
    bool trust;                 /* do not verify checksums                  */
    bool about;                 /* prepare served_filter.about              */
    bool fold, null;            /* -i and -0                                */
    uint64_t as;                /* --as, or FORMS_UNSAID                    */
} served_how;

/* Opens all filters. Returns CLI_GO or CLI_ERROR. */
int  served_open(const cli_operands *files, const served_how *how);
void served_close(void);

/* Checks whether files have been replaced, and opens the new ones. If a file
 * cannot be opened, this is reported once and the old filter stays; `again`
 * retries such files. Returns whether the set has changed. */
bool served_renew(bool again);

/* Takes the current set; release it with served_give. served_age returns a
 * number that differs for each set, without taking a lock. */
const served_set *served_take(void);
void served_give(const served_set *set);
uint64_t served_age(void);

/* Returns the name of filter i: its file name without folder and extension. */
const char *served_name(size_t i);

/* Returns the index of the filter with that name, or SERVED_ALL. */
size_t served_find(const void *name, size_t length);

extern atomic_uint_fast64_t served_reloads, served_refusals;

/* ==== Requests, protocols and settings ================================== */

/* A request, and later its answer. */
typedef struct {
    const unsigned char *text;  /* the key as written; NULL if the request is
                                   malformed, and …                         */
    size_t         length;
    bool           returns;     /* whether the line ends with CR LF; the CR is
                                   then the last byte of the text           */
    const char    *fault;       /* … this is the reason                     */
    bool           passing;     /* whether a retry may succeed              */
    bool           outside;     /* the fault is a key that cannot be read, and
                                   surely lies within no entry of a filter  */
    const void    *tag;         /* prefix of the answer, such as a channel  */
    size_t         tag_length;
    size_t         filter;      /* index, or SERVED_ALL                     */
    bool           there;       /* whether the key may be present           */
} serve_request;

typedef struct serve_how serve_how;

/* A protocol. */
typedef struct {
    const char *name;

    /* Parses the request at the start of n bytes, of which the first *looked
     * are known not to contain its end. With `end`, no more bytes follow.
     * Returns the length of the request, or 0 if it is incomplete. Returns
     * TALK_GARBAGE, with the fault in *out, if the input cannot be parsed any
     * further. */
    size_t (*take)(const serve_how *how, unsigned char *bytes, size_t n,
                   size_t *looked, bool end, serve_request *out);

    /* Appends the answer. Returns false if out of memory. */
    bool (*put)(const serve_how *how, const serve_request *r, cli_bytes *out);
} serve_protocol;

#define TALK_GARBAGE SIZE_MAX

extern const serve_protocol plain_protocol, helper_protocol,
    postfix_map_protocol, postfix_table_protocol;

/* A listening address. */
typedef struct {
    const char *text;           /* as given; NULL if unused                 */
    const char *path;           /* of a Unix socket, or NULL                */
    struct sockaddr_storage address;
    socklen_t   length;
} serve_place;

struct serve_how {
    const serve_protocol *protocol;
    served_how  open;
    serve_place socket, port, web;
    bool        all;            /* whether all filters must match, or one   */
    bool        null, channels;
    uint64_t    field;          /* of Squid's line, counted from 1          */
    const char *value;          /* result for keys present, for Postfix     */
    size_t      threads;
    uint64_t    clients;
    int         mode;           /* of Unix sockets; -1 for the umask's      */
    cli_operands hosts;         /* --host                                   */
};

/* ==== counts.c ========================================================== */

/* Counters of one loop. Any thread may read them. */
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

/* Appends the Prometheus text. Counters of one protocol are summed. */
bool counts_text(cli_bytes *out, const serve_counted *counted, size_t n,
                 const served_set *set);

/* ==== asking.c ========================================================== */

/* State of a thread that answers requests. */
typedef struct {
    const serve_how  *how;
    const served_set *set;
    uint64_t      age;
    serve_request requests[SERVE_BATCH];
    size_t        places[SERVE_BATCH];  /* indices of the requests with keys */
    bool          there[SERVE_BATCH], one[SERVE_BATCH];
    bool          some_unread;          /* whether some keys cannot be read */
    uint8_t       unread[SERVE_BATCH];  /* class of keys required, or 0      */

    /* The keys for one filter, in its form. */
    bly_key       keys[SERVE_BATCH];
    bool          lacks[SERVE_BATCH];   /* the filter cannot read the key    */
    size_t        lacking;              /* number of those                  */
    uint64_t      form;                 /* BLY_KEYS_TEXT if as written      */
    bool          cut_cr;               /* whether CRs are dropped          */
    bool          returns;              /* whether there are such lines     */
    cli_bytes     bytes;                /* of the converted keys            */
    char          why[256];             /* a fault that names forms         */
} serve_asker;

serve_asker *asking_new(const serve_how *how);
void asking_free(serve_asker *asker);

/* Switches to the current set of filters. */
void asking_renew(serve_asker *asker);

/* Answers the first n requests. `as` is the class of keys they name, or
 * FORMS_UNSAID. A request whose key a filter cannot read gets a fault, unless
 * the other filters decide its answer. Keys are counted here, requests are not:
 * one may have many keys. */
void asking_batch(serve_asker *asker, size_t n, uint64_t as,
                  serve_counts *counts);

/* ==== http.c ============================================================ */

/* An HTTP request with a complete head. */
typedef struct {
    char  *data;
    size_t length;
} http_text;

typedef struct {
    unsigned    status;         /* 0 if well formed, else the error …       */
    const char *fault;          /* … and its reason                         */
    http_text   method, path, query;
    bool        old;            /* HTTP/1.0                                 */
    bool        close;          /* whether to close the connection          */
    bool        chunked, expects;
    unsigned char *body;        /* may be modified                          */
    uint64_t    length;         /* of the body                              */
    size_t      bytes;          /* of the whole request                     */
} http_question;

/* A request that is being received. Initialise to zero; offsets count from its
   start. */
typedef enum {
    HTTP_IN_HEAD, HTTP_IN_SIZE, HTTP_IN_CHUNK, HTTP_IN_END, HTTP_IN_TRAILERS
} http_part;

typedef struct {
    http_part part;
    size_t    looked, line;     /* bytes searched for a newline; start of the
                                   current line                             */
    size_t    head, body;       /* lengths; head is 0 until complete        */
    size_t    trailers;
    uint64_t  left;             /* bytes of the chunk still to come         */
    size_t    held;             /* bytes reserved in the budget             */
    bool      chunked, expects;
} http_state;

typedef enum { HTTP_MORE, HTTP_DONE, HTTP_WRONG } http_step;

/* Parses the next request of `in`. HTTP_DONE: it is in *q and has q->bytes
 * bytes; call http_forget before the next one. HTTP_WRONG: *q holds the status
 * and the fault, and the connection must be closed. HTTP_MORE: it is
 * incomplete. */
http_step http_take(const serve_how *how, http_state *s, cli_bytes *in,
                    http_question *q);
void http_forget(http_state *s);

/* ==== talk.c ============================================================ */

/* A client's conversation. Initialise to zero. */
typedef struct {
    cli_bytes in, out;
    size_t looked;              /* bytes of `in` known to have no end       */
    http_state http;
    bool   ended;               /* whether the input has ended              */
    bool   broken;              /* whether the input was malformed          */
    bool   idle;                /* whether `in` has no complete request     */
} serve_talk;

/* Answers complete requests until too much output is unsent. Returns false if
   out of memory. */
bool talk_answer(serve_talk *talk, serve_asker *asker, serve_counts *counts);
void talk_free(serve_talk *talk);

/* ==== plain.c =========================================================== */

/* Finds the line at the start of n bytes. It ends with the terminator or, as
 * the last one, with the input. The arguments are those of serve_protocol.take.
 */
size_t plain_line(char terminator, const unsigned char *bytes, size_t n,
                  size_t *looked, bool end, size_t *length);

extern const char plain_too_long[];

/* Decodes %XX in place. Returns the new length, or SIZE_MAX if a % is not
 * followed by two hexadecimal digits. */
size_t plain_unescape(unsigned char *text, size_t n);

/* ==== place.c =========================================================== */

/* Parses "8080", "127.0.0.1:8080", "[::1]:8080" or, if `paths`, a path that
 * contains a slash. Returns NULL or a message, like the readers of numbers.c.
 */
const char *place_read(const char *text, bool paths, serve_place *out);
const char *place_path(const char *path, serve_place *out);

/* Opens n listening sockets, which may all be the same one. Returns CLI_GO or
 * CLI_ERROR. */
int  place_open(const serve_place *place, int mode, int *sockets, size_t n);

/* Removes the file of a Unix socket, unless another server listens there. */
void place_close(const serve_place *place);

/* ==== client.c ========================================================== */

/* Sources of events for a loop. */
typedef enum { LOOP_WAKE, LOOP_LISTENER, LOOP_CLIENT } loop_kind;
typedef struct {
    loop_kind kind;
    int       fd;
} loop_source;

typedef struct serve_web serve_web;
typedef struct serve_client serve_client;
struct serve_client {
    loop_source   source;       /* must be first: events point to it        */
    serve_talk    talk;
    serve_web    *web;          /* NULL unless the client speaks HTTP       */
    serve_client *next, *before;
    double        since;        /* time of the last progress                */
    uint32_t      events;       /* registered with epoll                    */
    bool          leaving;      /* whether input is being discarded before
                                   closing                                  */
    bool          draining;     /* whether, at shutdown, …                  */
    size_t        left;         /* … only this much input is still answered */
};

/* Advances the client at this time; `ready` if it can be read. Returns false
   when it is done. */
bool client_step(serve_client *c, serve_asker *asker, serve_counts *counts,
                 bool ready, double now);

/* Returns the events to wait for. */
uint32_t client_events(const serve_client *c);

/* Answers what has been received, and ignores later input. */
void client_drain(serve_client *c);

/* Returns whether the client has stalled for too long. */
bool client_stalls(const serve_client *c, double now);

/* Returns whether a request or an answer is unfinished. */
bool client_owes(const serve_client *c);

/* ==== list.c ============================================================ */

/* A JSON array that is being read; the rest is from `at` to `end`. */
typedef struct {
    unsigned char *at, *end;
    bool           begun;
} serve_list;

typedef enum { LIST_KEY, LIST_END, LIST_WRONG } list_step;

/* Reads the next key, which is decoded inside the text of the array. */
list_step list_next(serve_list *list, bly_key *key);

/* ==== web.c ============================================================= */

/* Creates the HTTP state of one thread. Returns NULL after reporting an error.
 */
serve_web *web_open(serve_asker *asker, serve_counts *counts,
                    const serve_counted *counted, size_t n);

/* Like talk_answer. */
bool web_talk(serve_web *web, serve_talk *talk);

/* ==== loop.c ============================================================ */

enum {
    LOOP_WEB = 2, LOOP_LISTENERS,   /* socket, port, and HTTP port           */
    LOOP_TELL = 60                  /* seconds between notes                 */
};

/* A listening socket. */
typedef struct {
    loop_source source;
    double      paused;             /* time of the pause; 0 if active        */
} loop_listener;

/* State shared by the loops. */
typedef struct {
    atomic_bool stop;
    atomic_uint_fast64_t clients;
    atomic_int_fast64_t  told;      /* time of the last note; -LOOP_TELL at
                                       first                                 */
} serve_common;

typedef struct {
    const serve_how *how;
    serve_common *common;
    pthread_t    thread;
    int          epoll, wake;
    loop_source  waker;
    loop_listener listeners[LOOP_LISTENERS];
    serve_client *clients;
    uint64_t     visitors;      /* HTTP clients                              */
    serve_asker *asker;
    serve_web   *web;
    serve_counts talks, webs;
    bool         failed, draining;
    double       now, swept, deadline;
} serve_loop;

/* Prepares to serve on these sockets (-1 for none), which the loop then owns.
 * Returns CLI_GO or CLI_ERROR; call loop_close in either case. */
int   loop_open(serve_loop *loop, const int sockets[LOOP_LISTENERS],
                const serve_counted *counted, size_t n);
void *loop_run(void *loop);
void  loop_close(serve_loop *loop);

/* Wakes the thread that waits on this eventfd. */
void  loop_wake(int wake);
void  loop_hear(int wake);

/* ==== coprocess.c ======================================================= */

typedef struct {
    const serve_how *how;
    pthread_t    thread;
    int          wake, done;    /* eventfds that wake it and report its end  */
    atomic_bool *stop;
    serve_asker *asker;
    serve_counts counts;
    bool         failed;
} serve_coprocess;

int   coprocess_open(serve_coprocess *c);
void *coprocess_run(void *coprocess);
void  coprocess_close(serve_coprocess *c);

/* ==== listen.c ========================================================== */

/* Serves until a signal or the end of standard input. Returns the exit status.
 */
int listen_run(const serve_how *how, const cli_operands *files);

extern const cli_command cmd_serve;

#endif
