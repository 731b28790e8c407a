/* place.c - listening addresses: a path or a local port.
 *
 * A Unix socket leaves a file behind if its server is killed. The file is
 * removed only if it is a socket that nobody listens on. The folder is locked
 * meanwhile, so that of two servers starting at once one notices the other.
 * Ports are on the loopback interface only, since the protocols have neither
 * encryption nor authentication.
 */
#include "bloomery/serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PLACE_BACKLOG = 1024, PLACE_TRIES = 200 };

/* ==== Reading =========================================================== */

const char *place_path(const char *path, serve_place *out)
{
    struct sockaddr_un *unix_address = (struct sockaddr_un *)&out->address;

    if (*path == '\0')
        return "is not a path: give the path of a socket";
    if (strlen(path) >= sizeof unix_address->sun_path)
        return "is longer than the path of a socket can be, 107 bytes: give a "
               "shorter one";
    unix_address->sun_family = AF_UNIX;
    strcpy(unix_address->sun_path, path);
    out->length = sizeof *unix_address;
    out->text = out->path = path;
    return NULL;
}

/* Parses "8080". */
static bool place_number(const char *text, in_port_t *port)
{
    unsigned long number = 0;
    const char *at = text;

    for (; *at >= '0' && *at <= '9' && number <= UINT16_MAX; at++)
        number = 10 * number + (unsigned long)(*at - '0');
    *port = htons((uint16_t)number);
    return at > text && *at == '\0' && number > 0 && number <= UINT16_MAX;
}

static bool place_ipv4(const char *host, in_port_t port, serve_place *out)
{
    struct sockaddr_in *address = (struct sockaddr_in *)&out->address;

    address->sin_family = AF_INET;
    address->sin_port = port;
    out->length = sizeof *address;
    return inet_pton(AF_INET, host, &address->sin_addr) == 1;
}

static bool place_ipv6(const char *host, in_port_t port, serve_place *out)
{
    struct sockaddr_in6 *address = (struct sockaddr_in6 *)&out->address;

    address->sin6_family = AF_INET6;
    address->sin6_port = port;
    out->length = sizeof *address;
    return inet_pton(AF_INET6, host, &address->sin6_addr) == 1;
}

static bool place_is_loopback(const serve_place *place)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&place->address;
    const struct sockaddr_in6 *v6 =
        (const struct sockaddr_in6 *)&place->address;

    return place->address.ss_family == AF_INET
         ? ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
         : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* Parses "127.0.0.1", "[::1]" or "localhost", given with its length. */
static bool place_host(const char *text, size_t n, in_port_t port,
                       serve_place *out)
{
    char host[64];
    bool brackets = n >= 2 && text[0] == '[' && text[n - 1] == ']';

    if (n - 2 * brackets >= sizeof host)
        return false;
    memcpy(host, text + brackets, n - 2 * brackets);
    host[n - 2 * brackets] = '\0';
    if (strcmp(host, "localhost") == 0 && !brackets)
        strcpy(host, "127.0.0.1");
    return brackets ? place_ipv6(host, port, out) : place_ipv4(host, port, out);
}

const char *place_read(const char *text, bool paths, serve_place *out)
{
    const char *colon = strrchr(text, ':');
    in_port_t port;

    if (paths && strchr(text, '/') != NULL)
        return place_path(text, out);
    if (!place_number(colon != NULL ? colon + 1 : text, &port)
        || !(colon != NULL ? place_host(text, (size_t)(colon - text), port, out)
                           : place_host("127.0.0.1", 9, port, out)))
        return paths
             ? "is not an address: give a port, 1 to 65535, an address of this "
               "machine and a port, 127.0.0.1:8080 or [::1]:8080, or the path "
               "of a Unix socket with a slash in it, ./socket"
             : "is not an address: give a port, 1 to 65535, or an address of "
               "this machine and a port, 127.0.0.1:8080 or [::1]:8080";
    if (!place_is_loopback(out))
        return "can be reached from other machines, but the server neither "
               "encrypts nor asks for a password: give 127.0.0.1 or [::1], and "
               "let a proxy serve others";
    out->text = text;
    return NULL;
}

/* ==== Opening =========================================================== */

static int place_failed(const serve_place *place, int error)
{
    const char *mend = error == EADDRINUSE
                     ? "stop the program that listens there, or choose another "
                       "address"
                     : error == EACCES || error == EPERM
                     ? "ask its owner for permission, or choose another address"
                     : error == ENOENT ? "create the folder, or choose another "
                                         "address"
                     : error == EMFILE || error == ENFILE
                     ? "allow more open files (ulimit -n)"
                     : "choose another address";

    return report_error("cannot listen on '%s': %s: %s", place->text,
                        strerror(error), mend);
}

