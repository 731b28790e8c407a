/* names.h - the names of operations and parameters in every language.
 *
 * The library's messages name a function or parameter of C in brackets,
 * "(bly_resize)". bly_why_in puts the language's own name in its place. `make
 * docs` writes bindings/names.md from this table, and tools/check/surfaces
 * compares it with every binding. */
#ifndef BLY_BASE_NAMES_H
#define BLY_BASE_NAMES_H

/* Each row has the purpose, and the names in C, C++, Python, SQLite,
 * PostgreSQL, JavaScript, Rust, Redis and the command; "" where there is
 * none. */
#define NAMES_TABLE(X) \
    X("make an empty filter", "bly_new", "filter", "Filter", "bloomery_new", \
      "bloomery_new", "new Filter", "Builder::build", "BLY.NEW", \
      "bloomery build -n") \
    X("build from all keys", "bly_build", "filter::build", "Filter.build", \
      "bloomery_build", "bloomery_build", "Filter.build", \
      "Builder::build_from", "BLY.BUILD", "bloomery build") \
    X("build from keys with labels", "bly_build", "filter::build", \
      "Filter.build", "bloomery_build_labels", "bloomery_build_labels", \
      "Filter.build", "Builder::build_from_labels", "", \
      "bloomery build --label") \
    X("plan: size and cost", "bly_plan", "plan", "Filter.plan", \
      "bloomery_plan", "bloomery_plan", "Filter.plan", "Builder::plan", \
      "BLY.PLAN", "bloomery plan") \
    X("rank kinds for a need", "bly_advise", "advise", "advise", "", "", \
      "advise", "advise", "BLY.ADVISE", "bloomery advise") \
    X("list the kinds", "bly_kinds", "kinds", "kinds", "bloomery_kinds", \
      "bloomery_kinds", "kinds", "kinds", "BLY.KINDS", "bloomery kinds") \
    X("version of the library", "bly_version", "", "version", \
      "bloomery_version", "bloomery_version", "version", "version", "", \
      "bloomery --version") \
    X("open a file", "bly_open", "filter::open", "Filter.open", \
      "bloomery_open", "", "", "Filter::open", "", "") \
    X("save to a file", "bly_save", "save", "save", "", "", "", "save", "", \
      "") \
    X("make the bytes of a file", "bly_pack", "pack", "pack", "", "", \
      "pack", "to_bytes", "BLY.DUMP", "") \
    X("make a filter of such bytes", "bly_unpack", "filter::unpack", \
      "Filter.from_bytes", "", "bloomery", "Filter.fromBytes", \
      "Filter::from_bytes", "BLY.RESTORE", "") \
    X("add a key", "bly_add", "add", "add", "bloomery_add", "bloomery_add", \
      "add", "add", "BLY.ADD", "bloomery add") \
    X("add many keys", "bly_add_many", "add_many", "add_many", "", "", \
      "addMany", "add_many", "BLY.MADD", "bloomery add") \
    X("look a key up", "bly_contains", "contains", "contains", \
      "bloomery_contains", "bloomery_contains", "contains", "contains", \
      "BLY.CONTAINS", "bloomery query") \
    X("look many keys up", "bly_contains_many", "contains_many", \
      "contains_many", "", "", "containsMany", "contains_many", \
      "BLY.MCONTAINS", "bloomery query") \
    X("count how often a key was added", "bly_count", "count", "count", \
      "bloomery_count", "bloomery_count", "count", "count", "BLY.COUNT", \
      "bloomery count") \
    X("count many keys", "bly_count_many", "count_many", "count_many", "", \
      "", "countMany", "count_many", "BLY.MCOUNT", "bloomery count") \
    X("remove a key", "bly_remove", "remove", "remove", "bloomery_remove", \
      "bloomery_remove", "remove", "remove", "BLY.REMOVE", \
      "bloomery remove") \
    X("remove many keys", "bly_remove_many", "remove_many", "remove_many", \
      "", "", "removeMany", "remove_many", "BLY.MREMOVE", "bloomery remove") \
    X("store a label with a key", "bly_put", "put", "put", "bloomery_put", \
      "bloomery_put", "put", "put", "BLY.PUT", "bloomery put") \
    X("store labels with many keys", "bly_put_many", "put_many", "put_many", \
      "", "", "putMany", "put_many", "BLY.PUT", "") \
    X("get the label of a key", "bly_get", "get", "get", "bloomery_get", \
      "bloomery_get", "get", "get", "BLY.GET", "bloomery get") \
    X("get the labels of many keys", "bly_get_many", "get_many", "get_many", \
      "", "", "getMany", "get_many", "BLY.MGET", "") \
    X("unite two filters", "bly_unite", "unite", "unite", "bloomery_unite", \
      "bloomery_unite", "unite", "unite", "BLY.UNITE", "bloomery unite") \
    X("intersect two filters", "bly_intersect", "intersect", "intersect", \
      "bloomery_intersect", "bloomery_intersect", "intersect", "intersect", \
      "BLY.INTERSECT", "bloomery intersect") \
    X("subtract a sketch", "bly_subtract", "subtract", "subtract", "", "", \
      "subtract", "subtract", "", "") \
    X("estimate the common keys", "bly_overlap", "overlap", "overlap", \
      "bloomery_overlap", "bloomery_overlap", "overlap", "overlap", \
      "BLY.OVERLAP", "bloomery overlap") \
    X("copy a filter", "bly_copy", "copy", "copy", "", "", "copy", "copy", \
      "", "") \
    X("make an empty filter like it", "bly_like", "like", "like", "", "", \
      "like", "like", "", "") \
    X("remove all keys", "bly_clear", "clear", "clear", "", "", "clear", \
      "clear", "", "") \
    X("make room for more keys", "bly_resize", "resize", "resize", "", "", \
      "resize", "resize", "BLY.RESIZE", "bloomery resize") \
    X("make a filter smaller", "bly_fold", "fold", "fold", "", "", "fold", \
      "fold", "BLY.FOLD", "bloomery resize --fold") \
    X("report size, fill and rate", "bly_info", "info", "info", \
      "bloomery_info", "bloomery_info", "info", "info", "BLY.INFO", \
      "bloomery info") \
    X("list the keys of a sketch", "bly_list_keys", "list_keys", \
      "list_keys", "bloomery_list_keys", "bloomery_list_keys", "listKeys", \
      "list_keys", "", "bloomery list") \
    X("state the form of the keys", "bly_form_set", "set_form", \
      "state_keys", "bloomery_state_keys", "bloomery_state_keys", \
      "stateKeys", "state_keys", "BLY.STATEKEYS", "") \
    X("hash a key", "bly_hash", "hash", "hash", "", "", "hash", "hash", "", \
      "") \
    X("number of keys that a filter is for", "bly_spec.capacity", "spec", \
      "items", "", "", "items", "items", "", "") \
    X("open a file for writing", "BLY_WRITE", "BLY_WRITE", "write=True", "", \
      "", "", "map_mut", "", "") \
    X("limit the memory of untrusted bytes", "bly_options.memory_limit", \
      "options::with_memory_limit", "memory_limit", "SQLITE_LIMIT_LENGTH", \
      "", "memoryLimit", "memory_limit", "", "--unpack-limit")

#endif /* BLY_BASE_NAMES_H */
