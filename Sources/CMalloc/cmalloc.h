// The C library's allocator, as far as it can be told what to keep. Only glibc's: others give back by themselves.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

// Bytes of this process that are in the machine's memory; 0 where that is not known. The allocator's own figures would not do:
// glibc's mallinfo2 tells of the main arena only, and every thread has another.
static inline size_t cmalloc_resident_bytes(void) {
  size_t pages = 0;
#if defined(__linux__)
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) return 0;
  if (fscanf(file, "%*u %zu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
#else
  return pages;
#endif
}

// Gives whole free pages back, of all arenas.
static inline void cmalloc_trim(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}
