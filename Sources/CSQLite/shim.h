#ifndef COSTER_CSQLITE_SHIM_H
#define COSTER_CSQLITE_SHIM_H
// SQLite, and the calls Swift cannot see (macros, variadics), each as one static inline function.
#include <sqlite3.h>
#endif
