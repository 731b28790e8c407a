/* client.h - servers of a test's own, and what they are told and answer.
 *
 * A server is started in a folder of the test's own, reached by a socket in it
 * and no port (a replica: by a port on loopback that the server of it has), and
 * ended by its process number. Who includes this includes test.h first.
 */
#ifndef BLY_TEST_REDIS_CLIENT_H
#define BLY_TEST_REDIS_CLIENT_H

#include <sys/types.h>

typedef struct {
    char  folder[64];
    char  options[512];                 /* of its command line               */
    int   port;                         /* 0: none                           */
    pid_t pid;                          /* 0: it does not run                */
} server;

/* Is there a server to be tested with? Else the test is skipped. */
bool server_is_there(void);

/* Start one in its folder, which is made where it is not there, with the module
 * and these options, and wait until it answers. */
void server_start(server *s, const char *options);

/* Start one that is to refuse: what its log says, to be freed. */
char *server_refuses(server *s, const char *options);

/* End it by a signal, and see that it ended well (any end will do for SIGKILL);
 * or as SHUTDOWN does. */
void server_end(server *s, int signal);

/* End it, and remove its folder. */
void server_remove(server *s);

/* What its log says, to be freed. */
char *server_log(const server *s);

/* ---- A client ------------------------------------------------------------ */

typedef struct {
    int      file;
    uint8_t *bytes;                     /* that came and were not read yet   */
    size_t   n, read, room;
} client;

client client_open (const server *s, int protocol);
void   client_close(client *c);

/* Send a command, its arguments given as text in which spaces part them: in
 * quotes as C has them where they hold others. */
void client_say(client *c, const char *line);

/* The same from so many arguments. */
typedef struct { const void *bytes; size_t n; } argument;
void client_send(client *c, size_t n, const argument *arguments);

/* The next reply as text, to be freed: :1 for a number, +OK, -an error, "bytes"
 * as C has them, [a b] for an array, {a b} for a map, #t and #f, _ for what is
 * not there. NULL: the server has closed. */
char *client_hear(client *c);

/* Both. */
char *client_ask(client *c, const char *line);

/* Parts of a reply: that it is an array of two, of which the first is a number;
 * the bytes of a string, to be freed. */
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
