#ifndef COSTER_CSQLITE_SHIM_H
#define COSTER_CSQLITE_SHIM_H
// SQLite, and the calls Swift cannot see (macros, variadics), each as one static inline function.
#include <sqlite3.h>

/// Turns SQLite's memory statistics off, which take a lock of the whole process at each allocation. Before the first connection only. (Variadic.)
static inline int coster_sqlite3_config_without_memory_status(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// One switch of a connection. (Variadic.)
static inline int coster_sqlite3_db_config(sqlite3 *db, int option, int on) { return sqlite3_db_config(db, option, on, (int *)0); }

/// Binds UTF-8 text; SQLite takes a copy. (`SQLITE_TRANSIENT` is a cast macro.)
static inline int coster_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, long long count) {
    return sqlite3_bind_text64(statement, index, count ? text : "", (sqlite3_uint64)count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds bytes; SQLite takes a copy. No bytes are an empty blob: a null pointer would bind NULL.
static inline int coster_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, long long count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT);
}
#endif
