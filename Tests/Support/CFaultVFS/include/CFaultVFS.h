#ifndef CFAULTVFS_H
#define CFAULTVFS_H

/// The calls of SQLite to its files, as bits.
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

/// How a call fails.
enum {
  /// With the I/O error of its kind, without doing anything.
  FaultFailure = 0,
  /// As on a full disk.
  FaultFullDisk = 1,
  /// As if another process held the file.
  FaultBusy = 2,
  /// A read finds only the first half of the bytes, as at the end of a file.
  FaultShortRead = 3,
  /// A write leaves only the first half of the bytes, and fails.
  FaultTornWrite = 4,
};

/// Makes the faulty file system SQLite's default. Files that no plan names use the real one.
///
/// Returns SQLite's result code.
int fault_vfs_install(void);

/// Begins to count the calls in `calls` to files whose path contains `marker`, and lets the `nth`
/// of them fail, and all later ones too if `persistent`.
///
/// Returns the number of the plan, or -1 if there are too many. It holds for files opened from now on.
int fault_vfs_arm(const char *marker, int calls, int kind, int nth, int persistent);

/// Lets all calls pass from now on; open files stay usable.
///
/// Returns how many calls failed.
int fault_vfs_disarm(int plan);

#endif
