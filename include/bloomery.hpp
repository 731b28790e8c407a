/* bloomery.hpp - the C++17 interface: filters that free themselves, keys in any
 * range, and errors as exceptions.
 *
 * Everything is in the namespace bloomery. The header needs only the C library.
 * Functions have the names, meanings and costs of the C functions without bly_;
 * bloomery.h is the manual, and this comment describes the differences.
 *
 *      bloomery::filter f("standard", bloomery::spec(1'000'000, 0.01));
 *      f.add("swordfish");
 *      if (f.contains("swordfish"))            // true: no false negatives
 *          std::puts("perhaps there");
 *      f.save("passwords.bly");
 *
 * ERRORS
 *
 * An error of bloomery.h is thrown as bloomery::error, which holds the status
 * and the text of bly_why_in("c++"). Ordinary answers are not errors: add()
 * tells new from seen keys, remove() reports whether the key was removed, and
 * get() whether there is a label. Functions that cannot fail are noexcept.
 *
 * KEYS
 *
 * A key is a std::string_view, or anything that converts to one. To use the
 * bytes of an object as a key, write bytes(x). This is never implicit, because
 * such keys differ on machines of another byte order. number(x) is the key that
 * every machine and every binding uses for a number.
 *
 * The functions …_many take many keys. A `keys` is a view of keys in memory and
 * copies none. Alternatively, pass any range whose elements convert to
 * string_view and live as long as the call, such as a std::vector<std::string>
 * or a std::set; they are processed in batches of 256. A range of integers does
 * not compile, because integers are neither keys nor hashes: numbers(x) makes
 * keys of them.
 *
 * A hash is a std::uint64_t, which only the functions …_hash and …_hashes take.
 * filter::build() takes keys, or hashes as hashes{x}.
 *
 * A `span` is a view of contiguous memory: a std::vector, std::array, std::span
 * or C array converts to it. A span that a function writes to must have room
 * for all results, or the call is BLY_EPARAM.
 *
 * A FILTER
 *
 * A filter can be moved but not copied; copy() makes a copy explicitly. A
 * filter that was moved from, or made without arguments, holds nothing. It is
 * false as a bool, and may only be tested for that, assigned to and
 * destroyed.
 */
#ifndef BLOOMERY_HPP
#define BLOOMERY_HPP

#include <bloomery.h>
#include <bloomery/advice.h>
#include <bloomery/form.h>
#include <bloomery/gaps.h>
#include <bloomery/paged.h>
#include <bloomery/parts.h>
#include <bloomery/sketch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bloomery {

/* ==== Errors ============================================================ */

/* A failed call. what() is the text of bly_why_in("c++"): what was wrong and
 * how to fix it. done() is the number of keys that a batch processed before. */
class error : public std::runtime_error {
public:
    explicit error(bly_status status, std::size_t done = 0)
        : std::runtime_error(*bly_why() != '\0' ? bly_why_in("c++")
                                                : bly_strerror(status)),
          status_(status), done_(done)
    {
    }
    error(bly_status status, const char *why)
        : std::runtime_error(why), status_(status), done_(0)
    {
    }
    bly_status status() const noexcept
    {
        return status_;
    }
    std::size_t done() const noexcept
    {
        return done_;
    }

private:
    bly_status status_;
    std::size_t done_;
};

/* Returns the status if it is a success, and throws it otherwise. */
inline bly_status must(bly_status status, std::size_t done = 0)
{
    if (status < 0)
        throw error(status, done);
    return status;
}

/* ==== Views ============================================================= */

