// rocksdb.cc - RocksDB's own filter policy: makes a table of the lines of
// standard input, in `table`, and a file of the filter in it; or puts a filter
// of as many bytes into its place there, and says for how many of the lines the
// table would be read.
//
//     rocksdb make FILTER    rocksdb count FILTER
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <string>
#include <vector>

static const char table[] = "table";
static const std::string name = "fullfilter.rocksdb.BuiltinBloomFilter";

static void check(const rocksdb::Status &status)
{
    if (!status.ok()) {
        std::cerr << status.ToString() << "\n";
        exit(2);
    }
}

static std::string read(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)),
                       std::istreambuf_iterator<char>());
}

static void write(const char *path, const std::string &bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

static rocksdb::Options options()
{
    rocksdb::BlockBasedTableOptions blocks;
    rocksdb::Options all;
    blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    blocks.format_version = 5;
    blocks.cache_index_and_filter_blocks = false;
    all.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
    all.compression = rocksdb::kNoCompression;
    all.create_if_missing = true;
    all.statistics = rocksdb::CreateDBStatistics();
    return all;
}

// A number of 7 bits a byte, the lowest first.
static size_t number(const std::string &bytes, size_t &at)
{
    size_t value = 0;
    for (int shift = 0;; shift += 7) {
        size_t byte = static_cast<unsigned char>(bytes.at(at++));
        value |= (byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

struct place { size_t at, bytes; };

// Where the filter is: the table's index of what is no data has its name, and
// behind that the place and the length.
static place find(const std::string &bytes)
{
    size_t at = bytes.find(name);
    if (at == std::string::npos)
        exit(2);
    at += name.size();
    size_t from = number(bytes, at), length = number(bytes, at);
    return { from, length };
}

static void make(const char *path, std::vector<std::string> lines)
{
    rocksdb::Options all = options();
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), all);
    check(writer.Open(table));
    std::sort(lines.begin(), lines.end());
    for (const std::string &line : lines)
        check(writer.Put(line, ""));
    check(writer.Finish());
    const std::string bytes = read(table);
    place filter = find(bytes);
    write(path, bytes.substr(filter.at, filter.bytes));
}

static void count(const char *path, const std::vector<std::string> &lines)
{
    const std::string filter = read(path);
    std::string bytes = read(table), value;
    place there = find(bytes);
    if (there.bytes != filter.size())
        exit(2);
    write(table, bytes.replace(there.at, there.bytes, filter));
    rocksdb::Options all = options();
    rocksdb::DB *db = nullptr;
    check(rocksdb::DestroyDB("database", all));
    check(rocksdb::DB::Open(all, "database", &db));
    check(db->IngestExternalFile({ table }, rocksdb::IngestExternalFileOptions()));
    for (const std::string &line : lines)
        db->Get(rocksdb::ReadOptions(), line, &value);
    std::cout << lines.size()
               - all.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL)
              << "\n";
    delete db;
}

int main(int argc, char **argv)
{
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);)
        lines.push_back(line);
    if (argc != 3)
        return 2;
    if (std::string(argv[1]) == "make")
        make(argv[2], lines);
    else
        count(argv[2], lines);
    return 0;
}
