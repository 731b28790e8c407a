// refused.cpp - calls that must not compile, one for each value of REFUSED,
// with the words that the compiler must print (tools/check/cpp). With 0, all
// compiles.
#include <bloomery.hpp>

#include <array>
#include <string>
#include <vector>

#ifndef REFUSED
#define REFUSED 0
#endif

using bloomery::filter;
using bloomery::spec;

int main()
{
    const std::vector<int> ids = { 1, 2 };
    const std::vector<std::uint64_t> known = { 1, 2 };
    const std::string one = "one";
    std::array<bool, 2> is{};
    filter f("standard", spec(10));

    f.add_many(bloomery::numbers(ids));
    f.add_hashes(known);
    f.contains_hashes(known, is);
#if REFUSED == 1        // integers are neither keys nor hashes
    filter::build("fuse", spec(), ids);
#elif REFUSED == 2      // integers are neither keys nor hashes
    filter::build("fuse", spec(), known);
#elif REFUSED == 3      // write bloomery::numbers
    f.add_many(known);
#elif REFUSED == 4      // write bloomery::numbers
    f.contains_many(ids, is);
#elif REFUSED == 5      // write bloomery::numbers
    bloomery::hash_many("fuse", spec(), known);
#elif REFUSED == 6      // give many keys: a range of
    filter::build("fuse", spec(), one);
#elif REFUSED == 7      // give many keys: a range of
    f.remove_many(17);
#elif REFUSED == 8      // deleted
    f.add(0);
#elif REFUSED == 9      // deleted
    f.contains(17);
#endif
    return is[0] ? 0 : 1;
}