static int place_socket(const serve_place *place)
{
    return socket(place->address.ss_family,
                  SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static bool place_listen(int fd, const serve_place *place)
{
    return bind(fd, (const struct sockaddr *)&place->address, place->length)
           == 0
        && listen(fd, PLACE_BACKLOG) == 0;
}

static int place_give_up(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return -1;
}

/* ---- A port -------------------------------------------------------------- */

/* Binds a port. With `shared`, other sockets of this user may bind it too, one
   for each thread. */
static int place_bind_port(const serve_place *place, bool shared)
{
    const int yes = 1;
    int fd = place_socket(place);

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0
        || (shared
            && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) < 0)
        || bind(fd, (const struct sockaddr *)&place->address, place->length)
           < 0)
        return place_give_up(fd);
    return fd;
}

static int place_open_port(const serve_place *place, bool shared)
{
    int fd = place_bind_port(place, shared);

    return fd >= 0 && listen(fd, PLACE_BACKLOG) < 0 ? place_give_up(fd) : fd;
}

/* Opens one socket per thread. Sockets that share a port would not notice
 * another server there, and would get some of its clients, so the port is first
 * bound exclusively. That socket does not listen, as closing it would drop its
 * clients. */
static int place_open_ports(const serve_place *place, int *sockets, size_t n)
{
    int alone = n > 1 ? place_bind_port(place, false) : 0;

    if (alone < 0)
        return place_failed(place, errno);
    if (n > 1)
        close(alone);
    for (size_t i = 0; i < n; i++) {
        sockets[i] = place_open_port(place, n > 1);
        if (sockets[i] < 0)
            return place_failed(place, errno);
    }
    return CLI_GO;
}

/* ---- A path -------------------------------------------------------------- */

/* Returns whether a server listens there. A full backlog counts as one. */
static bool place_is_alive(const serve_place *place)
{
    int fd = place_socket(place);
    bool alive = fd < 0
              || connect(fd, (const struct sockaddr *)&place->address,
                         place->length) == 0
              || errno != ECONNREFUSED;

    if (fd >= 0)
        close(fd);
    return alive;
}

/* Removes the socket that a killed server has left behind. */
static int place_clear(const serve_place *place)
{
    struct stat about;

    if (lstat(place->path, &about) < 0)
        return errno == ENOENT ? CLI_GO : place_failed(place, errno);
    if (!S_ISSOCK(about.st_mode))
        return report_error("'%s' exists and is not a socket: choose another "
                            "path, or remove it", place->path);
    if (place_is_alive(place))
        return place_failed(place, EADDRINUSE);
    return unlink(place->path) == 0 || errno == ENOENT
         ? CLI_GO : place_failed(place, errno);
}

/* Waits for the lock, but not for ever: anyone who can read the folder can hold
 * it. */
static void place_wait_lock(int fd)
{
    const struct timespec moment = { 0, 10000000 };

    for (int i = 0; i < PLACE_TRIES && flock(fd, LOCK_EX | LOCK_NB) < 0; i++)
        nanosleep(&moment, NULL);
}

/* Locks the folder. Returns -1, without a lock, if it cannot be read. */
static int place_lock(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[sizeof((struct sockaddr_un *)0)->sun_path + 1] = ".";
    int fd;

    if (slash != NULL) {
        memcpy(folder, path, (size_t)(slash - path) + 1);
        folder[slash - path + 1] = '\0';
    }
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        place_wait_lock(fd);
    return fd;
}

/* Binds the path. The mode is set through umask, so that nobody can connect
 * before the permissions are right. */
static int place_bind(const serve_place *place, int mode)
{
    mode_t old = mode >= 0 ? umask((mode_t)(~mode & 0777)) : 0;
    int fd = place_socket(place);

    if (fd >= 0 && !place_listen(fd, place))
        fd = place_give_up(fd);
    if (mode >= 0)
        umask(old);
    return fd;
}

static int place_open_path(const serve_place *place, int mode, int *sockets,
                           size_t n)
{
    int lock = place_lock(place->path), status = place_clear(place);
    int fd = status == CLI_GO ? place_bind(place, mode) : -1;

    if (status == CLI_GO && fd < 0)
        status = place_failed(place, errno);
    if (lock >= 0)
        close(lock);
    for (size_t i = 0; status == CLI_GO && i < n; i++) {
        sockets[i] = i == 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (sockets[i] < 0)
            status = place_failed(place, errno);
    }
    return status;
}

int place_open(const serve_place *place, int mode, int *sockets, size_t n)
{
    int status = place->path != NULL
               ? place_open_path(place, mode, sockets, n)
               : place_open_ports(place, sockets, n);
    bool any = status != CLI_GO && sockets[0] >= 0;

    for (size_t i = 0; status != CLI_GO && i < n; i++) {
        if (sockets[i] >= 0)
            close(sockets[i]);
        sockets[i] = -1;
    }
    if (any)
        place_close(place);
    return status;
}

/* Removes the socket, unless another server listens there by now. */
void place_close(const serve_place *place)
{
    struct stat about;
    int lock;

    if (place->path == NULL)
        return;
    lock = place_lock(place->path);
    if (lstat(place->path, &about) == 0 && S_ISSOCK(about.st_mode)
        && !place_is_alive(place))
        unlink(place->path);
    if (lock >= 0)
        close(lock);
}
