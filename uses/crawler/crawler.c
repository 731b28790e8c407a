/* crawler.c - fetches all pages of some sites, each once.
 *
 *   crawler SECONDS LINKS RATE URL...
 *
 * Fetches these URLs and the pages they link to, on the named sites only, never
 * what a site's robots.txt forbids, and one page at a time per site, SECONDS
 * after the last one. Prints a line for each page: status, bytes and URL.
 *
 * Two filters know URLs. `late` has the last LINKS links, and keeps links that
 * every page has out of the queues. `seen`, queried when a page is to be
 * fetched, has all URLs, and grows: no page is fetched twice, and at most RATE
 * of them are skipped; for links it is a thousandth of that.
 */
#include "robots.h"

#include <bloomery.h>

#include <curl/curl.h>
#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4 << 20, SLOWEST = 30,    /* bytes and seconds of a page       */
       RULES = 500 << 10, LINK = 4096 };    /* of a robots.txt, of a link  */

typedef struct page { struct page *next; char *url; } page;

typedef struct {
    char  *name;                        /* "http://127.0.0.1:8000"           */
    char  *robots;                      /* NULL: not read yet                */
    page  *first, *last;                /* that wait                         */
    char  *url;                         /* being fetched                     */
    bool   busy;
    double next;                        /* not before                        */
    CURL  *easy;
    char  *body;
    size_t n;
} site;

static bly_filter *late, *seen;
static site *sites;
static size_t n_sites;
static CURLM *multi;
static double delay;
static unsigned long fetched, passed_over, barred;

static void *memory(void *given)
{
    if (given == NULL)
        errx(2, "out of memory");
    return given;
}

static bool is_new(bly_filter *to, const char *url)
{
    bly_status status = bly_add(to, url, strlen(url));
    if (status < 0)
        errx(2, "%s", bly_why());
    return status == BLY_OK;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Links --------------------------------------------------------------- */

static size_t site_length(const char *url)
{
    size_t scheme = strcspn(url, "/") + 2;
    return scheme + strcspn(url + scheme, "/");
}

/* Returns the URL in canonical form, or NULL if it is invalid. */
static char *absolute(const char *base, const char *link)
{
    char *url = NULL;
    CURLU *u = curl_url();
    if (*link != '#' && *link != '\0' &&
        curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_URL, link, CURLU_URLENCODE) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK)
        curl_url_get(u, CURLUPART_URL, &url, CURLU_NO_DEFAULT_PORT);
    curl_url_cleanup(u);
    for (size_t i = 0; url != NULL && i < site_length(url); i++)
        url[i] = (char)tolower((unsigned char)url[i]);
    return url;
}

static site *site_of(const char *url)
{
    size_t n = site_length(url);
    for (site *s = sites; s < sites + n_sites; s++)
        if (strlen(s->name) == n && strncmp(url, s->name, n) == 0)
            return s;
    return NULL;
}

static void find(const char *base, const char *link)
{
    char *url = absolute(base, link);
    site *s = url == NULL ? NULL : site_of(url);
    if (s != NULL && is_new(late, url)) {
        page *p = memory(malloc(sizeof *p));
        *p = (page){ .url = url };
        *(s->first == NULL ? &s->first : &s->last->next) = p;
        s->last = p;
    } else {
        curl_free(url);
    }
}

/* Returns the value of href= in a tag, quoted or not. */
static char *find_value(char *tag)
{
    char *at = tag, *end;
    while ((at = strcasestr(at, "href")) != NULL &&
           !isspace((unsigned char)at[-1]))
        at += strlen("href");
    at = at == NULL ? NULL : at + 4 + strspn(at + 4, " \t\r\n");
    if (at == NULL || *at != '=')
        return NULL;
    at += 1 + strspn(at + 1, " \t\r\n");
    end = *at == '"' || *at == '\'' ? strchr(at + 1, *at)
                                    : at + strcspn(at, " \t\r\n");
    at += *at == '"' || *at == '\'';
    if (end == NULL || end - at >= LINK)
        return NULL;
    *end = '\0';
    return at;
}

/* Handles <a … href="…">. Overwrites the page. */
static void find_links(const char *base, char *at)
{
    while ((at = strcasestr(at, "<a")) != NULL) {
        char *tag = at + 2, *end = tag + strcspn(tag, "<>"), was = *end;
        *end = '\0';
        char *link = isspace((unsigned char)*tag) ? find_value(tag) : NULL;
        if (link != NULL) {
            char *amp = link;
            for (; (amp = strstr(amp, "&amp;")) != NULL; amp++)
                memmove(amp + 1, amp + 5, strlen(amp + 5) + 1);
            find(base, link);
        }
        *end = was;
        at = end;
    }
}

/* ---- Pages --------------------------------------------------------------- */

/* Replaces NUL bytes, which would end the text. */
static size_t receive(char *data, size_t one, size_t n, void *context)
{
    site *s = context;
    size_t more = n < MOST - s->n ? n : MOST - s->n;
    for (size_t i = 0; i < more; i++)
        s->body[s->n++] = data[i] != '\0' ? data[i] : ' ';
    return n * one;
}

/* Fetches the oldest waiting page that is allowed and was never fetched;
 * robots.txt comes first. */
