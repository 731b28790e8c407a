/* settings.c - the settings and their defaults. module.c has the range of each
 * and changes them at run time.
 */
#include "redis/module.h"

module_settings redis_settings = {
    .rate = 0.01,
    .capacity = 100,
    .growth = 2,
    .cuckoo_slots = 2,
    .cuckoo_capacity = 1024,
    .cuckoo_moves = 20,
    .cuckoo_expansion = 1,
    .cuckoo_tables = 32,
    .held_rate = 0.01,
    .held_kind = "expandable",
};
