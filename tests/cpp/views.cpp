// views.cpp - uses bloomery/inline.h as programs do, to see its warnings under
// each set of flags (tools/check/cpp): most appear only where a function is
// called.
#include <bloomery/inline.h>

bool views_blocked(const bly_inline_blocked *v, uint64_t hash);
bool views_blocked(const bly_inline_blocked *v, uint64_t hash)
{
    bly_inline_blocked_prefetch(v, hash);
    return bly_inline_blocked_contains(v, hash)
        || bly_inline_blocked_add(v, hash) == BLY_SEEN;
}

template <uint32_t k>
bool views_blocked_k(const bly_inline_blocked *v, uint64_t hash)
{
    return bly_inline_blocked_contains_k(v, hash, k);
}

bool views_some(const bly_inline_blocked *v, uint64_t hash);
bool views_some(const bly_inline_blocked *v, uint64_t hash)
{
    return views_blocked_k<6>(v, hash) || views_blocked_k<12>(v, hash)
        || views_blocked_k<20>(v, hash);
}

bool views_split(const bly_inline_split *v, uint64_t hash);
bool views_split(const bly_inline_split *v, uint64_t hash)
{
    bly_inline_split_prefetch(v, hash);
    return bly_inline_split_contains(v, hash)
        || bly_inline_split_add(v, hash) == BLY_SEEN;
}

bool views_standard(const bly_inline_standard *v, uint64_t hash);
bool views_standard(const bly_inline_standard *v, uint64_t hash)
{
    bly_inline_standard_prefetch(v, hash);
    return bly_inline_standard_contains(v, hash)
        || bly_inline_standard_add(v, hash) == BLY_SEEN;
}

bool views_fuse(const bly_inline_fuse *v, uint64_t hash);
bool views_fuse(const bly_inline_fuse *v, uint64_t hash)
{
    bly_inline_fuse_prefetch(v, hash);
    return bly_inline_fuse_contains(v, hash);
}

bool views_cuckoo(const bly_inline_cuckoo *v, uint64_t hash);
bool views_cuckoo(const bly_inline_cuckoo *v, uint64_t hash)
{
    bly_inline_cuckoo_prefetch(v, hash);
    return bly_inline_cuckoo_contains(v, hash);
}

bool views_counting(const bly_inline_counting *v, uint64_t hash);
bool views_counting(const bly_inline_counting *v, uint64_t hash)
{
    bly_inline_counting_prefetch(v, hash);
    return bly_inline_counting_contains(v, hash);
}
