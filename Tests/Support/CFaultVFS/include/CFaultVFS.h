#ifndef CFAULTVFS_H
#define CFAULTVFS_H

/// SQLite's file operations, as bits.
enum {
  FaultCallOpen = 1 << 0,
  FaultCallRead = 1 << 1,
  FaultCallWrite = 1 << 2,
  FaultCallTruncate = 1 << 3,
  FaultCallSync = 1 << 4,
  FaultCallLock = 1 << 5,
  FaultCallUnlock = 1 << 6,
  FaultCallFileSize = 1 << 7,
  FaultCallDelete = 1 << 8,
  FaultCallAccess = 1 << 9,
  /// Maps a part of the shared memory of a write-ahead log.
  FaultCallMap = 1 << 10,
  /// Takes a lock in it.
  FaultCallMapLock = 1 << 11,
};

/// The ways in which a call fails.
enum {
  /// Returns the I/O error of the operation, without doing anything.
  FaultFailure = 0,
  /// Fails like a full disk.
  FaultFullDisk = 1,
  /// Fails as if another process held the file.
  FaultBusy = 2,
  /// Reads only the first half of the bytes, like at the end of a file.
  FaultShortRead = 3,
  /// Writes only the first half of the bytes, then fails.
  FaultTornWrite = 4,
};

/// Installs the faulty file system as SQLite's default. Files without a plan use the real one.
///
/// Returns SQLite's result code.
int fault_vfs_install(void);

/// Counts the calls in `calls` to files whose path contains `marker`, and fails the `nth`; also all
/// later ones if `persistent`.
///
/// Returns the number of the plan, or -1 if there are too many. It applies to files that are opened
/// later.
int fault_vfs_arm(const char *marker, int calls, int kind, int nth, int persistent);

/// Counts the calls of a plan again from 0, and fails the `nth`.
void fault_vfs_fail(int plan, int nth);

/// Ends the faults of a plan; open files stay usable.
///
/// Returns the number of failed calls.
int fault_vfs_disarm(int plan);

/// What a logged call does to a file.
enum {
  LoggedWrite = 0,
  /// `offset` is the new size.
  LoggedTruncate = 1,
  /// Everything before it in this file is on the disk.
  LoggedSync = 2,
  LoggedDelete = 3,
};

/// A call of SQLite that changes a file.
typedef struct {
  int kind;
  /// The number of the file's path in the log.
  int file;
  long long offset;
  int count;
  const unsigned char *bytes;
} LoggedCall;

/// Starts to log the changes of files whose path contains `marker` and that are opened from now on.
///
/// Returns the number of the log, or -1 if there are too many.
int write_log_start(const char *marker);

/// The number of calls so far.
int write_log_count(int log);

/// The call with an index; valid until the log ends.
LoggedCall write_log_call(int log, int index);

/// The path of the file with a number; NULL if there is none.
const char *write_log_path(int log, int file);

/// Ends the log, and frees its calls; open files stay usable.
void write_log_end(int log);

/// Performs an SQL statement, and writes to `text` the first column of its first row, or the error.
void database_query(const char *path, const char *sql, char *text, int size);

/// Writes to `text` what SQLite finds wrong with a database, or `ok`.
void database_check(const char *path, char *text, int size);

#endif
