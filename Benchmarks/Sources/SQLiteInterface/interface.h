// The system's SQLite, for the side of the comparison that is written against it directly.
#include <sqlite3.h>
