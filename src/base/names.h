/* names.h - the names of operations and parameters in every language.
 *
 * The library's messages name a function or parameter of C in brackets,
 * "(bly_resize)". bly_why_in puts the language's own name in its place. `make
 * docs` writes bindings/names.md from this table, and tools/check/surfaces
 * compares it with every binding. */
#ifndef BLY_BASE_NAMES_H
#define BLY_BASE_NAMES_H

/* Each row has the purpose, and the names in C, C++, Python, SQLite,
 * PostgreSQL, JavaScript, Rust, Go, Redis and the command; "" where there is
 * none. */
#define NAMES_TABLE(X) \
    X("make an empty filter", "bly_new", "filter", "Filter", "bloomery_new", \
      "bloomery_new", "new Filter", "Builder::build", "New", "BLY.NEW", \
      "bloomery build -n") \
    X("build from all keys", "bly_build", "filter::build", "Filter.build", \
      "bloomery_build", "bloomery_build", "Filter.build", \
      "Builder::build_from", "Build", "BLY.BUILD", "bloomery build") \
    X("build from keys with labels", "bly_build", "filter::build", \
      "Filter.build", "bloomery_build_labels", "bloomery_build_labels", \
      "Filter.build", "Builder::build_from_labels", "Build", "", \
      "bloomery build --label") \
    X("plan: size and cost", "bly_plan", "plan", "Filter.plan", \
      "bloomery_plan", "bloomery_plan", "Filter.plan", "Builder::plan", \
      "Plan", "BLY.PLAN", "bloomery plan") \
    X("rank kinds for a need", "bly_advise", "advise", "advise", "", "", \
      "advise", "advise", "Advise", "BLY.ADVISE", "bloomery advise") \
    X("list the kinds", "bly_kinds", "kinds", "kinds", "bloomery_kinds", \
      "bloomery_kinds", "kinds", "kinds", "Kinds", "BLY.KINDS", \
      "bloomery kinds") \
    X("version of the library", "bly_version", "", "version", \
      "bloomery_version", "bloomery_version", "version", "version", \
      "Version", "", "bloomery --version") \
    X("open a file", "bly_open", "filter::open", "Filter.open", \
      "bloomery_open", "", "", "Filter::open", "Open", "", "") \
    X("save to a file", "bly_save", "save", "save", "", "", "", "save", \
      "Save", "", "") \
    X("make the bytes of a file", "bly_pack", "pack", "pack", "", "", \
      "pack", "to_bytes", "Pack", "BLY.DUMP", "") \
    X("make a filter of such bytes", "bly_unpack", "filter::unpack", \
      "Filter.from_bytes", "", "bloomery", "Filter.fromBytes", \
      "Filter::from_bytes", "Unpack", "BLY.RESTORE", "") \
    X("add a key", "bly_add", "add", "add", "bloomery_add", "bloomery_add", \
      "add", "add", "Add", "BLY.ADD", "bloomery add") \
    X("add many keys", "bly_add_many", "add_many", "add_many", "", "", \
      "addMany", "add_many", "AddMany", "BLY.MADD", "bloomery add") \
    X("look a key up", "bly_contains", "contains", "contains", \
      "bloomery_contains", "bloomery_contains", "contains", "contains", \
      "Contains", "BLY.CONTAINS", "bloomery query") \
    X("look many keys up", "bly_contains_many", "contains_many", \
      "contains_many", "", "", "containsMany", "contains_many", \
      "ContainsMany", "BLY.MCONTAINS", "bloomery query") \
    X("count how often a key was added", "bly_count", "count", "count", \
      "bloomery_count", "bloomery_count", "count", "count", "Count", \
      "BLY.COUNT", "bloomery count") \
    X("count many keys", "bly_count_many", "count_many", "count_many", "", \
      "", "countMany", "count_many", "CountMany", "BLY.MCOUNT", \
      "bloomery count") \
    X("remove a key", "bly_remove", "remove", "remove", "bloomery_remove", \
      "bloomery_remove", "remove", "remove", "Remove", "BLY.REMOVE", \
      "bloomery remove") \
    X("remove many keys", "bly_remove_many", "remove_many", "remove_many", \
      "", "", "removeMany", "remove_many", "RemoveMany", "BLY.MREMOVE", \
      "bloomery remove") \
    X("store a label with a key", "bly_put", "put", "put", "bloomery_put", \
      "bloomery_put", "put", "put", "Put", "BLY.PUT", "bloomery put") \
    X("store labels with many keys", "bly_put_many", "put_many", "put_many", \
      "", "", "putMany", "put_many", "PutMany", "BLY.PUT", "") \
    X("get the label of a key", "bly_get", "get", "get", "bloomery_get", \
      "bloomery_get", "get", "get", "Get", "BLY.GET", "bloomery get") \
    X("get the labels of many keys", "bly_get_many", "get_many", "get_many", \
      "", "", "getMany", "get_many", "GetMany", "BLY.MGET", "") \
    X("unite two filters", "bly_unite", "unite", "unite", "bloomery_unite", \
      "bloomery_unite", "unite", "unite", "Unite", "BLY.UNITE", \
      "bloomery unite") \
    X("intersect two filters", "bly_intersect", "intersect", "intersect", \
      "bloomery_intersect", "bloomery_intersect", "intersect", "intersect", \
      "Intersect", "BLY.INTERSECT", "bloomery intersect") \
    X("subtract a sketch", "bly_subtract", "subtract", "subtract", "", "", \
      "subtract", "subtract", "Subtract", "", "") \
    X("estimate the common keys", "bly_overlap", "overlap", "overlap", \
      "bloomery_overlap", "bloomery_overlap", "overlap", "overlap", \
      "Overlap", "BLY.OVERLAP", "bloomery overlap") \
    X("copy a filter", "bly_copy", "copy", "copy", "", "", "copy", "copy", \
      "Copy", "", "") \
    X("make an empty filter like it", "bly_like", "like", "like", "", "", \
      "like", "like", "Like", "", "") \
    X("remove all keys", "bly_clear", "clear", "clear", "", "", "clear", \
      "clear", "Clear", "", "") \
    X("make room for more keys", "bly_resize", "resize", "resize", "", "", \
      "resize", "resize", "Resize", "BLY.RESIZE", "bloomery resize") \
    X("make a filter smaller", "bly_fold", "fold", "fold", "", "", "fold", \
      "fold", "Fold", "BLY.FOLD", "bloomery resize --fold") \
    X("report size, fill and rate", "bly_info", "info", "info", \
      "bloomery_info", "bloomery_info", "info", "info", "Info", "BLY.INFO", \
      "bloomery info") \
    X("list the keys of a sketch", "bly_list_keys", "list_keys", \
      "list_keys", "bloomery_list_keys", "bloomery_list_keys", "listKeys", \
      "list_keys", "ListKeys", "", "bloomery list") \
    X("state the form of the keys", "bly_form_set", "set_form", \
      "state_keys", "bloomery_state_keys", "bloomery_state_keys", \
      "stateKeys", "state_keys", "StateKeys", "BLY.STATEKEYS", "") \
    X("hash a key", "bly_hash", "hash", "hash", "", "", "hash", "hash", \
      "Hash", "", "") \
    X("number of keys that a filter is for", "bly_spec.capacity", "spec", \
      "items", "", "", "items", "items", "WithItems", "", "") \
    X("open a file for writing", "BLY_WRITE", "BLY_WRITE", "write=True", "", \
      "", "", "map_mut", "WithWrite", "", "") \
    X("limit the memory of untrusted bytes", "bly_options.memory_limit", \
      "options::with_memory_limit", "memory_limit", "SQLITE_LIMIT_LENGTH", \
      "", "memoryLimit", "memory_limit", "WithMemoryLimit", "", \
      "--unpack-limit")

#endif /* BLY_BASE_NAMES_H */
