// The system's SQLite, as it is: everything that the engine calls is SQLite's public C interface.
#include <sqlite3.h>
