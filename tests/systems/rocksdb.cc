// rocksdb.cc - RocksDB's own filter policies, `bloom` and `ribbon`: makes a
// table of the lines of standard input, in `table`, and a file of the filter in
// it; or puts a filter of as many bytes into its place there, and prints for
// how many of the lines the table would be read. `parts` makes a table with a
// filter for each partition and prints that number for lines of another file.
//
//     rocksdb make POLICY FILTER    rocksdb count POLICY FILTER
//     rocksdb parts POLICY LINES
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

static rocksdb::Options options(const std::string &policy, bool parts)
{
    rocksdb::BlockBasedTableOptions blocks;
    rocksdb::Options all;
    blocks.filter_policy.reset(policy == "ribbon"
                                   ? rocksdb::NewRibbonFilterPolicy(10, -1)
                                   : rocksdb::NewBloomFilterPolicy(10));
    if (parts) {
        blocks.partition_filters = true;
        blocks.index_type =
            rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
        blocks.block_size = 1024;
        blocks.metadata_block_size = 256;
    }
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

static void fill(const rocksdb::Options &all, std::vector<std::string> lines)
{
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), all);
    check(writer.Open(table));
    std::sort(lines.begin(), lines.end());
    for (const std::string &line : lines)
        check(writer.Put(line, ""));
    check(writer.Finish());
}

static void make(const rocksdb::Options &all, const char *path,
                 const std::vector<std::string> &lines)
{
    fill(all, lines);
    const std::string bytes = read(table);
    place filter = find(bytes);
    write(path, bytes.substr(filter.at, filter.bytes));
}

// Prints for how many lines the filters of the table say "perhaps".
static void look(const rocksdb::Options &all,
                 const std::vector<std::string> &lines)
{
    rocksdb::IngestExternalFileOptions copied;
    rocksdb::DB *db = nullptr;
    std::string value;
    check(rocksdb::DestroyDB("database", all));
    check(rocksdb::DB::Open(all, "database", &db));
    check(db->IngestExternalFile({ table }, copied));
    for (const std::string &line : lines)
        db->Get(rocksdb::ReadOptions(), line, &value);
    std::cout << lines.size()
               - all.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL)
              << "\n";
    delete db;
}

static void count(const rocksdb::Options &all, const char *path,
                  const std::vector<std::string> &lines)
{
    const std::string filter = read(path);
    std::string bytes = read(table);
    place there = find(bytes);
    if (there.bytes != filter.size())
        exit(2);
    write(table, bytes.replace(there.at, there.bytes, filter));
    look(all, lines);
}

static std::vector<std::string> lines_of(std::istream &in)
{
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const std::string verb = argv[1];
    const std::vector<std::string> lines = lines_of(std::cin);
    const rocksdb::Options all = options(argv[2], verb == "parts");
    if (verb == "make") {
        make(all, argv[3], lines);
    } else if (verb == "count") {
        count(all, argv[3], lines);
    } else {
        std::ifstream others(argv[3]);
        fill(all, lines);
        look(all, lines_of(others));
    }
    return 0;
}
