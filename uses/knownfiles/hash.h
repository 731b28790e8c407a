/* hash.h - hashes a file, unless it changes meanwhile. */
#ifndef HASH_H
#define HASH_H

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

typedef struct {
    char     hash[2 * EVP_MAX_MD_SIZE + 1];     /* empty without one         */
    uint64_t bytes;
} hashed;

static const EVP_MD *algorithm;

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Returns why there is no hash, or NULL. Reads little more than the size that
 * the file has at first, so that one that grows as fast as it is read ends. */
static const char *hash_open(int file, hashed *h, EVP_MD_CTX *md,
                             uint8_t *buffer)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    struct stat before, after;
    unsigned length;
    ssize_t n = 0;
    if (fstat(file, &before) < 0)
        return strerror(errno);
    if (!S_ISREG(before.st_mode))
        return "it is not a regular file any more";
    if (EVP_DigestInit_ex(md, algorithm, NULL) != 1)
        return "OpenSSL does not offer this hash";
    while (h->bytes <= (uint64_t)before.st_size &&
           (n = read(file, buffer, BUFFER)) > 0) {
        EVP_DigestUpdate(md, buffer, (size_t)n);
        h->bytes += (uint64_t)n;
    }
    if (n < 0 || fstat(file, &after) < 0)
        return strerror(errno);
    if (h->bytes != (uint64_t)before.st_size || !same(&before, &after))
        return "it changed while it was read";
    EVP_DigestFinal_ex(md, digest, &length);
    for (unsigned i = 0; i < length; i++)
        snprintf(h->hash + 2 * i, 3, "%02x", digest[i]);
    return NULL;
}

static const char *hash_file(const char *path, int flags, hashed *h,
                             EVP_MD_CTX *md, uint8_t *buffer)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags);
    if (file < 0)
        return strerror(errno);
    const char *why = hash_open(file, h, md, buffer);
    close(file);
    return why;
}

#endif
