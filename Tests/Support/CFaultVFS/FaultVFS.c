#include "CFaultVFS.h"

#include "WriteLog.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
  bool armed;
  char marker[128];
  int calls;
  int kind;
  int nth;
  bool persistent;
  int count;
  int failures;
} Plan;

typedef struct {
  sqlite3_file base;
  int plan;
  LoggedFile logged;
  sqlite3_file *real;
} FaultFile;

static Plan plans[1 << 16];
static int plan_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs fault_vfs;
static sqlite3_vfs *real_vfs;

/// Returns the plan for a path, or -1.
static int plan_for(const char *path) {
  int found = -1;
  if (!path) return found;
  pthread_mutex_lock(&mutex);
  for (int i = plan_count - 1; i >= 0 && found < 0; i--) {
    if (plans[i].armed && strstr(path, plans[i].marker)) found = i;
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

/// Returns how this call fails, or -1 if it succeeds.
static int fault(int index, int call) {
  int kind = -1;
  if (index < 0) return kind;
  pthread_mutex_lock(&mutex);
  Plan *plan = &plans[index];
  if (plan->armed && (plan->calls & call)) {
    plan->count++;
    if (plan->count == plan->nth || (plan->persistent && plan->count > plan->nth)) {
      plan->failures++;
      kind = plan->kind;
    }
  }
  pthread_mutex_unlock(&mutex);
  return kind;
}

static int code(int kind, int failure) {
  switch (kind) {
    case FaultFullDisk: return SQLITE_FULL;
    case FaultBusy: return SQLITE_BUSY;
    default: return failure;
  }
}

static sqlite3_file *real(sqlite3_file *file) { return ((FaultFile *)file)->real; }

static int fault_of(sqlite3_file *file, int call) {
  return fault(((FaultFile *)file)->plan, call);
}

static LoggedFile logged(sqlite3_file *file) { return ((FaultFile *)file)->logged; }

static int close_file(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  int kind = fault_of(file, FaultCallRead);
  if (kind == FaultShortRead) {
    int result = real(file)->pMethods->xRead(real(file), bytes, count / 2, offset);
    memset((char *)bytes + count / 2, 0, count - count / 2);
    return result == SQLITE_OK ? SQLITE_IOERR_SHORT_READ : result;
  }
  if (kind >= 0) return code(kind, SQLITE_IOERR_READ);
  return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  int kind = fault_of(file, FaultCallWrite);
  if (kind == FaultTornWrite) {
    real(file)->pMethods->xWrite(real(file), bytes, count / 2, offset);
  }
  if (kind >= 0) return code(kind, SQLITE_IOERR_WRITE);
  write_log_add(logged(file), LoggedWrite, offset, count, bytes);
  return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  int kind = fault_of(file, FaultCallTruncate);
  if (kind >= 0) return code(kind, SQLITE_IOERR_TRUNCATE);
  write_log_add(logged(file), LoggedTruncate, size, 0, NULL);
  return real(file)->pMethods->xTruncate(real(file), size);
}

static int sync_file(sqlite3_file *file, int flags) {
  (void)flags;
  // Tests do not cut the power, so nothing is really flushed.
  int kind = fault_of(file, FaultCallSync);
  if (kind < 0) write_log_add(logged(file), LoggedSync, 0, 0, NULL);
  return kind >= 0 ? code(kind, SQLITE_IOERR_FSYNC) : SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  int kind = fault_of(file, FaultCallFileSize);
  if (kind >= 0) return code(kind, SQLITE_IOERR_FSTAT);
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int lock_file(sqlite3_file *file, int level) {
  int kind = fault_of(file, FaultCallLock);
  if (kind >= 0) return code(kind, SQLITE_IOERR_LOCK);
  return real(file)->pMethods->xLock(real(file), level);
}

static int unlock_file(sqlite3_file *file, int level) {
  int kind = fault_of(file, FaultCallUnlock);
  if (kind >= 0) return code(kind, SQLITE_IOERR_UNLOCK);
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int check_reserved_lock(sqlite3_file *file, int *result) {
  int kind = fault_of(file, FaultCallLock);
  if (kind >= 0) return code(kind, SQLITE_IOERR_CHECKRESERVEDLOCK);
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int device_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int map_shared_memory(
    sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
  int kind = fault_of(file, FaultCallMap);
  // A full disk has no room for a longer file.
  if (kind == FaultFullDisk) return SQLITE_IOERR_SHMSIZE;
  if (kind >= 0) return code(kind, SQLITE_IOERR_SHMMAP);
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}

static int lock_shared_memory(sqlite3_file *file, int offset, int count, int flags) {
  // Ending a lock never fails in SQLite's own file system either.
  int kind = flags & SQLITE_SHM_LOCK ? fault_of(file, FaultCallMapLock) : -1;
  if (kind >= 0) return code(kind, SQLITE_IOERR_SHMLOCK);
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void order_shared_memory(sqlite3_file *file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

static int unmap_shared_memory(sqlite3_file *file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = map_shared_memory,
    .xShmLock = lock_shared_memory,
    .xShmBarrier = order_shared_memory,
    .xShmUnmap = unmap_shared_memory,
};

static int open_file(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  int plan = plan_for(path);
  LoggedFile logged = write_log_file(path);
  if (plan < 0 && logged.log < 0) return real_vfs->xOpen(real_vfs, path, file, flags, out_flags);
  FaultFile *faulty = (FaultFile *)file;
  faulty->base.pMethods = NULL;
  int kind = fault(plan, FaultCallOpen);
  if (kind >= 0) return code(kind, SQLITE_CANTOPEN);
  faulty->plan = plan;
  faulty->logged = logged;
  faulty->real = (sqlite3_file *)(faulty + 1);
  int result = real_vfs->xOpen(real_vfs, path, faulty->real, flags, out_flags);
  if (faulty->real->pMethods) faulty->base.pMethods = &methods;
  return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  (void)vfs;
  int kind = fault(plan_for(path), FaultCallDelete);
  if (kind >= 0) return code(kind, SQLITE_IOERR_DELETE);
  write_log_add(write_log_file(path), LoggedDelete, 0, 0, NULL);
  return real_vfs->xDelete(real_vfs, path, sync_folder);
}

static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  (void)vfs;
  int kind = fault(plan_for(path), FaultCallAccess);
  if (kind >= 0) return code(kind, SQLITE_IOERR_ACCESS);
  return real_vfs->xAccess(real_vfs, path, flags, result);
}

static void install(void) {
  real_vfs = sqlite3_vfs_find(NULL);
  if (!real_vfs) return;
  // Methods that are not replaced either need no file or receive the real file system's data.
  fault_vfs = *real_vfs;
  fault_vfs.zName = "fault";
  fault_vfs.szOsFile = (int)sizeof(FaultFile) + real_vfs->szOsFile;
  fault_vfs.pNext = NULL;
  fault_vfs.xOpen = open_file;
  fault_vfs.xDelete = delete_file;
  fault_vfs.xAccess = access_file;
  sqlite3_vfs_register(&fault_vfs, 1);
}

int fault_vfs_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  int result = sqlite3_initialize();
  if (result != SQLITE_OK) return result;
  pthread_once(&once, install);
  return sqlite3_vfs_find(NULL) == &fault_vfs ? SQLITE_OK : SQLITE_ERROR;
}

int fault_vfs_arm(const char *marker, int calls, int kind, int nth, int persistent) {
  int index = -1;
  pthread_mutex_lock(&mutex);
  if (plan_count < (int)(sizeof plans / sizeof *plans) && strlen(marker) < sizeof plans->marker) {
    // A plan is never reused: a file that is still open may have its number.
    index = plan_count++;
    plans[index] = (Plan){
        .armed = true, .calls = calls, .kind = kind, .nth = nth, .persistent = persistent};
    strcpy(plans[index].marker, marker);
  }
  pthread_mutex_unlock(&mutex);
  return index;
}

void fault_vfs_fail(int plan, int nth) {
  pthread_mutex_lock(&mutex);
  plans[plan].count = 0;
  plans[plan].nth = nth;
  pthread_mutex_unlock(&mutex);
}

int fault_vfs_disarm(int plan) {
  pthread_mutex_lock(&mutex);
  plans[plan].armed = false;
  int failures = plans[plan].failures;
  pthread_mutex_unlock(&mutex);
  return failures;
}
