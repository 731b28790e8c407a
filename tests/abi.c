/* abi.c - the size of every public struct, the offset of every field and the
 * value of every constant, on which compiled programs depend.
 *
 * It fails to compile when one of them changes. They are fixed within a major
 * version (until 1.0 within a minor one). Take new fields out of `reserved`, or
 * add them at the end of a struct that the library hands out by pointer, for
 * which only offsets are promised. The figures are for machines with 64-bit
 * pointers; others keep the order of the fields.
 */
#include "test.h"

#include <assert.h>

#include <bloomery.h>
#include <bloomery/advice.h>
#include <bloomery/container.h>
#include <bloomery/fields.h>
#include <bloomery/foreign.h>
#include <bloomery/gaps.h>
#include <bloomery/index.h>
#include <bloomery/inline.h>
#include <bloomery/keyed.h>
#include <bloomery/nested.h>
#include <bloomery/paged.h>
#include <bloomery/parts.h>
#include <bloomery/redis.h>
#include <bloomery/replace.h>
#include <bloomery/similar.h>
#include <bloomery/sketch.h>

#if UINTPTR_MAX == UINT64_MAX
#define ABI_SIZE(type, bytes)                                                  \
    static_assert(sizeof(type) == (bytes), #type " has another size")
#define ABI_AT(type, field, place)                                             \
    static_assert(offsetof(type, field) == (place), #type "." #field " moved")

/* ---- Allocated by the program: these never change their size ------------- */

ABI_SIZE(bly_allocator, 24);
ABI_AT(bly_allocator, allocate, 0);
ABI_AT(bly_allocator, release, 8);
ABI_AT(bly_allocator, context, 16);

ABI_SIZE(bly_spec, 128);
ABI_AT(bly_spec, capacity, 0);
ABI_AT(bly_spec, rate, 8);
ABI_AT(bly_spec, seed, 16);
ABI_AT(bly_spec, hash, 24);
ABI_AT(bly_spec, secret, 32);
ABI_AT(bly_spec, allocator, 40);
ABI_AT(bly_spec, flags, 48);
ABI_AT(bly_spec, threads, 52);
ABI_AT(bly_spec, form, 56);
ABI_AT(bly_spec, progress, 64);
ABI_AT(bly_spec, reserved, 72);

ABI_SIZE(bly_options, 64);
ABI_AT(bly_options, allocator, 0);
ABI_AT(bly_options, secret, 8);
ABI_AT(bly_options, threads, 16);
ABI_AT(bly_options, zero, 20);
ABI_AT(bly_options, format, 24);
ABI_AT(bly_options, memory_limit, 32);
ABI_AT(bly_options, progress, 40);
ABI_AT(bly_options, reserved, 48);

ABI_SIZE(bly_plan_t, 256);
ABI_AT(bly_plan_t, kind, 0);
ABI_AT(bly_plan_t, capacity, 24);
ABI_AT(bly_plan_t, bytes, 32);
ABI_AT(bly_plan_t, packed, 40);
ABI_AT(bly_plan_t, scratch, 48);
ABI_AT(bly_plan_t, bits_per_key, 56);
ABI_AT(bly_plan_t, rate, 64);
ABI_AT(bly_plan_t, rate_sd, 72);
ABI_AT(bly_plan_t, fill, 80);
ABI_AT(bly_plan_t, lost, 88);
ABI_AT(bly_plan_t, window, 96);
ABI_AT(bly_plan_t, lines_present, 104);
ABI_AT(bly_plan_t, lines_absent, 112);
ABI_AT(bly_plan_t, probes, 120);
ABI_AT(bly_plan_t, label_bits, 124);
ABI_AT(bly_plan_t, label_least, 128);
ABI_AT(bly_plan_t, label_most, 136);
ABI_AT(bly_plan_t, geometry, 144);
ABI_AT(bly_plan_t, can, 176);
ABI_AT(bly_plan_t, reserved, 184);

ABI_SIZE(bly_key, 16);
ABI_AT(bly_key, data, 0);
ABI_AT(bly_key, length, 8);

ABI_SIZE(bly_keys, 88);
ABI_AT(bly_keys, n, 0);
ABI_AT(bly_keys, keys, 8);
ABI_AT(bly_keys, data, 16);
ABI_AT(bly_keys, offsets32, 24);
ABI_AT(bly_keys, offsets64, 32);
ABI_AT(bly_keys, width, 40);
ABI_AT(bly_keys, padded, 48);
ABI_AT(bly_keys, hashes, 56);
ABI_AT(bly_keys, labels, 64);
ABI_AT(bly_keys, before, 72);
ABI_AT(bly_keys, reserved, 80);

ABI_SIZE(bly_info_t, 320);
ABI_AT(bly_info_t, kind, 0);
ABI_AT(bly_info_t, hash, 24);
ABI_AT(bly_info_t, seed, 40);
ABI_AT(bly_info_t, capacity, 48);
ABI_AT(bly_info_t, bytes, 56);
ABI_AT(bly_info_t, packed, 64);
ABI_AT(bly_info_t, bits_per_key, 72);
ABI_AT(bly_info_t, items, 80);
ABI_AT(bly_info_t, distinct, 88);
ABI_AT(bly_info_t, distinct_sd, 96);
ABI_AT(bly_info_t, fill, 104);
ABI_AT(bly_info_t, rate, 112);
ABI_AT(bly_info_t, planned_rate, 120);
ABI_AT(bly_info_t, lost, 128);
ABI_AT(bly_info_t, window, 136);
ABI_AT(bly_info_t, saturated, 144);
ABI_AT(bly_info_t, probes, 152);
ABI_AT(bly_info_t, label_bits, 156);
ABI_AT(bly_info_t, label_least, 160);
ABI_AT(bly_info_t, label_most, 168);
ABI_AT(bly_info_t, geometry, 176);
ABI_AT(bly_info_t, items_exact, 208);
ABI_AT(bly_info_t, zero, 209);
ABI_AT(bly_info_t, form, 216);
ABI_AT(bly_info_t, fullest, 224);
ABI_AT(bly_info_t, reserved, 232);

ABI_SIZE(bly_header, 192);
ABI_AT(bly_header, kind, 0);
ABI_AT(bly_header, hash, 24);
ABI_AT(bly_header, bytes, 40);
ABI_AT(bly_header, items, 48);
ABI_AT(bly_header, capacity, 56);
ABI_AT(bly_header, rate, 64);
ABI_AT(bly_header, seed, 72);
ABI_AT(bly_header, geometry, 80);
ABI_AT(bly_header, version, 112);
ABI_AT(bly_header, known, 116);
ABI_AT(bly_header, sealed, 117);
ABI_AT(bly_header, packed, 118);
ABI_AT(bly_header, zero, 119);
ABI_AT(bly_header, form, 120);
ABI_AT(bly_header, unpacked, 128);
ABI_AT(bly_header, reserved, 136);

ABI_SIZE(bly_processor_t, 64);
ABI_AT(bly_processor_t, instructions, 0);
ABI_AT(bly_processor_t, ahead, 8);
ABI_AT(bly_processor_t, ahead_cached, 12);
ABI_AT(bly_processor_t, near_bytes, 16);
ABI_AT(bly_processor_t, reserved, 24);

ABI_SIZE(bly_estimate, 16);
ABI_AT(bly_estimate, value, 0);
ABI_AT(bly_estimate, sd, 8);

ABI_SIZE(bly_overlap_t, 128);
ABI_AT(bly_overlap_t, a, 0);
ABI_AT(bly_overlap_t, b, 16);
ABI_AT(bly_overlap_t, either, 32);
ABI_AT(bly_overlap_t, both, 48);
ABI_AT(bly_overlap_t, differ, 64);
ABI_AT(bly_overlap_t, jaccard, 80);
ABI_AT(bly_overlap_t, reserved, 96);

ABI_SIZE(bly_line_cost, 16);
ABI_AT(bly_line_cost, bytes, 0);
ABI_AT(bly_line_cost, ns, 8);

ABI_SIZE(bly_cost_point, 32);
ABI_AT(bly_cost_point, present, 0);
ABI_AT(bly_cost_point, absent, 8);
ABI_AT(bly_cost_point, mixed, 16);
ABI_AT(bly_cost_point, add, 24);

ABI_SIZE(bly_cost, 368);
ABI_AT(bly_cost, kind, 0);
ABI_AT(bly_cost, at, 48);
ABI_AT(bly_cost, reserved, 272);

ABI_SIZE(bly_costs, 64);
ABI_AT(bly_costs, line, 0);
ABI_AT(bly_costs, lines, 8);
ABI_AT(bly_costs, kind, 16);
ABI_AT(bly_costs, kinds, 24);
ABI_AT(bly_costs, reserved, 32);

ABI_SIZE(bly_need, 128);
ABI_AT(bly_need, capacity, 0);
ABI_AT(bly_need, rate, 8);
ABI_AT(bly_need, present, 16);
ABI_AT(bly_need, can, 24);
ABI_AT(bly_need, fixed, 32);
ABI_AT(bly_need, core, 33);
ABI_AT(bly_need, unknown, 34);
ABI_AT(bly_need, zero, 35);
ABI_AT(bly_need, aim, 36);
ABI_AT(bly_need, memory, 40);
ABI_AT(bly_need, others, 48);
ABI_AT(bly_need, label_most, 56);
ABI_AT(bly_need, costs, 64);
ABI_AT(bly_need, allocator, 72);
ABI_AT(bly_need, times, 80);
ABI_AT(bly_need, reserved, 88);

ABI_SIZE(bly_threshold, 80);
ABI_AT(bly_threshold, capacity, 0);
ABI_AT(bly_threshold, rate, 8);
ABI_AT(bly_threshold, times, 16);
ABI_AT(bly_threshold, m, 24);
ABI_AT(bly_threshold, k, 32);
ABI_AT(bly_threshold, zero, 36);
ABI_AT(bly_threshold, reserved, 40);

ABI_SIZE(bly_threshold_plan, 384);
ABI_AT(bly_threshold_plan, plan, 0);
ABI_AT(bly_threshold_plan, kind, 256);
ABI_AT(bly_threshold_plan, nearly, 320);
ABI_AT(bly_threshold_plan, reserved, 328);

ABI_SIZE(bly_gaps, 96);
ABI_AT(bly_gaps, left, 0);
ABI_AT(bly_gaps, inside, 8);

ABI_SIZE(bly_keyed, 640);
ABI_AT(bly_keyed, inside, 0);

ABI_SIZE(bly_similar_spec, 80);
ABI_AT(bly_similar_spec, measure, 0);
ABI_AT(bly_similar_spec, threads, 4);
ABI_AT(bly_similar_spec, alpha, 8);
ABI_AT(bly_similar_spec, beta, 16);
ABI_AT(bly_similar_spec, least, 24);
ABI_AT(bly_similar_spec, most, 32);
ABI_AT(bly_similar_spec, within, 40);
ABI_AT(bly_similar_spec, zero, 41);
ABI_AT(bly_similar_spec, progress, 48);
ABI_AT(bly_similar_spec, reserved, 56);

ABI_SIZE(bly_similar, 24);
ABI_AT(bly_similar, row, 0);
ABI_AT(bly_similar, similarity, 8);
ABI_AT(bly_similar, bits, 16);
ABI_AT(bly_similar, shared, 20);

ABI_SIZE(bly_link, 56);
ABI_AT(bly_link, bits, 0);
ABI_AT(bly_link, bytes, 8);
ABI_AT(bly_link, items, 16);
ABI_AT(bly_link, capacity, 24);
ABI_AT(bly_link, rate, 32);
ABI_AT(bly_link, per_key, 40);
ABI_AT(bly_link, probes, 48);
ABI_AT(bly_link, power, 52);

ABI_SIZE(bly_index_spec, 128);
ABI_AT(bly_index_spec, rate, 0);
ABI_AT(bly_index_spec, probes, 8);
ABI_AT(bly_index_spec, extra, 12);
ABI_AT(bly_index_spec, memory, 16);
ABI_AT(bly_index_spec, hash, 24);
ABI_AT(bly_index_spec, seed, 32);
ABI_AT(bly_index_spec, about, 40);
ABI_AT(bly_index_spec, about_bytes, 48);
ABI_AT(bly_index_spec, allocator, 56);
ABI_AT(bly_index_spec, progress, 64);
ABI_AT(bly_index_spec, reserved, 72);

ABI_SIZE(bly_document, 64);
ABI_AT(bly_document, name, 0);
ABI_AT(bly_document, length, 8);
ABI_AT(bly_document, extra, 16);
ABI_AT(bly_document, keys, 24);
ABI_AT(bly_document, dropped, 32);
ABI_AT(bly_document, zero, 33);
ABI_AT(bly_document, reserved, 40);

ABI_AT(bly_index_stat_t, documents, 0);
ABI_AT(bly_index_stat_t, dropped, 8);
ABI_AT(bly_index_stat_t, keys, 16);
ABI_AT(bly_index_stat_t, groups, 24);
ABI_AT(bly_index_stat_t, bytes, 32);
ABI_AT(bly_index_stat_t, row_bytes, 40);
ABI_AT(bly_index_stat_t, rate, 48);
ABI_AT(bly_index_stat_t, probes, 56);
ABI_AT(bly_index_stat_t, extra, 60);
ABI_AT(bly_index_stat_t, hash, 64);
ABI_AT(bly_index_stat_t, seed, 72);
ABI_AT(bly_index_stat_t, about, 80);
ABI_AT(bly_index_stat_t, about_bytes, 88);
ABI_AT(bly_index_stat_t, reserved, 96);

ABI_SIZE(bly_chain, 24);
ABI_AT(bly_chain, links, 0);
ABI_AT(bly_chain, n, 8);
ABI_AT(bly_chain, options, 12);
ABI_AT(bly_chain, growth, 16);
ABI_AT(bly_chain, zero, 20);

ABI_SIZE(bly_tables, 48);
ABI_AT(bly_tables, table, 0);
ABI_AT(bly_tables, n, 8);
ABI_AT(bly_tables, buckets, 16);
ABI_AT(bly_tables, items, 24);
ABI_AT(bly_tables, removed, 32);
ABI_AT(bly_tables, slots, 40);
ABI_AT(bly_tables, moves, 42);
ABI_AT(bly_tables, expansion, 44);
ABI_AT(bly_tables, zero, 46);

ABI_SIZE(bly_json, 32);
ABI_AT(bly_json, put, 0);
ABI_AT(bly_json, context, 8);
ABI_AT(bly_json, style, 16);
ABI_AT(bly_json, depth, 20);
ABI_AT(bly_json, begun, 22);
ABI_AT(bly_json, failed, 23);
ABI_AT(bly_json, arrays, 24);

ABI_SIZE(bly_field, 56);
ABI_AT(bly_field, name, 0);
ABI_AT(bly_field, help, 8);
ABI_AT(bly_field, type, 16);
ABI_AT(bly_field, absent, 20);
ABI_AT(bly_field, count, 24);
ABI_AT(bly_field, real, 32);
ABI_AT(bly_field, text, 40);
ABI_AT(bly_field, length, 48);

ABI_SIZE(bly_contained, 96);
ABI_AT(bly_contained, column, 0);
ABI_AT(bly_contained, format, 8);
ABI_AT(bly_contained, lacks, 16);
ABI_AT(bly_contained, as, 24);
ABI_AT(bly_contained, group, 32);
ABI_AT(bly_contained, keys, 40);
ABI_AT(bly_contained, offset, 48);
ABI_AT(bly_contained, bytes, 56);
ABI_AT(bly_contained, part, 64);
ABI_AT(bly_contained, parts, 72);
ABI_AT(bly_contained, reserved, 80);

ABI_SIZE(bly_inline_blocked, 64);
ABI_AT(bly_inline_blocked, payload, 0);
ABI_AT(bly_inline_blocked, lines, 8);
ABI_AT(bly_inline_blocked, k, 16);
ABI_AT(bly_inline_blocked, zero, 20);
ABI_AT(bly_inline_blocked, reserved, 24);

ABI_SIZE(bly_inline_split, 64);
ABI_AT(bly_inline_split, payload, 0);
ABI_AT(bly_inline_split, blocks, 8);
ABI_AT(bly_inline_split, reserved, 16);

ABI_SIZE(bly_inline_standard, 64);
ABI_AT(bly_inline_standard, payload, 0);
ABI_AT(bly_inline_standard, m, 8);
ABI_AT(bly_inline_standard, k, 16);
ABI_AT(bly_inline_standard, index, 20);
ABI_AT(bly_inline_standard, reserved, 24);

ABI_SIZE(bly_inline_fuse, 96);
ABI_AT(bly_inline_fuse, seeds, 0);
ABI_AT(bly_inline_fuse, tables, 8);
ABI_AT(bly_inline_fuse, stride, 16);
ABI_AT(bly_inline_fuse, shards, 24);
ABI_AT(bly_inline_fuse, segment, 28);
ABI_AT(bly_inline_fuse, windows, 32);
ABI_AT(bly_inline_fuse, arity, 36);
ABI_AT(bly_inline_fuse, bits, 40);
ABI_AT(bly_inline_fuse, empty, 44);
ABI_AT(bly_inline_fuse, salt, 48);
ABI_AT(bly_inline_fuse, bytes, 56);
ABI_AT(bly_inline_fuse, shorter, 64);
ABI_AT(bly_inline_fuse, reserved, 72);

ABI_SIZE(bly_inline_cuckoo, 96);
ABI_AT(bly_inline_cuckoo, payload, 0);
ABI_AT(bly_inline_cuckoo, prefixes, 8);
ABI_AT(bly_inline_cuckoo, buckets, 16);
ABI_AT(bly_inline_cuckoo, quads, 24);
ABI_AT(bly_inline_cuckoo, f, 28);
ABI_AT(bly_inline_cuckoo, nibbles, 32);
ABI_AT(bly_inline_cuckoo, sorted, 36);
ABI_AT(bly_inline_cuckoo, ones, 40);
ABI_AT(bly_inline_cuckoo, reserved, 48);

ABI_SIZE(bly_inline_counting, 64);
ABI_AT(bly_inline_counting, payload, 0);
ABI_AT(bly_inline_counting, m, 8);
ABI_AT(bly_inline_counting, k, 16);
ABI_AT(bly_inline_counting, bits, 20);
ABI_AT(bly_inline_counting, reserved, 24);

/* ---- Handed out by the library: these may grow at their end ------------- */

ABI_AT(bly_option_info, name, 0);
ABI_AT(bly_option_info, range, 8);
ABI_AT(bly_option_info, standard, 16);
ABI_AT(bly_option_info, help, 24);

ABI_AT(bly_kind_info, name, 0);
ABI_AT(bly_kind_info, family, 8);
ABI_AT(bly_kind_info, summary, 16);
ABI_AT(bly_kind_info, can, 24);
ABI_AT(bly_kind_info, options, 32);
ABI_AT(bly_kind_info, tier, 40);

ABI_AT(bly_format_info, kind, 0);
ABI_AT(bly_format_info, writer, 8);
ABI_AT(bly_format_info, recognised, 16);
ABI_AT(bly_format_info, numbers, 24);
ABI_AT(bly_format_info, told, 32);
ABI_SIZE(bly_number_info, 16);
ABI_AT(bly_number_info, name, 0);
ABI_AT(bly_number_info, means, 8);

ABI_AT(bly_label_t, label, 0);
ABI_AT(bly_label_t, fill, 8);
ABI_AT(bly_label_t, rate, 16);
ABI_AT(bly_label_t, mistaken, 24);

ABI_AT(bly_advice, kind, 0);
ABI_AT(bly_advice, fits, 48);
ABI_AT(bly_advice, beaten, 49);
ABI_AT(bly_advice, plan, 56);
ABI_AT(bly_advice, ns_present, 312);
ABI_AT(bly_advice, ns_absent, 320);
ABI_AT(bly_advice, ns_lookup, 328);
ABI_AT(bly_advice, ns_add, 336);
ABI_AT(bly_advice, score, 344);
ABI_AT(bly_advice, why, 352);
ABI_AT(bly_advice, limit, 512);
ABI_AT(bly_advice, lacks, 608);
ABI_AT(bly_advice, nearly, 736);
ABI_AT(bly_advice, tier, 744);

ABI_AT(bly_listed, hash, 0);
ABI_AT(bly_listed, key, 8);
ABI_AT(bly_listed, length, 16);
ABI_AT(bly_listed, side, 24);

#endif

/* ---- Constants ----------------------------------------------------------- */

#define ABI_VALUE(name, value)                                                 \
    static_assert((name) == (value), #name " has another value")

ABI_VALUE(BLY_OK, 0);
ABI_VALUE(BLY_SEEN, 1);
ABI_VALUE(BLY_ENOMEM, -1);
ABI_VALUE(BLY_EPARAM, -2);
ABI_VALUE(BLY_EKIND, -3);
ABI_VALUE(BLY_EOPTION, -4);
ABI_VALUE(BLY_EHASH, -5);
ABI_VALUE(BLY_ETOOBIG, -6);
ABI_VALUE(BLY_EFORMAT, -7);
ABI_VALUE(BLY_EVERSION, -8);
ABI_VALUE(BLY_ECORRUPT, -9);
ABI_VALUE(BLY_EUNSEALED, -10);
ABI_VALUE(BLY_EIO, -11);
ABI_VALUE(BLY_EMISMATCH, -12);
ABI_VALUE(BLY_EFULL, -13);
ABI_VALUE(BLY_EABSENT, -14);
ABI_VALUE(BLY_EUNSUPPORTED, -15);
ABI_VALUE(BLY_EREADONLY, -16);
ABI_VALUE(BLY_EUNSAFE, -17);
ABI_VALUE(BLY_EREMOVED, -18);
ABI_VALUE(BLY_ESECRET, -19);
ABI_VALUE(BLY_EUNFLUSHED, -20);
ABI_VALUE(BLY_EFORM, -21);
ABI_VALUE(BLY_ECANCELED, -22);
ABI_VALUE(BLY_ELIMIT, -23);

ABI_VALUE(BLY_CAN_ADD, 1 << 0);
ABI_VALUE(BLY_CAN_WHOLE_KEYS, 1 << 1);
ABI_VALUE(BLY_CAN_CONTAINS, 1 << 2);
ABI_VALUE(BLY_CAN_REMOVE, 1 << 3);
ABI_VALUE(BLY_CAN_COUNT, 1 << 4);
ABI_VALUE(BLY_CAN_LABEL, 1 << 5);
ABI_VALUE(BLY_CAN_SEPARATE, 1 << 6);
ABI_VALUE(BLY_CAN_SHARE, 1 << 7);
ABI_VALUE(BLY_CAN_PAGE, 1 << 8);
ABI_VALUE(BLY_CAN_LOCAL, 1 << 9);
ABI_VALUE(BLY_CAN_GROW, 1 << 10);
ABI_VALUE(BLY_CAN_FORGET, 1 << 11);
ABI_VALUE(BLY_CAN_RESIZE, 1 << 12);
ABI_VALUE(BLY_CAN_FINGERPRINTS, 1 << 13);
ABI_VALUE(BLY_CAN_PACK, 1 << 14);
ABI_VALUE(BLY_CAN_UNITE, 1 << 15);
ABI_VALUE(BLY_CAN_UNITE_AT, 1 << 16);
ABI_VALUE(BLY_CAN_INTERSECT, 1 << 17);
ABI_VALUE(BLY_CAN_OVERLAP, 1 << 18);
ABI_VALUE(BLY_CAN_SUBTRACT, 1 << 19);
ABI_VALUE(BLY_CAN_LIST_KEYS, 1 << 20);
ABI_VALUE(BLY_CAN_EXACT, 1 << 21);
ABI_VALUE(BLY_CAN_FOLD, 1 << 22);

ABI_VALUE(BLY_MAP, 1);
ABI_VALUE(BLY_WRITE, 2);
ABI_VALUE(BLY_SHARED, 4);
ABI_VALUE(BLY_VERIFY, 8);
ABI_VALUE(BLY_PAGED, 16);
ABI_VALUE(BLY_SPARSE, 32);
ABI_VALUE(BLY_SECRET_BYTES, 16);
ABI_VALUE(BLY_HEADER_BYTES, 128);
ABI_VALUE(BLY_AIM_BALANCE, 0);
ABI_VALUE(BLY_AIM_FAST, 1);
ABI_VALUE(BLY_AIM_SMALL, 2);

ABI_VALUE(BLY_FIELD_TEXT, 0);
ABI_VALUE(BLY_FIELD_COUNT, 1);
ABI_VALUE(BLY_FIELD_REAL, 2);
ABI_VALUE(BLY_FIELD_BOOL, 3);
ABI_VALUE(BLY_FIELD_ARRAY, 4);
ABI_VALUE(BLY_FIELD_OBJECT, 5);
ABI_VALUE(BLY_FIELD_END, 6);

ABI_VALUE(BLY_JSON_COMPACT, 0);
ABI_VALUE(BLY_JSON_LINES, 1);
ABI_VALUE(BLY_JSON_SCRIPT, 2);

ABI_VALUE(BLY_TANIMOTO, 0);
ABI_VALUE(BLY_DICE, 1);
ABI_VALUE(BLY_TVERSKY, 2);
ABI_VALUE(BLY_CONTAINED, 3);

/* The number, the text and the parts of the version are one. */
static void test_version(void **state)
{
    (void)state;
    int major = -1, minor = -1, patch = -1;
    assert_int_equal(sscanf(BLY_VERSION, "%d.%d.%d", &major, &minor, &patch),
                     3);
    assert_int_equal(major, BLY_VERSION_MAJOR);
    assert_int_equal(minor, BLY_VERSION_MINOR);
    assert_int_equal(patch, BLY_VERSION_PATCH);
    assert_int_equal(BLY_VERSION_NUMBER,
                     1000000 * major + 1000 * minor + patch);
    assert_string_equal(bly_version(), BLY_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_version) };
    return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
