/* web.h - what web.c and the module that knows HTTP (microhttpd.c) ask of each
 * other: plain C, which both of them include.
 *
 * It is a module because libmicrohttpd brings a library of encryption along:
 * whoever does not serve by HTTP shall not load that. */
#ifndef SERVE_WEB_H
#define SERVE_WEB_H

#include <stdbool.h>
#include <stddef.h>

/* What the module refuses by itself. */
enum { WEB_MALFORMED = 400, WEB_TOO_LONG = 413, WEB_BUSY = 503 };

typedef struct web_question web_question;
struct web_question {
    const char    *method, *path;
    unsigned char *body;        /* may be changed                           */
    size_t         length;

    /* The value of ?NAME=…, of which there are *n. */
    const char *(*argument)(const web_question *q, const char *name,
                            size_t *length, size_t *n);
    void          *connection;
};

typedef struct {
    unsigned    status;
    const char *type;           /* of what it holds                         */
    const char *allow;          /* methods, where the wrong one came        */
    void       *body;           /* from malloc; NULL: no memory             */
    size_t      length;
} web_reply;

/* What the module is told. */
typedef struct {
    void (*answer)(void *context, const web_question *q, web_reply *out);
    void (*refuse)(void *context, unsigned status, web_reply *out);
    void (*come)(void *context, int clients);   /* 1, or -1: gone           */
    void    *context;
    size_t   longest;           /* of a body                                */
    unsigned clients;
} web_host;

typedef struct {
    /* Serve at this socket, which is then its own. NULL: it cannot. */
    void *(*open)(int fd, const web_host *host);
    int   (*descriptor)(void *web);
    void  (*run)(void *web);
    int   (*timeout)(void *web);
    bool  (*drain)(void *web);
    void  (*close)(void *web);
} web_module;

/* What the module gives, by a name that changes when this file does. */
#define WEB_SYMBOL "bloomery_http_1"

#endif
