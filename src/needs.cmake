# The libraries that the library needs: library_needs to build it; to link
# libbloomery.a, static_here (paths) in this build and static_needs (names) where
# it is installed; library_requires and library_dl for bloomery.pc.

# One function of xxHash is compiled in from its header (src/bits/hash.c): it
# hashes short keys in two thirds of the time that a call takes. XXH3 has had
# its final form since 0.8.0.
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash>=0.8.0)
set(library_needs Threads::Threads)
set(static_needs pthread)
set(static_here pthread)

# gcc calls libatomic on some processors: for bytes, before version 13 on riscv64,
# and for 64 bits on some of 32 bits. The programs link it too.
include(CheckCSourceCompiles)
check_c_source_compiles("static unsigned char byte;
static unsigned long long word;
int main(void) {
    return __atomic_fetch_or(&byte, 1, __ATOMIC_RELAXED)
        + (__atomic_fetch_add(&word, 1, __ATOMIC_RELAXED) > 1); }"
    BLY_HAS_ATOMICS)
if(NOT BLY_HAS_ATOMICS)
    link_libraries(atomic)
    list(APPEND static_needs atomic)
    set(library_atomic " -latomic")
endif()

# library_need(OPTION PREFIX LIBRARY DEBIAN PACKAGE MODULE)
macro(library_need option prefix library debian package module)
    if(${option})
        need(${prefix} ${option} ${debian} ${module})
        list(APPEND library_needs PkgConfig::${prefix})
        list(APPEND static_needs ${library})
        list(APPEND static_here ${${prefix}_LINK_LIBRARIES})
        list(APPEND library_private ${package})
    endif()
endmacro()
library_need(BLY_URING URING uring liburing-dev liburing liburing)
library_need(BLY_DIGESTS NETTLE nettle nettle-dev nettle nettle>=3.4)
if(library_private)
    list(JOIN library_private " " library_requires)
    set(library_requires "Requires.private: ${library_requires}")
endif()

if(BLY_UNICODE)
    if(NOT ICU_FOUND)
        message(FATAL_ERROR "icu-uc missing: install libicu-dev, or configure "
                            "with -DBLY_UNICODE=OFF")
    endif()
    list(APPEND library_needs ${CMAKE_DL_LIBS})
    list(APPEND static_needs ${CMAKE_DL_LIBS})
    list(APPEND static_here ${CMAKE_DL_LIBS})
    list(TRANSFORM CMAKE_DL_LIBS PREPEND " -l" OUTPUT_VARIABLE library_dl)
endif()
