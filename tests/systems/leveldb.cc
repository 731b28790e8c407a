// leveldb.cc - LevelDB's own filter policy: makes a filter of the lines of
// standard input, or says how many of them may be in one; or makes a database
// of them, all in tables.
//
//     leveldb make FILTER    leveldb count FILTER    leveldb fill FOLDER
#include <fstream>
#include <iostream>
#include <iterator>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <memory>
#include <string>
#include <vector>

static int fill(const char *folder, const leveldb::FilterPolicy *policy,
                const std::vector<std::string> &lines)
{
    leveldb::Options options;
    leveldb::DB *db = nullptr;
    options.create_if_missing = true;
    options.filter_policy = policy;
    if (!leveldb::DB::Open(options, folder, &db).ok())
        return 2;
    for (const std::string &line : lines)
        if (!db->Put(leveldb::WriteOptions(), line, line + " " + line).ok())
            return 2;
    db->CompactRange(nullptr, nullptr);
    delete db;
    return 0;
}

int main(int argc, char **argv)
{
    std::unique_ptr<const leveldb::FilterPolicy> policy(
        leveldb::NewBloomFilterPolicy(10));
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);)
        lines.push_back(line);
    if (argc != 3)
        return 2;
    if (std::string(argv[1]) == "make") {
        std::vector<leveldb::Slice> keys(lines.begin(), lines.end());
        std::string filter;
        policy->CreateFilter(keys.data(), static_cast<int>(keys.size()),
                             &filter);
        std::ofstream(argv[2], std::ios::binary) << filter;
        return 0;
    }
    if (std::string(argv[1]) == "fill")
        return fill(argv[2], policy.get(), lines);
    std::ifstream file(argv[2], std::ios::binary);
    const std::string filter((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
    size_t found = 0;
    for (const std::string &line : lines)
        found += policy->KeyMayMatch(line, filter);
    std::cout << found << "\n";
    return 0;
}
