/* peers_boost.cpp - Boost.Bloom, whose fast_multiblock64 is the fastest that
 * we know of in the cache; compiled if the system's Boost has it (1.89 or
 * later). "boost" looks up key by key, "boost batch" many keys at a time.
 */
extern "C" {
#include "peers.h"
}

#include <boost/bloom/filter.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/version.hpp>

#include <new>

/* Eight bits a key, one in each 64-bit word of a cache line. */
using boost_filter =
    boost::bloom::filter<uint64_t, 1, boost::bloom::fast_multiblock64<8>>;

static boost_filter &boost_of(const void *filter)
{
    return *const_cast<boost_filter *>(
        static_cast<const boost_filter *>(filter));
}

static void *boost_make(uint64_t keys, double rate)
{
    return new (std::nothrow) boost_filter(keys, rate);
}

static void boost_free(void *filter)
{
    delete &boost_of(filter);
}

static uint64_t boost_bytes(const void *filter)
{
    return boost_of(filter).capacity() / 8;
}

static void boost_add(void *filter, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        boost_of(filter).insert(keys[i]);
}

static void boost_add_many(void *filter, const uint64_t *keys, size_t n)
{
    boost_of(filter).insert(keys, keys + n);
}

static uint64_t boost_ask(void *filter, const uint64_t *keys, size_t n)
{
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += boost_of(filter).may_contain(keys[i]);
    return found;
}

static uint64_t boost_ask_many(void *filter, const uint64_t *keys, size_t n)
{
    uint64_t found = 0;
    boost_of(filter).may_contain(
        keys, keys + n, [&](uint64_t, bool present) { found += present; });
    return found;
}

static const char *boost_version()
{
    return BOOST_LIB_VERSION;
}

extern "C" {
extern const bench_peer peers_boost = {
    "boost", boost_version, boost_make, boost_free, boost_bytes, boost_add,
    boost_ask,
};
extern const bench_peer peers_boost_batch = {
    "boost batch", boost_version, boost_make, boost_free, boost_bytes,
    boost_add_many, boost_ask_many,
};
}
