/* blocked_neon.c - looks up keys of kind `blocked` with NEON. Adding uses the
 * portable body.
 *
 * SSE2 has no such file, because it cannot pick bytes by numbers in a register.
 * With words loaded one by one, a near batch took 1.5 times as long as the
 * portable one; with four picks by SSSE3, of a quarter of the line each, it
 * took as long.
 */
#include "kinds/sets/blocked/blocked.h"

#include "base/vector.h"

#if CPU_NEON

PLATFORM_INLINE uint8x16_t blocked_quarter_neon(const uint8_t *line, size_t i)
{
    return vreinterpretq_u8_u32(vector4_load(line + 16 * i));
}

/* Tests eight probes at a time. The high 6 bits of a product select a byte of
 * the line, and the next 3 a bit of it: one instruction picks the eight bytes
 * out of all 64. In a batch, gcc 12 emits 57 instructions for a key of up to 8
 * probes; for the portable body 20, and 13 per probe. The time is not
 * measured. */
PLATFORM_INLINE bool blocked_test_neon(const uint8_t *line, uint32_t g,
                                       uint32_t k)
{
    const uint8x8_t numbers = vcreate_u8(0x0706050403020100);
    const uint8x16x4_t bytes = { {
        blocked_quarter_neon(line, 0), blocked_quarter_neon(line, 1),
        blocked_quarter_neon(line, 2), blocked_quarter_neon(line, 3),
    } };
    uint8x8_t lacks = vdup_n_u8(0);

    for (uint32_t first = 0; first < k; first += 8) {
        const uint32_t *steps = blocked_steps + first % 16;
        if (first == 16)
            g *= blocked_steps[15];
        uint16x8_t places = vuzp2q_u16(
            vreinterpretq_u16_u32(vector4_times(vector4_of(steps), g)),
            vreinterpretq_u16_u32(vector4_times(vector4_of(steps + 4), g)));
        uint8x8_t byte = vshr_n_u8(vshrn_n_u16(places, 8), 2);
        uint8x8_t bit = vand_u8(vshrn_n_u16(places, 7), vdup_n_u8(7));
        uint8x8_t mask = vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(bit));
        uint8x8_t wanted = vclt_u8(numbers, vdup_n_u8((uint8_t)(k - first)));
        lacks = vorr_u8(lacks, vand_u8(wanted,
                        vbic_u8(mask, vqtbl4_u8(bytes, byte))));
    }
    return vget_lane_u64(vreinterpret_u64_u8(lacks), 0) == 0;
}

bool blocked_one_neon(const void *subject, uint64_t hash)
{
    const blocked_view *v = subject;
    uint64_t state = hash_spread(hash);
    return blocked_test_neon(bly_inside_line(v, state), (uint32_t)state, v->k);
}

void blocked_contains_neon(const void *image, const uint64_t *hashes,
                           size_t n, bool *present)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = blocked_test_neon(line, g, v.k));
}

#endif
