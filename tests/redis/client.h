/* client.h - test servers, and conversations with them.
 *
 * A server runs in the test's own folder, listens on a socket there and on no
 * port (a replica reaches its master by a loopback port), and is ended by
 * process number. Include test.h first.
 */
#ifndef BLY_TEST_REDIS_CLIENT_H
#define BLY_TEST_REDIS_CLIENT_H

#include <sys/types.h>

typedef struct {
    char  folder[64];
    char  options[512];                 /* of its command line               */
    int   port;                         /* 0: none                           */
    pid_t pid;                          /* 0: not running                    */
} server;

/* Returns whether a server is installed; if not, skips the test. */
bool server_is_there(void);

/* Starts a server in its folder, which is made if missing, with the module and
 * these options, and waits until it answers. */
void server_start(server *s, const char *options);

/* Starts a server that should refuse; returns its log, to be freed. */
char *server_refuses(server *s, const char *options);

/* Ends it by a signal and checks its exit (any for SIGKILL), or by SHUTDOWN. */
void server_end(server *s, int signal);

/* Ends it, and removes its folder. */
void server_remove(server *s);

/* Returns its log, to be freed. */
char *server_log(const server *s);

/* ---- A client ------------------------------------------------------------ */

typedef struct {
    int      file;
    uint8_t *bytes;                     /* received but unread               */
    size_t   n, read, room;
} client;

client client_open (const server *s, int protocol);
void   client_close(client *c);

/* Sends a command given as text: arguments are separated by spaces, or quoted
 * as in C. */
void client_say(client *c, const char *line);

/* Sends a command given as n arguments. */
typedef struct { const void *bytes; size_t n; } argument;
void client_send(client *c, size_t n, const argument *arguments);

/* Returns the next reply as text, to be freed: :1 for a number, +OK, -an error,
 * "bytes" as in C, [a b] for an array, {a b} for a map, #t and #f, _ for null.
 * NULL: the server has closed. */
char *client_hear(client *c);

/* Sends a command and returns the reply. */
char *client_ask(client *c, const char *line);

/* Parts of a reply: checks that it is an array of two and returns the first, a
 * number; the bytes of a string, to be freed. */
long     client_number(client *c);
uint8_t *client_bytes (client *c, size_t *n);

#define assert_answer(c, line, wanted)                                         \
    do {                                                                       \
        char *client_said = client_ask((c), (line));                           \
        assert_non_null(client_said);                                          \
        assert_string_equal(client_said, (wanted));                            \
        free(client_said);                                                     \
    } while (0)

#endif /* BLY_TEST_REDIS_CLIENT_H */
