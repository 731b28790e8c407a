/* robots.h - the rules of a site's robots.txt, by RFC 9309. */
#ifndef ROBOTS_H
#define ROBOTS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CRAWLER "bloomery-crawler"

/* Returns a character and advances. An unnecessary escape counts as its
 * character; non-ASCII, * and $ count as their escapes, above 255. */
static unsigned robots_next(const char **at)
{
    unsigned c = (unsigned char)*(*at)++;
    if (c == '%' && strspn(*at, "0123456789abcdefABCDEF") >= 2) {
        sscanf(*at, "%2x", &c);
        *at += 2;
        return c != 0 && (isalnum((int)c) || strchr("-._~", (int)c) != NULL)
             ? c : 256 + c;
    }
    return c >= 0x80 || c == '*' || c == '$' ? 256 + c : c;
}

/* Returns whether the path begins with the rule, where * matches anything, and
 * $ the end. */
static bool robots_match(const char *rule, const char *path)
{
    const char *star = NULL, *from = NULL;
    while (*rule != '\0' && (*path != '\0' || strcmp(rule, "$") != 0)) {
        const char *r = rule, *p = path;
        if (*rule == '*') {
            star = ++rule;
            from = path;
        } else if (*path != '\0' && strcmp(rule, "$") != 0 &&
                   robots_next(&r) == robots_next(&p)) {
            rule = r;
            path = p;
        } else if (star != NULL && *from != '\0') {
            robots_next(&from);
            rule = star;
            path = from;
        } else {
            return false;
        }
    }
    return true;
}

/* Returns the longest matching rule in groups for the agent, or -1. Only a rule
 * ends a group's list of agents; other records do not. */
static int robots_say(const char *robots, const char *agent, const char *path)
{
    char line[2048], key[16], value[2048];
    bool ours = false, rules = true;
    int allowed = -1;
    for (size_t n, longest = 0; *robots != '\0'; robots += *robots != '\0') {
        n = strcspn(robots, "\r\n");
        snprintf(line, sizeof line, "%.*s", (int)n, robots);
        robots += n;
        line[strcspn(line, "#")] = *value = '\0';
        if (sscanf(line, " %15[^: \t] : %2047s", key, value) < 1)
            continue;
        bool agents = strcasecmp(key, "user-agent") == 0;
        bool allow = strcasecmp(key, "allow") == 0;
        bool rule = allow || strcasecmp(key, "disallow") == 0;
        if (agents) {
            value[strcspn(value, "/")] = '\0';      /* its version           */
            ours = (ours && !rules) || strcasecmp(value, agent) == 0;
        }
        allowed = ours && allowed < 0 ? 1 : allowed;
        rules = rule || (rules && !agents);
        n = strlen(value);
        if (!ours || !rule || n == 0 || n < longest ||
            (n == longest && !allow) || !robots_match(value, path))
            continue;
        allowed = allow;
        longest = n;
    }
    return allowed;
}

static bool robots_allow(const char *robots, const char *path)
{
    robots += strncmp(robots, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    int says = robots_say(robots, CRAWLER, path);
    return (says < 0 ? robots_say(robots, "*", path) : says) != 0;
}

#endif
