/* carriers.c - files of other systems that carry filters inside: which system a
 * file is from, by its end, and the reader for it.
 */
#include "formats/contents.h"

#include <string.h>

#include "image/image.h"

enum { CARRIERS_TAIL = 8 };

/* Returns the number in the last 8 bytes of a file. */
static uint64_t carriers_magic(const uint8_t *tail, size_t n)
{
    return image_u64(tail, n - CARRIERS_TAIL);
}

/* Returns the system whose files end like this, or NULL. */
static const char *carriers_recognise(const uint8_t *tail, size_t n)
{
    if (n < CARRIERS_TAIL)
        return NULL;
    const uint8_t *last = tail + n - strlen(FOOTER_MAGIC);
    const uint8_t *script = tail + n - CARRIERS_TAIL;
    uint64_t magic = carriers_magic(tail, n);
    return memcmp(last, FOOTER_MAGIC, strlen(FOOTER_MAGIC)) == 0
        || memcmp(last, FOOTER_MAGIC_SECRET, strlen(FOOTER_MAGIC)) == 0
         ? "parquet"
         : memcmp(script, STRIPES_MAGIC, strlen(STRIPES_MAGIC)) == 0 ? "orc"
         : magic == TABLE_MAGIC_LEVELDB ? "leveldb"
         : magic == TABLE_MAGIC_ROCKSDB ? "rocksdb" : NULL;
}

const char *bly_container_recognise(const void *tail, size_t n)
{
    return carriers_recognise(tail, n);
}

bly_status carriers_find(contents_list *out, const contents_source *source)
{
    uint8_t tail[CARRIERS_TAIL];
    *out = (contents_list){ .room = 0 };
    if (source->bytes >= CARRIERS_TAIL) {
        bly_status status = source->read(source->context, tail, source->bytes
                                         - CARRIERS_TAIL, CARRIERS_TAIL);
        if (status != BLY_OK)
            return status;
        out->is.system = carriers_recognise(tail, CARRIERS_TAIL);
    }
    if (out->is.system == NULL)
        return status_fail(BLY_EFORMAT, "not a file that contains filters: its "
                           "end is not that of a Parquet, ORC, LevelDB or "
                           "RocksDB file: name another file, or copy it again");
    return out->is.system[0] == 'p' ? footer_find(out, source)
         : out->is.system[0] == 'o' ? stripes_find(out, source)
                                    : table_find(out, source);
}
