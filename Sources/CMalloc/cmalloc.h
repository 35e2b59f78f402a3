// The C library's allocator, as far as it can be told what to keep. Only glibc's: others give back by themselves.
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

// Large pieces are mapped one by one, and go back to the system when they are freed; glibc by itself would raise that limit to
// 32 MB with the first large piece that is freed, and keep what is smaller.
static inline void cmalloc_give_large_pieces_back(void) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

// Bytes that are free and not given back, as far as that is known.
static inline size_t cmalloc_free_bytes(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  return mallinfo2().fordblks;
#else
  return 0;
#endif
}

// Gives whole free pages back, of all arenas.
static inline void cmalloc_trim(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}
