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

/// Ends the faults of a plan; open files stay usable.
///
/// Returns the number of failed calls.
int fault_vfs_disarm(int plan);

#endif
