#ifndef WRITELOG_H
#define WRITELOG_H

#include "CFaultVFS.h"

/// A file in a log; `log` is -1 if the file is not logged.
typedef struct {
  int log;
  int file;
} LoggedFile;

/// Returns the place of a path in the log that it belongs to.
LoggedFile write_log_file(const char *path);

/// Adds a call, unless the log has ended.
void write_log_add(
    LoggedFile file, int kind, long long offset, int count, const void *bytes);

#endif
