/* settings.c - what the module is configured with, and the defaults. module.c
 * has the range of each setting, and changes them as the server is told to.
 */
#include "redis/module.h"

module_settings settings = {
    .rate = 0.01, .capacity = 100, .growth = 2,
    .cuckoo_slots = 2, .cuckoo_capacity = 1024, .cuckoo_moves = 20,
    .cuckoo_expansion = 1, .cuckoo_tables = 32,
    .held_rate = 0.01, .held_capacity = 1000,
    .held_kind = "scalable:of=cuckoo",
};
