/* robots.h - what a site's robots.txt allows a crawler, after RFC 9309. Escapes
 * (%41) are compared as they are written.
 */
#ifndef ROBOTS_H
#define ROBOTS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CRAWLER "bloomery-crawler"

/* Does the path begin with this, where * is for anything, and $ for its end? */
static bool robots_match(const char *rule, const char *path)
{
    const char *star = NULL, *from = NULL;
    while (*rule != '\0' && (*path != '\0' || strcmp(rule, "$") != 0)) {
        if (*rule == '*') {
            star = ++rule;
            from = path;
        } else if (*path != '\0' && *rule == *path) {
            rule++;
            path++;
        } else if (star != NULL && *from != '\0') {
            rule = star;
            path = ++from;
        } else {
            return false;
        }
    }
    return true;
}

/* By the longest rule that matches in groups for the agent. -1: none is. */
static int robots_say(const char *robots, const char *agent, const char *path)
{
    char line[2048], key[16], value[2048];
    bool ours = false, rules = true;
    int allowed = -1;
    for (size_t n, longest = 0; *robots != '\0'; robots += *robots == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(robots, "\n"), robots);
        robots += strcspn(robots, "\n");
        line[strcspn(line, "#\r")] = *value = '\0';
        if (sscanf(line, " %15[^: ] : %2047s", key, value) < 1)
            continue;
        bool agents = strcasecmp(key, "user-agent") == 0;
        bool allow = strcasecmp(key, "allow") == 0;
        if (agents)
            ours = (ours && !rules) || strcasecmp(value, agent) == 0;
        allowed = ours && allowed < 0 ? 1 : allowed;
        rules = !agents;
        n = strlen(value);
        if (!ours || (!allow && strcasecmp(key, "disallow") != 0) || n == 0 ||
            n < longest || (n == longest && !allow) ||
            !robots_match(value, path))
            continue;
        allowed = allow;
        longest = n;
    }
    return allowed;
}

static bool robots_allow(const char *robots, const char *path)
{
    int says = robots_say(robots, CRAWLER, path);
    return (says < 0 ? robots_say(robots, "*", path) : says) != 0;
}

#endif
