// The system's SQLite, as it is: everything that the engine calls is SQLite's public C interface.
#include <sqlite3.h>

// Swift cannot call a function with variable arguments. Must come before SQLite is used for the first time: counting each
// allocation takes a lock that all connections share.
static inline int csqlite_stop_counting_memory(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
