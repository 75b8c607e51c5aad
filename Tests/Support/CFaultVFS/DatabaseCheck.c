#include "CFaultVFS.h"

#include <sqlite3.h>
#include <stdio.h>

void database_query(const char *path, const char *sql, char *text, int size) {
  sqlite3 *database = NULL;
  sqlite3_stmt *statement = NULL;
  int result = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL);
  // The tested program decides when the log is copied into the database.
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  sqlite3_busy_timeout(database, 60000);
  if (result == SQLITE_OK) result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
  if (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
    snprintf(text, size, "%s", (const char *)sqlite3_column_text(statement, 0));
  } else {
    snprintf(text, size, "%s", sqlite3_errmsg(database));
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

void database_check(const char *path, char *text, int size) {
  database_query(path, "PRAGMA integrity_check", text, size);
}
