/* names.h - the names of operations and parameters in every language.
 *
 * The library's messages name a function or parameter of C in brackets,
 * "(bly_resize)". bly_why_in puts the language's own name in its place. `make
 * docs` writes bindings/names.md from this table, and tools/check/surfaces
 * compares it with every binding. */
#ifndef BLY_BASE_NAMES_H
#define BLY_BASE_NAMES_H

/* Each row has the purpose, and the names in C, C++, Python, SQLite,
 * PostgreSQL, JavaScript, Redis, the command and Go; "" where there is none. */
#define NAMES_TABLE(X) \
    X("make an empty filter", "bly_new", "filter", "Filter", "bloomery_new", \
      "bloomery_new", "new Filter", "BLY.NEW", "bloomery build -n", "New") \
    X("build from all keys", "bly_build", "filter::build", "Filter.build", \
      "bloomery_build", "bloomery_build", "Filter.build", "BLY.BUILD", \
      "bloomery build", "Build") \
    X("build from keys with labels", "bly_build", "filter::build", \
      "Filter.build", "bloomery_build_labels", "bloomery_build_labels", \
      "Filter.build", "", "bloomery build --label", "Build") \
    X("plan: size and cost", "bly_plan", "plan", "Filter.plan", \
      "bloomery_plan", "bloomery_plan", "Filter.plan", "BLY.PLAN", \
      "bloomery plan", "Plan") \
    X("rank kinds for a need", "bly_advise", "advise", "advise", "", "", \
      "advise", "BLY.ADVISE", "bloomery advise", "Advise") \
    X("list the kinds", "bly_kinds", "kinds", "kinds", "bloomery_kinds", \
      "bloomery_kinds", "kinds", "BLY.KINDS", "bloomery kinds", "Kinds") \
    X("version of the library", "bly_version", "", "version", \
      "bloomery_version", "bloomery_version", "version", "", \
      "bloomery --version", "Version") \
    X("open a file", "bly_open", "filter::open", "Filter.open", \
      "bloomery_open", "", "", "", "", "Open") \
    X("save to a file", "bly_save", "save", "save", "", "", "", "", "", \
      "Save") \
    X("make the bytes of a file", "bly_pack", "pack", "pack", "", "", "pack", \
      "BLY.DUMP", "", "Pack") \
    X("make a filter of such bytes", "bly_unpack", "filter::unpack", \
      "Filter.from_bytes", "", "bloomery", "Filter.fromBytes", "BLY.RESTORE", \
      "", "Unpack") \
    X("add a key", "bly_add", "add", "add", "bloomery_add", "bloomery_add", \
      "add", "BLY.ADD", "bloomery add", "Add") \
    X("add many keys", "bly_add_many", "add_many", "add_many", "", "", \
      "addMany", "BLY.MADD", "bloomery add", "AddMany") \
    X("look a key up", "bly_contains", "contains", "contains", \
      "bloomery_contains", "bloomery_contains", "contains", "BLY.CONTAINS", \
      "bloomery query", "Contains") \
    X("look many keys up", "bly_contains_many", "contains_many", \
      "contains_many", "", "", "containsMany", "BLY.MCONTAINS", \
      "bloomery query", "ContainsMany") \
    X("count how often a key was added", "bly_count", "count", "count", \
      "bloomery_count", "bloomery_count", "count", "BLY.COUNT", \
      "bloomery count", "Count") \
    X("count many keys", "bly_count_many", "count_many", "count_many", "", \
      "", "countMany", "BLY.MCOUNT", "bloomery count", "CountMany") \
    X("remove a key", "bly_remove", "remove", "remove", "bloomery_remove", \
      "bloomery_remove", "remove", "BLY.REMOVE", "bloomery remove", "Remove") \
    X("remove many keys", "bly_remove_many", "remove_many", "remove_many", \
      "", "", "removeMany", "BLY.MREMOVE", "bloomery remove", "RemoveMany") \
    X("store a label with a key", "bly_put", "put", "put", "bloomery_put", \
      "bloomery_put", "put", "BLY.PUT", "bloomery put", "Put") \
    X("store labels with many keys", "bly_put_many", "put_many", "put_many", \
      "", "", "putMany", "BLY.PUT", "", "PutMany") \
    X("get the label of a key", "bly_get", "get", "get", "bloomery_get", \
      "bloomery_get", "get", "BLY.GET", "bloomery get", "Get") \
    X("get the labels of many keys", "bly_get_many", "get_many", "get_many", \
      "", "", "getMany", "BLY.MGET", "", "GetMany") \
    X("unite two filters", "bly_unite", "unite", "unite", "bloomery_unite", \
      "bloomery_unite", "unite", "BLY.UNITE", "bloomery unite", "Unite") \
    X("intersect two filters", "bly_intersect", "intersect", "intersect", \
      "bloomery_intersect", "bloomery_intersect", "intersect", \
      "BLY.INTERSECT", "bloomery intersect", "Intersect") \
    X("subtract a sketch", "bly_subtract", "subtract", "subtract", "", "", \
      "subtract", "", "", "Subtract") \
    X("estimate the common keys", "bly_overlap", "overlap", "overlap", \
      "bloomery_overlap", "bloomery_overlap", "overlap", "BLY.OVERLAP", \
      "bloomery overlap", "Overlap") \
    X("copy a filter", "bly_copy", "copy", "copy", "", "", "copy", "", "", \
      "Copy") \
    X("make an empty filter like it", "bly_like", "like", "like", "", "", \
      "like", "", "", "Like") \
    X("remove all keys", "bly_clear", "clear", "clear", "", "", "clear", "", \
      "", "Clear") \
    X("make room for more keys", "bly_resize", "resize", "resize", "", "", \
      "resize", "BLY.RESIZE", "bloomery resize", "Resize") \
    X("make a filter smaller", "bly_fold", "fold", "fold", "", "", "fold", \
      "BLY.FOLD", "bloomery resize --fold", "Fold") \
    X("report size, fill and rate", "bly_info", "info", "info", \
      "bloomery_info", "bloomery_info", "info", "BLY.INFO", "bloomery info", \
      "Info") \
    X("list the keys of a sketch", "bly_list_keys", "list_keys", "list_keys", \
      "bloomery_list_keys", "bloomery_list_keys", "listKeys", "", \
      "bloomery list", "ListKeys") \
    X("state the form of the keys", "bly_form_set", "set_form", "state_keys", \
      "bloomery_state_keys", "bloomery_state_keys", "stateKeys", \
      "BLY.STATEKEYS", "", "StateKeys") \
    X("hash a key", "bly_hash", "hash", "hash", "", "", "hash", "", "", \
      "Hash") \
    X("number of keys that a filter is for", "bly_spec.capacity", "spec", \
      "items", "", "", "items", "", "", "WithItems") \
    X("open a file for writing", "BLY_WRITE", "BLY_WRITE", "write=True", "", \
      "", "", "", "", "WithWrite") \
    X("limit the memory of untrusted bytes", "bly_options.memory_limit", \
      "options::with_memory_limit", "memory_limit", "SQLITE_LIMIT_LENGTH", \
      "", "memoryLimit", "", "--unpack-limit", "WithMemoryLimit")

#endif /* BLY_BASE_NAMES_H */
