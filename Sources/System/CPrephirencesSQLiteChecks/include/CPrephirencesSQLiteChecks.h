#ifndef CSQLITECHECKS_H
#define CSQLITECHECKS_H

#include <stdint.h>

struct sqlite3;

// SQLite files whose pages are checked when they are read.
//
// A page of a database ends with the sums of what is before it; a page of the log has SQLite's own
// sums, which SQLite checks only when it opens a log that nobody uses. If they don't match, the
// read fails with SQLITE_CORRUPT, which does not end a transaction.

/// The application id of the databases: "Pref" in ASCII. A file with another one is another
/// program's, and is not checked.
enum { CheckedApplication = 0x50726566 };

/// Opens a database whose pages are checked, and which is not changed when it is closed.
///
/// `flags` and the result are those of sqlite3_open_v2(). A file without pages gets some that have
/// sums.
int csqlitechecks_open(const char *path, struct sqlite3 **database, int flags);

/// Reads a page of the database itself, whatever the log has of it; the first page has the number
/// 1.
///
/// The result is that of SQLite's functions.
int csqlitechecks_read(struct sqlite3 *database, int64_t number, uint8_t page[4096]);

/// Reads the first version of a page that the log has, committed or not.
///
/// The result is that of SQLite's functions; SQLITE_NOTFOUND if there is none, or no log is in use.
int csqlitechecks_read_log(struct sqlite3 *database, int64_t number, uint8_t page[4096]);

/// Adds bytes to sums, as SQLite does for its log; `count` is a multiple of 8.
void csqlitechecks_add(uint32_t sums[2], const void *bytes, int count);

#endif