/* A view of contiguous memory. */
template <typename T> class span {
public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept
        : data_(data), size_(size)
    {
    }
    template <std::size_t N>
    constexpr span(T (&all)[N]) noexcept : data_(all), size_(N)
    {
    }
    /* not for arrays of a derived type */
    template <typename C,
              typename = std::enable_if_t<std::is_convertible_v<
                  std::remove_pointer_t<
                      decltype(std::declval<C &>().data())> (*)[],
                  T (*)[]>>>
    constexpr span(C &&all) noexcept : data_(all.data()), size_(all.size())
    {
    }
    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr T &operator[](std::size_t i) const noexcept
    {
        return data_[i];
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* Returns the bytes of an object as a key. Types with padding are refused,
 * because its value is undefined, and so is double, because 0.0 and -0.0 are
 * equal but have different bytes. */
template <typename T> std::string_view bytes(const T &object) noexcept
{
    static_assert(std::has_unique_object_representations_v<T>
                      && !std::is_pointer_v<T>,
                  "equal objects must have equal bytes to be a key");
    return { reinterpret_cast<const char *>(&object), sizeof object };
}
inline std::string_view bytes(const void *data, std::size_t length) noexcept
{
    return { static_cast<const char *>(data), length };
}

/* The key of a number, by bly_integer_key, or bly_real_key for a real number.
 * Equal numbers of any types have equal keys. An integer beyond 2^63 is rounded
 * to a double. */
class number {
public:
    template <typename T,
              typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    explicit number(T value) noexcept
    {
        constexpr std::uint64_t most = INT64_MAX;

        if constexpr (std::is_floating_point_v<T>) {
            if (value >= T(-0x1p63) && value < T(0x1p63)
                && T(static_cast<std::int64_t>(value)) == value)
                bly_integer_key(key_, static_cast<std::int64_t>(value));
            else
                bly_real_key(key_, static_cast<double>(value));
        }
        else if (value > 0 && static_cast<std::uint64_t>(value) > most)
            bly_real_key(key_, static_cast<double>(value));
        else
            bly_integer_key(key_, static_cast<std::int64_t>(value));
    }
    operator std::string_view() const noexcept
    {
        return { reinterpret_cast<const char *>(key_), sizeof key_ };
    }

private:
    unsigned char key_[8];
};

/* Text that ends in NUL: a literal or a std::string. */
class text {
public:
    text(const char *all) noexcept : all_(all)
    {
    }
    text(const std::string &all) noexcept : all_(all.c_str())
    {
    }
    const char *get() const noexcept
    {
        return all_;
    }

private:
    const char *all_;
};

/* A view of many keys in memory: bly_keys. */
class keys {
public:
    keys(const bly_keys &all) noexcept : all_(all)
    {
    }
    /* separate keys */
    keys(span<const bly_key> all) noexcept
    {
        all_.n = all.size();
        all_.keys = all.data();
    }
    keys(const std::vector<bly_key> &all) noexcept
        : keys(span<const bly_key>(all))
    {
    }
    /* one buffer, with key i from offsets[i] up to offsets[i + 1] */
    keys(const void *data, span<const std::uint32_t> offsets) noexcept
    {
        all_.n = offsets.size() - 1;
        all_.data = data;
        all_.offsets32 = offsets.data();
    }
    keys(const void *data, span<const std::uint64_t> offsets) noexcept
    {
        all_.n = offsets.size() - 1;
        all_.data = data;
        all_.offsets64 = offsets.data();
    }
    /* n rows of equal width */
    keys(const void *data, std::size_t n, std::size_t width) noexcept
    {
        all_.n = n;
        all_.data = data;
        all_.width = width;
    }
    /* the bytes of each object in a contiguous range, as by bytes() */
    template <typename C> static keys rows(const C &objects) noexcept
    {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(
            std::data(objects))>>;
        static_assert(std::has_unique_object_representations_v<T>
                          && !std::is_pointer_v<T>,
                      "equal objects must have equal bytes to be a key");
        return { std::data(objects), std::size(objects), sizeof(T) };
    }
    std::size_t size() const noexcept
    {
        return all_.n;
    }
    const bly_keys *get() const noexcept
    {
        return &all_;
    }

private:
    bly_keys all_ = {};
};

/* The keys of the numbers in a range, each as by number(). They are valid only
 * as long as this object: give it to a call directly, or keep it in a variable.
 */
class numbers {
public:
    template <typename R> explicit numbers(const R &range)
    {
        for (const auto &each : range)
            all_.emplace_back(each);
    }
    operator keys() const noexcept
    {
        return { all_.data(), all_.size(), sizeof(number) };
    }

private:
    std::vector<number> all_;
};

/* A view of hashes that are already known (hash_many, filter::hash), for
 * filter::build(). */
class hashes {
public:
    explicit hashes(span<const std::uint64_t> all) noexcept : all_(all)
    {
    }
    std::size_t size() const noexcept
    {
        return all_.size();
    }
    const std::uint64_t *data() const noexcept
    {
        return all_.data();
    }

private:
    span<const std::uint64_t> all_;
};

/* ==== Requests ========================================================== */

/* A bly_spec whose fields can be set in a chain. A plain bly_spec can be used
 * as well. */
struct spec : bly_spec {
    spec() noexcept : bly_spec()
    {
    }
    explicit spec(std::uint64_t keys, double wanted_rate = 0) noexcept
        : bly_spec()
    {
        capacity = keys;
        rate = wanted_rate;
    }
    spec &with_seed(std::uint64_t value) noexcept
    {
        seed = value;
        return *this;
    }
    spec &with_hash(const char *name) noexcept
    {
        hash = name;
        return *this;
    }
    spec &with_secret(const void *sixteen_bytes) noexcept
    {
        secret = sixteen_bytes;
        return *this;
    }
    spec &with_allocator(const bly_allocator *from) noexcept
    {
        allocator = from;
        return *this;
    }
    spec &with_flags(int all) noexcept
    {
        flags = all;
        return *this;
    }
    spec &with_form(std::uint64_t of_keys) noexcept
    {
        form = of_keys;
        return *this;
    }
    spec &with_progress(const bly_progress *callback) noexcept
    {
        progress = callback;
        return *this;
    }
    spec &with_threads(std::uint32_t most) noexcept
    {
        threads = most;
        return *this;
    }
};

/* bly_options, likewise. */
struct options : bly_options {
    options() noexcept : bly_options()
    {
    }
    options &with_secret(const void *sixteen_bytes) noexcept
    {
        secret = sixteen_bytes;
        return *this;
    }
    options &with_allocator(const bly_allocator *from) noexcept
    {
        allocator = from;
        return *this;
    }
    options &with_memory_limit(std::uint64_t bytes) noexcept
    {
        memory_limit = bytes;
        return *this;
    }
    options &with_progress(const bly_progress *callback) noexcept
    {
        progress = callback;
        return *this;
    }
    options &with_threads(std::uint32_t most) noexcept
    {
        threads = most;
        return *this;
    }
};

/* ==== Inside ============================================================ */

namespace inside {

inline void room(std::size_t there, std::size_t needed)
{
    if (there < needed)
        throw error(BLY_EPARAM,
                    "a span is too short for what is written to it: give it "
                    "an element for each key");
}

/* An empty span where the results are not wanted. */
template <typename T> T *wanted(span<T> results, std::size_t n)
{
    if (results.size() == 0)
        return nullptr;
    room(results.size(), n);
    return results.data();
}

inline const std::uint64_t *
labels(span<const std::uint64_t> all, std::size_t n)
{
    if (all.data() != nullptr && all.size() != n)
        throw error(BLY_EPARAM, "there must be one label for each key");
    return all.data();
}

/* Is T a range of keys that is neither a single key nor a view of keys? */
template <typename T, typename = void> struct is_range : std::false_type {
};
template <typename T>
struct is_range<T, std::void_t<decltype(std::string_view(
                       *std::begin(std::declval<const T &>())))>>
    : std::bool_constant<!std::is_convertible_v<const T &, std::string_view>> {
};

/* Is T a range of numbers that is not text? */
template <typename T, typename = void> struct has_numbers : std::false_type {
};
template <typename T>
struct has_numbers<T, std::void_t<decltype(
                          *std::begin(std::declval<const T &>()))>>
    : std::bool_constant<
          !std::is_convertible_v<const T &, std::string_view>
          && std::is_arithmetic_v<std::remove_cv_t<std::remove_reference_t<
              decltype(*std::begin(std::declval<const T &>()))>>>> {
};

template <typename T>
using if_number = std::enable_if_t<std::is_arithmetic_v<T>, int>;

/* Anything that is not a view. Only ranges of keys compile. */
template <typename T>
using if_range = std::enable_if_t<!std::is_convertible_v<const T &, keys>
                                      && !std::is_same_v<T, hashes>,
                                  int>;
template <typename T> constexpr bool must_be_range() noexcept
{
    static_assert(!has_numbers<T>::value,
                  "integers are neither keys nor hashes: write "
                  "bloomery::numbers(x) for their values as keys, or "
                  "bloomery::keys::rows(x) for their bytes; hashes are "
                  "bloomery::hashes{x} for filter::build(), and elsewhere x in "
                  "the functions that end in _hashes");
    static_assert(has_numbers<T>::value || is_range<T>::value,
                  "give many keys: a range of std::string or std::string_view, "
                  "or a bloomery::keys");
    return is_range<T>::value;
}

/* Can a range be read only once? Its iterator may then write each element to
 * the same place. (The C++20 category of an iterator is more precise than that
 * of C++17, which has no views.) */
template <typename I, typename = void> struct is_once : std::false_type {
};
template <typename I>
struct is_once<I, std::void_t<
                      typename std::iterator_traits<I>::iterator_category>>
    : std::bool_constant<!std::is_base_of_v<
          std::forward_iterator_tag,
          typename std::iterator_traits<I>::iterator_category>> {
};
template <typename I, typename = void> struct is_fleeting : is_once<I> {
};
template <typename I>
struct is_fleeting<I, std::void_t<typename I::iterator_concept>>
    : std::bool_constant<!std::is_base_of_v<std::forward_iterator_tag,
                                            typename I::iterator_concept>> {
};

/* Passes the keys of a range in batches: what(keys, first) for each. */
template <typename R, typename F> void batches(const R &range, F &&what)
{
    if constexpr (must_be_range<R>()) {
        using found = decltype(*std::begin(range));
        static_assert(!is_fleeting<decltype(std::begin(range))>::value,
                      "the keys must outlive the call: a range that can be "
                      "read only once may overwrite them, so copy it to a "
                      "std::vector");
        static_assert(std::is_reference_v<found>
                          || std::is_same_v<found, std::string_view>,
                      "the keys must outlive the call: a range that makes "
                      "strings as it goes cannot be used");
        std::array<bly_key, 256> some;
        std::size_t n = 0, first = 0;

        for (const auto &each : range) {
            std::string_view key(each);

            some[n++] = { key.data(), key.size() };
            if (n == some.size()) {
                what(keys(span<const bly_key>(some.data(), n)), first);
                first += n;
                n = 0;
            }
        }
        if (n > 0)
            what(keys(span<const bly_key>(some.data(), n)), first);
    }
}

/* Returns all keys of a range. */
template <typename R> std::vector<bly_key> gather(const R &range)
{
    std::vector<bly_key> all;

    batches(range, [&](const keys &some, std::size_t) {
        all.insert(all.end(), some.get()->keys, some.get()->keys + some.size());
    });
    return all;
}

/* Returns part of a span, which is empty or has room for all. */
template <typename T>
span<T> part(span<T> all, std::size_t first, std::size_t n)
{
    if (all.size() == 0)
        return all;
    room(all.size(), first + n);
    return { all.data() + first, n };
}

/* Calls a visitor and continues unless it returns the bool false. An exception
 * must not pass through C, so it is kept until the visit has ended. */
template <typename F> struct visitor {
    F &visit;
    std::exception_ptr thrown = nullptr;

    template <typename... A> bool operator()(A &&...what) noexcept
    {
        try {
            if constexpr (std::is_same_v<std::invoke_result_t<F &, A...>, bool>)
                return visit(std::forward<A>(what)...);
            else
                visit(std::forward<A>(what)...);
            return true;
        } catch (...) {
            thrown = std::current_exception();
            return false;
        }
    }
    void end(bly_status status) const
    {
        if (thrown != nullptr)
            std::rethrow_exception(thrown);
        must(status);
    }
};

struct free_filter {
    void operator()(bly_filter *filter) const noexcept
    {
        bly_free(filter);
    }
};

struct free_ranking {
    void operator()(bly_ranking *ranking) const noexcept
    {
        bly_ranking_free(ranking);
    }
};

} // namespace inside

/* ==== Kinds, plans and images =========================================== */

/* Returns all kinds. */
inline span<const bly_kind_info *const> kinds() noexcept
{
    std::size_t n;
    const bly_kind_info *const *all = bly_kinds(&n);

    return { all, n };
}

/* Returns the kind with this name, or nullptr. */
inline const bly_kind_info *kind_find(text kind) noexcept
{
    return bly_kind_find(kind.get());
}

/* Returns the size, rate and costs that a filter would have; or has, if it
 * grows, once it has grown to hold `grown` keys. */
inline bly_plan_t plan(text kind, const bly_spec &wanted,
                       std::uint64_t grown = 0)
{
    bly_plan_t out;

    must(bly_plan_grown(&out, kind.get(), &wanted, grown));
    return out;
}

/* Returns the hashes of keys, for build() or other uses; kind nullptr: any. */
inline std::vector<std::uint64_t>
hash_many(text kind, const bly_spec &wanted, const keys &all)
{
    std::vector<std::uint64_t> hashes(all.size());

    must(bly_hash_many(hashes.data(), kind.get(), &wanted, all.get()));
    return hashes;
}
template <typename R, inside::if_range<R> = 0>
std::vector<std::uint64_t>
hash_many(text kind, const bly_spec &wanted, const R &range)
{
    return hash_many(kind, wanted, keys(inside::gather(range)));
}

/* Verifies that the bytes are a complete and undamaged image. */
inline void check(const void *image, std::size_t size,
                  const bly_options &how = {})
{
    must(bly_check(image, size, &how));
}

/* Returns the header of an image or a file. */
inline bly_header peek(const void *image, std::size_t size)
{
    bly_header out;

    must(bly_peek(&out, image, size));
    return out;
}
inline bly_header peek_file(text path)
{
    bly_header out;

    must(bly_peek_file(&out, path.get()));
    return out;
}

/* ==== The filter ======================================================== */

class filter {
public:
    /* ---- Make ---------------------------------------------------------- */

    filter() noexcept = default;

    /* Takes ownership of a filter that C code made. */
    explicit filter(bly_filter *owned) noexcept : filter_(owned)
    {
    }

    /* Makes a new empty filter. */
    filter(text kind, const bly_spec &wanted)
        : filter(made([&](bly_filter **out) {
              return bly_new(out, kind.get(), &wanted);
          }))
    {
    }
    filter(const bly_plan_t &planned, const bly_spec &wanted)
        : filter(made([&](bly_filter **out) {
              return bly_new_planned(out, &planned, &wanted);
          }))
    {
    }

    /* Builds a filter from all its keys, for every kind: a view of them, or a
     * range of strings. `labels` is empty or has one for each key. */
    static filter build(text kind, const bly_spec &wanted, const keys &all,
                        span<const std::uint64_t> labels = {})
    {
        return built(kind, wanted, *all.get(), labels);
    }
    template <typename R, inside::if_range<R> = 0>
    static filter build(text kind, const bly_spec &wanted, const R &range,
                        span<const std::uint64_t> labels = {})
    {
        return build(kind, wanted, keys(inside::gather(range)), labels);
    }
    static filter build(text kind, const bly_spec &wanted, const hashes &known,
                        span<const std::uint64_t> labels = {})
    {
        bly_keys all = {};

        all.n = known.size();
        all.hashes = known.data();
        return built(kind, wanted, all, labels);
    }

    static filter open(text path, int flags = 0, const bly_options &how = {})
    {
        return made([&](bly_filter **out) {
            return bly_open(out, path.get(), flags, &how);
        });
    }

    /* Makes a filter in a new file, used page by page, which appears at its
     * path when it is first synced or sealed: <bloomery/paged.h>. */
    static filter create(text path, text kind, const bly_spec &wanted)
    {
        return made([&](bly_filter **out) {
            return bly_create(out, path.get(), kind.get(), &wanted);
        });
    }

    /* Wraps an image, which must outlive the filter. */
    static filter wrap(const void *image, std::size_t size,
                       const bly_options &how = {})
    {
        return made([&](bly_filter **out) {
            return bly_wrap(out, image, size, &how);
        });
    }

    static filter unpack(const void *packed, std::size_t size,
                         const bly_options &how = {})
    {
        return made([&](bly_filter **out) {
            return bly_unpack(out, packed, size, &how);
        });
    }

    /* Makes an empty filter of the same plan. */
    filter like(const bly_options &how = {}) const
    {
        return made([&](bly_filter **out) {
            return bly_like(out, get(), &how);
        });
    }
    /* Sets a callback that reports and can cancel later calls:
     * bly_progress_set. */
    void watch(const bly_progress *callback) noexcept
    {
        bly_progress_set(get(), callback);
    }
    /* Removes all keys. */
    void clear()
    {
        must(bly_clear(get()));
    }
    filter copy(const bly_options &how = {}) const
    {
        return made([&](bly_filter **out) {
            return bly_copy(out, get(), &how);
        });
    }

    explicit operator bool() const noexcept
    {
        return filter_ != nullptr;
    }

    /* For calls to functions of bloomery.h; release() gives up ownership. */
    bly_filter *get() noexcept
    {
        return filter_.get();
    }
    const bly_filter *get() const noexcept
    {
        return filter_.get();
    }
    bly_filter *release() noexcept
    {
        return filter_.release();
    }

    /* A number is not a key: write number(x), or bytes(x). */
    template <typename T, inside::if_number<T> = 0> void add(T) = delete;
    template <typename T, inside::if_number<T> = 0>
    void contains(T) const = delete;
    template <typename T, inside::if_number<T> = 0>
    void count(T) const = delete;
    template <typename T, inside::if_number<T> = 0> void remove(T) = delete;
    template <typename T, inside::if_number<T> = 0>
    void put(T, std::uint64_t) = delete;
    template <typename T, inside::if_number<T> = 0> void get(T) const = delete;
    template <typename T, inside::if_number<T> = 0> void hash(T) const = delete;

    /* ---- Add ----------------------------------------------------------- */

    /* Returns true if the key is new, false if it was perhaps there before. */
    bool add(std::string_view key)
    {
        return must(bly_add(get(), key.data(), key.size())) != BLY_SEEN;
    }
    bool add_hash(std::uint64_t hash)
    {
        return must(bly_add_hash(get(), hash)) != BLY_SEEN;
    }

    /* If a key fails, error::done() is the number of keys added before it.
     * `seen` is empty, or receives for each key whether it was perhaps there
     * before. */
    void add_hashes(span<const std::uint64_t> hashes, span<bool> seen = {})
    {
        std::size_t done = 0;

        must_done(bly_add_hashes(get(), hashes.data(), hashes.size(),
                                 inside::wanted(seen, hashes.size()), &done),
                  done);
    }
    void add_many(const keys &all, span<bool> seen = {})
    {
        add_batch(all, seen, 0);
    }
    template <typename R, inside::if_range<R> = 0>
    void add_many(const R &range, span<bool> seen = {})
    {
        inside::batches(range, [&](const keys &some, std::size_t first) {
            add_batch(some, inside::part(seen, first, some.size()), first);
        });
    }

    /* ---- Look up ------------------------------------------------------- */

    /* Returns false if the key is certainly not there. */
    bool contains(std::string_view key) const noexcept
    {
        return bly_contains(get(), key.data(), key.size());
    }
    bool contains_hash(std::uint64_t hash) const noexcept
    {
        return bly_contains_hash(get(), hash);
    }
    void contains_hashes(span<const std::uint64_t> hashes,
                       span<bool> present) const
    {
        inside::room(present.size(), hashes.size());
        bly_contains_hashes(get(), hashes.data(), hashes.size(),
                            present.data());
    }
    /* Writes a bit per key, lowest bit of a byte first; returns the number of
     * ones. */
    std::uint64_t contains_mask(span<const std::uint64_t> hashes,
                                span<std::uint8_t> mask) const
    {
        inside::room(mask.size(), hashes.size() / 8 + (hashes.size() % 8 != 0));
        return bly_contains_mask(get(), hashes.data(), hashes.size(),
                                 mask.data());
    }
    void contains_many(const keys &all, span<bool> present) const
    {
        inside::room(present.size(), all.size());
        must(bly_contains_many(get(), all.get(), present.data()));
    }
    template <typename R, inside::if_range<R> = 0>
    void contains_many(const R &range, span<bool> present) const
    {
        inside::batches(range, [&](const keys &some, std::size_t first) {
            inside::room(present.size(), first + some.size());
            contains_many(some, inside::part(present, first, some.size()));
        });
    }

    /* Returns how often a key was added, at most; UINT64_MAX: no bound
     * known. */
    std::uint64_t count(std::string_view key) const noexcept
    {
        return bly_count(get(), key.data(), key.size());
    }
    std::uint64_t count_hash(std::uint64_t hash) const noexcept
    {
        return bly_count_hash(get(), hash);
    }
    void count_hashes(span<const std::uint64_t> hashes,
                    span<std::uint64_t> counts) const
    {
        inside::room(counts.size(), hashes.size());
        bly_count_hashes(get(), hashes.data(), hashes.size(), counts.data());
    }
    void count_many(const keys &all, span<std::uint64_t> counts) const
    {
        inside::room(counts.size(), all.size());
        must(bly_count_many(get(), all.get(), counts.data()));
    }
    template <typename R, inside::if_range<R> = 0>
    void count_many(const R &range, span<std::uint64_t> counts) const
    {
        inside::batches(range, [&](const keys &some, std::size_t first) {
            inside::room(counts.size(), first + some.size());
            count_many(some, inside::part(counts, first, some.size()));
        });
    }

    /* Returns a hash for an integer key: bly_mix64. */
    static std::uint64_t mix64(std::uint64_t integer) noexcept
    {
        return bly_mix64(integer);
    }
    std::uint64_t hash(std::string_view key) const noexcept
    {
        return bly_hash(get(), key.data(), key.size());
    }

    /* ---- Remove -------------------------------------------------------- */

    /* Returns false if the key stayed, because it is not there or cannot be
     * removed without risk to others (bly_why() tells which). For many keys,
     * returns whether all were removed; `each` is empty or receives the status
     * of each. */
    bool remove(std::string_view key)
    {
        return removed(bly_remove(get(), key.data(), key.size()));
    }
    bool remove_hash(std::uint64_t hash)
    {
        return removed(bly_remove_hash(get(), hash));
    }
    bool remove_hashes(span<const std::uint64_t> hashes,
                     span<bly_status> each = {})
    {
        return removed(bly_remove_hashes(get(), hashes.data(), hashes.size(),
                                         inside::wanted(each, hashes.size())));
    }
    bool remove_many(const keys &all, span<bly_status> each = {})
    {
        return removed(bly_remove_many(get(), all.get(),
                                       inside::wanted(each, all.size())));
    }
    template <typename R, inside::if_range<R> = 0>
    bool remove_many(const R &range, span<bly_status> each = {})
    {
        bool all = true;

        inside::batches(range, [&](const keys &some, std::size_t first) {
            all = remove_many(some, inside::part(each, first, some.size()))
                && all;
        });
        return all;
    }

    /* ---- Labels -------------------------------------------------------- */

    /* Returns false if the present label is as good or better; nothing is then
     * changed. error::done() is as for add_hashes. */
    bool put(std::string_view key, std::uint64_t label)
    {
        return must(bly_put(get(), key.data(), key.size(), label)) != BLY_SEEN;
    }
    bool put_hash(std::uint64_t hash, std::uint64_t label)
    {
        return must(bly_put_hash(get(), hash, label)) != BLY_SEEN;
    }
    void put_hashes(span<const std::uint64_t> hashes,
                  span<const std::uint64_t> labels)
    {
        std::size_t done = 0;

        inside::room(labels.size(), hashes.size());
        must_done(bly_put_hashes(get(), hashes.data(), labels.data(),
                                 hashes.size(), &done), done);
    }
    void put_many(const keys &all, span<const std::uint64_t> labels)
    {
        put_batch(all, labels, 0);
    }
    template <typename R, inside::if_range<R> = 0>
    void put_many(const R &range, span<const std::uint64_t> labels)
    {
        inside::batches(range, [&](const keys &some, std::size_t first) {
            inside::room(labels.size(), first + some.size());
            put_batch(some, inside::part(labels, first, some.size()), first);
        });
    }

    /* Returns no value if the key is certainly not there. */
    std::optional<std::uint64_t> get(std::string_view key) const noexcept
    {
        std::uint64_t label;

        if (!bly_get(get(), key.data(), key.size(), &label))
            return std::nullopt;
        return label;
    }
    std::optional<std::uint64_t> get_hash(std::uint64_t hash) const noexcept
    {
        std::uint64_t label;

        if (!bly_get_hash(get(), hash, &label))
            return std::nullopt;
        return label;
    }
    void get_hashes(span<const std::uint64_t> hashes, span<bool> found,
                  span<std::uint64_t> labels) const
    {
        inside::room(found.size(), hashes.size());
        inside::room(labels.size(), hashes.size());
        bly_get_hashes(get(), hashes.data(), hashes.size(), found.data(),
                       labels.data());
    }
    void get_many(const keys &all, span<bool> found,
                  span<std::uint64_t> labels) const
    {
        inside::room(found.size(), all.size());
        inside::room(labels.size(), all.size());
        must(bly_get_many(get(), all.get(), found.data(), labels.data()));
    }
    template <typename R, inside::if_range<R> = 0>
    void get_many(const R &range, span<bool> found,
                  span<std::uint64_t> labels) const
    {
        inside::batches(range, [&](const keys &some, std::size_t first) {
            inside::room(found.size(), first + some.size());
            inside::room(labels.size(), first + some.size());
            get_many(some, inside::part(found, first, some.size()),
                     inside::part(labels, first, some.size()));
        });
    }

    /* ---- Look inside --------------------------------------------------- */

    /* The form of the keys: <bloomery/form.h>. */
    std::uint64_t form() const noexcept
    {
        return bly_form_of(get());
    }
    void set_form(std::uint64_t of_keys)
    {
        must(bly_form_set(get(), of_keys));
    }
    std::uint64_t can() const noexcept
    {
        return bly_can(get());
    }
    const char *kind() const noexcept
    {
        return bly_kind_of(get());
    }
    bly_info_t info() const
    {
        bly_info_t out;

        must(bly_info(&out, get()));
        return out;
    }

    /* Visitors get the arguments of the C ones, without the context, and return
     * false to stop, or nothing. Their exceptions are passed on to the
     * caller. */
    template <typename F> void list_labels(F &&visit) const
    {
        inside::visitor<F> each{ visit };

        each.end(bly_list_labels(
            get(),
            [](void *context, const bly_label_t *label) {
                return (*static_cast<inside::visitor<F> *>(context))(*label);
            },
            &each));
    }
    template <typename F> void list_fingerprints(F &&visit) const
    {
        inside::visitor<F> each{ visit };

        each.end(bly_list_fingerprints(
            get(),
            [](void *context, std::uint64_t hash, unsigned bits,
               std::uint64_t count) {
                return (*static_cast<inside::visitor<F> *>(context))(
                    hash, bits, count);
            },
            &each));
    }
    template <typename F> void list_keys(F &&visit) const
    {
        inside::visitor<F> each{ visit };

        each.end(bly_list_keys(
            get(),
            [](void *context, const bly_listed *listed) {
                return (*static_cast<inside::visitor<F> *>(context))(*listed);
            },
            &each));
    }

    /* ---- Sets and size ------------------------------------------------- */

    filter &unite(const filter &other)
    {
        must(bly_unite(get(), other.get()));
        return *this;
    }
    filter &unite_at(const filter &other, std::uint64_t label)
    {
        must(bly_unite_at(get(), other.get(), label));
        return *this;
    }
    filter &intersect(const filter &other)
    {
        must(bly_intersect(get(), other.get()));
        return *this;
    }
    filter &subtract(const filter &other)
    {
        must(bly_subtract(get(), other.get()));
        return *this;
    }
    bly_overlap_t overlap(const filter &other) const
    {
        bly_overlap_t out;

        must(bly_overlap(&out, get(), other.get()));
        return out;
    }
    void resize(std::uint64_t capacity)
    {
        must(bly_resize(get(), capacity));
    }
    void fold(std::uint64_t times)
    {
        must(bly_fold(get(), times));
    }

    /* ---- Files and images ---------------------------------------------- */

    void save(text path) const
    {
        must(bly_save(get(), path.get()));
    }
    bool replaced(text path) const
    {
        bool out;

        must(bly_replaced(&out, get(), path.get()));
        return out;
    }
    void sync()
    {
        must(bly_sync(get()));
    }
    void seal()
    {
        must(bly_seal(get()));
    }
    void buffer(std::size_t size)
    {
        must(bly_buffer(get(), size));
    }

    /* Returns an empty span for a filter that is open page by page. */
    span<const std::byte> image() const noexcept
    {
        std::size_t size = 0;
        const void *first = bly_image(get(), &size);

        return { static_cast<const std::byte *>(first),
                 first != nullptr ? size : 0 };
    }

    /* Packs the filter as save() writes it, into a span with room for image();
     * returns the number of bytes used. */
    std::size_t pack(span<std::byte> into) const
    {
        std::size_t size;

        must(bly_pack(get(), into.data(), into.size(), &size));
        return size;
    }
    std::vector<std::byte> pack() const
    {
        std::size_t most = image().size();
        /* uninitialised, because most of it stays untouched */
        std::unique_ptr<std::byte[]> into(new std::byte[most]);
        std::size_t size = pack(span<std::byte>(into.get(), most));

        return { into.get(), into.get() + size };
    }

    /* ---- Parts: <bloomery/parts.h> ------------------------------------- */

    /* Returns the number of bytes at each place. */
    std::size_t places(span<const std::uint64_t> hashes,
                       span<std::uint64_t> places) const
    {
        std::size_t size;

        inside::room(places.size(), hashes.size());
        must(bly_places(get(), hashes.data(), hashes.size(), places.data(),
                        &size));
        return size;
    }
    span<const std::byte> raw() const noexcept
    {
        std::size_t size = 0;
        const void *first = bly_raw(get(), &size);

        return { static_cast<const std::byte *>(first),
                 first != nullptr ? size : 0 };
    }
    void set_items(std::uint64_t items)
    {
        must(bly_set_items(get(), items));
    }

    /* part(from, span<std::byte>) writes the bytes from `from` on, or returns
     * false if it cannot. */
    template <typename F>
    void save_parts(text path, std::uint64_t items, F &&part) const
    {
        inside::visitor<F> each{ part };

        each.end(bly_save_parts(
            get(), path.get(), items,
            [](void *context, std::uint64_t from, void *into, std::size_t n) {
                return (*static_cast<inside::visitor<F> *>(context))(
                    from, span<std::byte>(static_cast<std::byte *>(into), n));
            },
            &each));
    }

private:
    std::unique_ptr<bly_filter, inside::free_filter> filter_;

    template <typename F> static filter made(F &&make)
    {
        bly_filter *out = nullptr;

        must(make(&out));
        return filter(out);
    }
    static filter built(text kind, const bly_spec &wanted, bly_keys all,
                        span<const std::uint64_t> labels)
    {
        if (labels.size() > 0)
            all.labels = inside::labels(labels, all.n);
        return made([&](bly_filter **out) {
            return bly_build(out, kind.get(), &wanted, &all);
        });
    }
    static bool removed(bly_status status)
    {
        if (status == BLY_EABSENT || status == BLY_EUNSAFE)
            return false;
        must(status);
        return true;
    }
    static void must_done(bly_status status, std::size_t done)
    {
        must(status, done);
    }
    void add_batch(const keys &all, span<bool> seen, std::size_t before)
    {
        std::size_t done = 0;
        bly_status status = bly_add_many(
            get(), all.get(), inside::wanted(seen, all.size()), &done);

        must_done(status, before + done);
    }
    void put_batch(const keys &all, span<const std::uint64_t> labels,
                   std::size_t before)
    {
        std::size_t done = 0;

        inside::room(labels.size(), all.size());
        bly_status status =
            bly_put_many(get(), all.get(), labels.data(), &done);

        must_done(status, before + done);
    }
};

/* ==== Advice: <bloomery/advice.h> ======================================= */

/* Plans counters that tell whether a key was added so many times. */
inline bly_threshold_plan plan(const bly_threshold &need)
{
    bly_threshold_plan out;

    must(bly_plan_threshold(&out, &need));
    return out;
}

/* The kinds ranked for a need, best first: ranking[0] is the advice. */
class ranking {
public:
    explicit ranking(const bly_need &need)
    {
        bly_ranking *out = nullptr;

        must(bly_advise(&out, &need));
        ranking_.reset(out);
    }
    std::size_t size() const noexcept
    {
        return bly_ranking_count(ranking_.get());
    }
    const bly_advice &operator[](std::size_t i) const noexcept
    {
        return *bly_ranking_at(ranking_.get(), i);
    }

    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = bly_advice;
        using difference_type = std::ptrdiff_t;
        using pointer = const bly_advice *;
        using reference = const bly_advice &;

        iterator() noexcept = default;
        iterator(const ranking *of, std::size_t i) noexcept : of_(of), i_(i)
        {
        }
        reference operator*() const noexcept
        {
            return (*of_)[i_];
        }
        pointer operator->() const noexcept
        {
            return &(*of_)[i_];
        }
        iterator &operator++() noexcept
        {
            i_++;
            return *this;
        }
        iterator operator++(int) noexcept
        {
            iterator old = *this;

            i_++;
            return old;
        }
        bool operator==(const iterator &other) const noexcept
        {
            return i_ == other.i_;
        }
        bool operator!=(const iterator &other) const noexcept
        {
            return i_ != other.i_;
        }

    private:
        const ranking *of_ = nullptr;
        std::size_t i_ = 0;
    };
    iterator begin() const noexcept
    {
        return { this, 0 };
    }
    iterator end() const noexcept
    {
        return { this, size() };
    }

private:
    std::unique_ptr<bly_ranking, inside::free_ranking> ranking_;
};
inline ranking advise(const bly_need &need)
{
    return ranking(need);
}

/* ==== Lists of numbers: <bloomery/gaps.h> =============================== */

/* Packs different numbers in rising order, all below a range. */
inline std::vector<std::byte> gaps_pack(span<const std::uint64_t> numbers,
                                        std::uint64_t range,
                                        std::uint64_t divisor = 0)
{
    std::vector<std::byte> packed(
        bly_gaps_room(numbers.size(), range, divisor));
    std::size_t size;

    must(bly_gaps_pack(packed.data(), packed.size(), &size, numbers.data(),
                       numbers.size(), range, divisor));
    packed.resize(size);
    return packed;
}

/* A packed list that is being read; its bytes must stay unchanged. */
class gaps {
public:
    gaps(const void *packed, std::size_t size, std::uint64_t range)
    {
        must(bly_gaps_open(&list_, packed, size, range));
    }
    std::uint64_t left() const noexcept
    {
        return list_.left;
    }
    /* Returns no value at the end of the list, or if it is damaged. */
    std::optional<std::uint64_t> next() noexcept
    {
        std::uint64_t number;

        if (!bly_gaps_next(&list_, &number))
            return std::nullopt;
        return number;
    }
    /* Verifies, after the last number, that the list was complete. */
    void end() const
    {
        must(bly_gaps_end(&list_));
    }

private:
    bly_gaps list_ = {};
};

} // namespace bloomery

#endif /* BLOOMERY_HPP */