static void start(site *s)
{
    s->busy = s->robots == NULL;
    while (!s->busy && s->first != NULL) {
        page *p = s->first;
        s->first = p->next;
        curl_free(s->url);
        s->url = p->url;
        free(p);
        if (!robots_allow(s->robots, s->url + strlen(s->name))) {
            barred++;
            continue;
        }
        s->busy = is_new(seen, s->url);
        passed_over += !s->busy;
    }
    if (!s->busy)
        return;
    s->n = 0;
    curl_easy_setopt(s->easy, CURLOPT_URL, s->url);
    curl_multi_add_handle(multi, s->easy);
}

static void done(site *s, CURLcode code)
{
    long said = 0;
    char *type = NULL, *other = NULL;
    curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &said);
    curl_easy_getinfo(s->easy, CURLINFO_CONTENT_TYPE, &type);
    curl_easy_getinfo(s->easy, CURLINFO_REDIRECT_URL, &other);
    curl_multi_remove_handle(multi, s->easy);
    said = code == CURLE_OK ? said : 0;
    s->busy = false;
    s->body[s->n] = '\0';
    s->next = now() + delay;
    if (s->robots == NULL) {            /* without one, all is allowed        */
        if (code != CURLE_OK)
            warnx("%s: %s: this site is left alone", s->url,
                  curl_easy_strerror(code));
        else if (said / 100 != 2 && said / 100 != 4)
            warnx("%s: status %ld: this site is left alone", s->url, said);
        s->robots = memory(strndup(said / 100 == 2 ? s->body
            : said / 100 == 4 ? "" : "User-agent: *\nDisallow: /", RULES));
        return;
    }
    fetched++;
    printf("%03ld %zu %s\n", said, s->n, s->url);
    if (said / 100 == 3 && other != NULL)
        find(s->url, other);
    if (said / 100 == 2 && type != NULL &&
        strncasecmp(type, "text/html", 9) == 0)
        find_links(s->url, s->body);
}

/* ---- The crawl ----------------------------------------------------------- */

static void add_start(const char *text)
{
    char *url = absolute(text, text);
    if (url == NULL || strncmp(url, "http", 4) != 0)
        errx(2, "%s: a URL of http or https is wanted", text);
    if (site_of(url) == NULL) {
        site *s = &sites[n_sites++];
        s->name = memory(strndup(url, site_length(url)));
        s->body = memory(malloc(MOST + 1));
        s->easy = memory(curl_easy_init());
        curl_easy_setopt(s->easy, CURLOPT_USERAGENT, CRAWLER "/1");
        curl_easy_setopt(s->easy, CURLOPT_TIMEOUT, (long)SLOWEST);
        curl_easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(s->easy, CURLOPT_WRITEDATA, s);
        curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
        s->url = absolute(url, "/robots.txt");
        is_new(seen, memory(s->url));
    }
    find(url, url);
    curl_free(url);
}

/* Runs until nothing waits, and nothing is being fetched. */
static void crawl(void)
{
    for (double wait = 0; wait >= 0; ) {
        int n;
        wait = -1;
        for (site *s = sites; s < sites + n_sites; s++) {
            double left = s->next - now();
            if (!s->busy && left <= 0)
                start(s);
            left = s->busy ? 1 : s->first == NULL ? -1 : left > 0 ? left : 0;
            wait = left >= 0 && (wait < 0 || left < wait) ? left : wait;
        }
        curl_multi_perform(multi, &n);
        for (CURLMsg *m; (m = curl_multi_info_read(multi, &n)) != NULL; ) {
            site *s = NULL;
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &s);
            done(s, m->data.result);
            wait = 0;
        }
        curl_multi_poll(multi, NULL, 0, (int)(wait * 1000), NULL);
    }
}

int main(int argc, char **argv)
{
    double links = 0, rate = 0;
    char more;
    if (argc < 5 || sscanf(argv[1], "%lf%c", &delay, &more) != 1 ||
        sscanf(argv[2], "%lf%c", &links, &more) != 1 ||
        sscanf(argv[3], "%lf%c", &rate, &more) != 1 ||
        !(delay >= 0 && delay < 1e6) || !(links >= 1 && links < 1e15))
        errx(2, "usage: crawler SECONDS LINKS RATE URL...");
    bly_spec spec = { .rate = rate };
    setvbuf(stdout, NULL, _IOLBF, 0);   /* keeps output if it is stopped     */
    sites = memory(calloc((size_t)argc, sizeof *sites));
    multi = memory(curl_multi_init());
    bly_spec rarer = { .capacity = (uint64_t)links, .rate = rate / 1000 };
    if (bly_new(&seen, "expandable", &spec) < 0 ||
        bly_new(&late, "aging:of=standard", &rarer) < 0)
        errx(2, "%s", bly_why());
    for (int i = 4; i < argc; i++)
        add_start(argv[i]);
    crawl();
    if ((fflush(stdout) | ferror(stdout)) != 0)
        err(2, "standard output");
    fprintf(stderr, "%lu fetched, %lu passed over as seen, %lu barred by "
            "robots.txt\n", fetched, passed_over, barred);
    return 0;
}
