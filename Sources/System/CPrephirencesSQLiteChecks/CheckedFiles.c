#define _GNU_SOURCE
#include "CPrephirencesSQLiteChecks.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  PageSize = 4096,
  SumSize = 8,
  LogHeaderSize = 32,
  FrameHeaderSize = 24,
  ApplicationOffset = 68,
  // Of 32 KiB: those of a log of 16 GiB.
  MaxRegions = 1024,
};

/// The lowest byte first: the byte order of the sums, and of every processor that Swift runs on
/// here.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the sums are of little-endian numbers");

typedef enum { OtherFile, DatabaseFile, LogFile } Kind;

typedef struct {
  sqlite3_file base;
  Kind kind;
  /// Whether the database is another program's.
  bool is_foreign;
  /// The index of the log, as it is in memory: each region, and its size.
  void *regions[MaxRegions];
  int region_size;
  int region_count;
  sqlite3_file *real;
} CheckedFile;

static sqlite3_vfs checked_vfs;

static CheckedFile *checked(sqlite3_file *file) { return (CheckedFile *)file; }

static sqlite3_file *real(sqlite3_file *file) { return checked(file)->real; }

static uint32_t big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

void csqlitechecks_add(uint32_t sums[2], const void *bytes, int count) {
  for (int offset = 0; offset < count; offset += 8) {
    uint32_t words[2];
    memcpy(words, (const char *)bytes + offset, 8);
    sums[0] += words[0] + sums[1];
    sums[1] += words[1] + sums[0];
  }
}

// MARK: - Pages of the database

static void page_sums(uint32_t sums[2], const void *page, sqlite3_int64 offset) {
  sums[0] = (uint32_t)(offset / PageSize);
  sums[1] = 0;
  csqlitechecks_add(sums, page, PageSize - SumSize);
}

static bool is_zero(const unsigned char *bytes, int count) {
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static int check_database(
    CheckedFile *file, const unsigned char *bytes, int count, sqlite3_int64 offset) {
  if (offset == 0 && count >= ApplicationOffset + 4) {
    file->is_foreign = big_endian(bytes + ApplicationOffset) != CheckedApplication;
  }
  // SQLite looks at parts of the header first, and then reads the page.
  if (file->is_foreign || count < 512) return SQLITE_OK;
  if (count != PageSize || offset % PageSize != 0) return SQLITE_CORRUPT;
  uint32_t sums[2];
  page_sums(sums, bytes, offset);
  if (memcmp(sums, bytes + PageSize - SumSize, SumSize) == 0) return SQLITE_OK;
  // A page that was never written is zero. Where keys are expected, SQLite refuses that.
  return is_zero(bytes, PageSize) ? SQLITE_OK : SQLITE_CORRUPT;
}

// MARK: - Pages of the log

/// Checks the page of a frame by the sums in its header, which continue those of the frame before.
///
/// A transaction that is not committed may have frames with older sums, so this needs
/// `cache_spill = off`.
static int check_log(
    CheckedFile *file, const unsigned char *page, int count, sqlite3_int64 offset) {
  const int frame_size = FrameHeaderSize + PageSize;
  sqlite3_int64 start = offset - FrameHeaderSize;
  if (count != PageSize || (start - LogHeaderSize) % frame_size != 0) return SQLITE_OK;
  unsigned char before[SumSize], header[FrameHeaderSize];
  // The header of the log ends with its sums, too.
  sqlite3_int64 place = start == LogHeaderSize
      ? LogHeaderSize - SumSize
      : start - frame_size + FrameHeaderSize - SumSize;
  const sqlite3_io_methods *methods = file->real->pMethods;
  int result = methods->xRead(file->real, before, SumSize, place);
  if (result == SQLITE_OK) {
    result = methods->xRead(file->real, header, FrameHeaderSize, start);
  }
  if (result != SQLITE_OK) return result == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : result;
  uint32_t sums[2] = {big_endian(before), big_endian(before + 4)};
  csqlitechecks_add(sums, header, 8);
  csqlitechecks_add(sums, page, PageSize);
  bool is_intact = sums[0] == big_endian(header + 16) && sums[1] == big_endian(header + 20);
  return is_intact ? SQLITE_OK : SQLITE_CORRUPT;
}

// MARK: - Files

static int close_file(sqlite3_file *file) {
  int result = real(file)->pMethods->xClose(real(file));
  sqlite3_free(real(file));
  return result;
}

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  // Before SQLite knows that there is a log, it reads the first page while a checkpoint may write
  // it.
  for (int tries = 1;; tries++) {
    int result = real(file)->pMethods->xRead(real(file), bytes, count, offset);
    // What is behind the end of the file is zero.
    if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) return result;
    int found = SQLITE_OK;
    switch (checked(file)->kind) {
      case DatabaseFile: found = check_database(checked(file), bytes, count, offset); break;
      case LogFile: found = check_log(checked(file), bytes, count, offset); break;
      default: break;
    }
    if (found == SQLITE_OK) return result;
    if (offset != 0 || tries == 5) return found;
    sqlite3_sleep(1);
  }
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  unsigned char page[PageSize];
  if (checked(file)->kind == DatabaseFile && count == PageSize && offset % PageSize == 0) {
    uint32_t sums[2];
    page_sums(sums, bytes, offset);
    memcpy(page, bytes, PageSize - SumSize);
    memcpy(page + PageSize - SumSize, sums, SumSize);
    bytes = page;
  }
  return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  return real(file)->pMethods->xTruncate(real(file), size);
}

static int sync_file(sqlite3_file *file, int flags) {
  return real(file)->pMethods->xSync(real(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int lock_file(sqlite3_file *file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}

static int unlock_file(sqlite3_file *file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int check_reserved_lock(sqlite3_file *file, int *result) {
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

// MARK: - The index of the log

/// Writes to each page of memory without changing it, so that the file system makes room for it.
///
/// A full disk then makes a call fail; at SQLite's own write, it would end the process (SIGBUS).
/// Room that was made once can be needed again, where a file system writes to another place.
static int make_room(void *region, int size) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(region, size, MADV_POPULATE_WRITE) == 0) return SQLITE_OK;
  if (errno == EFAULT || errno == ENOMEM || errno == EHWPOISON) return SQLITE_FULL;
#endif
  // Before Linux 5.14, the kernel can add 0 to a word of each page.
  const int add_nothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);
  long page = sysconf(_SC_PAGESIZE);
  int unused = 0;
  for (char *word = region; word < (char *)region + size; word += page) {
    long result = syscall(
        SYS_futex, &unused, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL, word, add_nothing);
    if (result < 0 && errno == EFAULT) return SQLITE_FULL;
  }
  return SQLITE_OK;
}

static int map_shared_memory(
    sqlite3_file *file, int number, int size, int extend, void volatile **memory) {
  if (number >= MaxRegions) return SQLITE_IOERR_SHMMAP;
  int result = real(file)->pMethods->xShmMap(real(file), number, size, extend, memory);
  if (result != SQLITE_OK || !*memory) return result;
  result = make_room((void *)*memory, size);
  if (result == SQLITE_OK) {
    checked(file)->regions[number] = (void *)*memory;
    checked(file)->region_size = size;
    if (checked(file)->region_count <= number) checked(file)->region_count = number + 1;
  } else {
    // Otherwise SQLite would use it the next time.
    *memory = NULL;
  }
  return result;
}

static int lock_shared_memory(sqlite3_file *file, int offset, int count, int flags) {
  const int begins_to_write = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE;
  if ((flags & begins_to_write) == begins_to_write) {
    for (int i = 0; i < checked(file)->region_count; i++) {
      // SQLite may have asked for a later one first.
      if (!checked(file)->regions[i]) continue;
      int result = make_room(checked(file)->regions[i], checked(file)->region_size);
      if (result != SQLITE_OK) return result;
    }
  }
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void order_shared_memory(sqlite3_file *file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

static int unmap_shared_memory(sqlite3_file *file, int remove) {
  memset(checked(file)->regions, 0, sizeof checked(file)->regions);
  checked(file)->region_count = 0;
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

static const sqlite3_io_methods methods = {
    // Without those of version 3, which map the database into memory.
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

// MARK: - Opening

static int open_file(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  // Asked each time: a program may have set another one since.
  sqlite3_vfs *system = sqlite3_vfs_find(NULL);
  memset(file, 0, sizeof(CheckedFile));
  sqlite3_file *opened = sqlite3_malloc(system->szOsFile);
  if (!opened) return SQLITE_NOMEM;
  memset(opened, 0, system->szOsFile);
  int result = system->xOpen(system, path, opened, flags, out_flags);
  if (!opened->pMethods) {
    sqlite3_free(opened);
    return result;
  }
  checked(file)->real = opened;
  checked(file)->kind = flags & SQLITE_OPEN_MAIN_DB ? DatabaseFile
      : flags & SQLITE_OPEN_WAL ? LogFile : OtherFile;
  file->pMethods = &methods;
  return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(NULL);
  return system->xDelete(system, path, sync_folder);
}

static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  (void)vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(NULL);
  return system->xAccess(system, path, flags, result);
}

static int register_result;

static void register_files(void) {
  register_result = sqlite3_initialize();
  sqlite3_vfs *system = sqlite3_vfs_find(NULL);
  if (register_result != SQLITE_OK || !system) return;
  // The other methods need no file.
  checked_vfs = *system;
  checked_vfs.zName = "prephirences";
  checked_vfs.szOsFile = sizeof(CheckedFile);
  checked_vfs.pNext = NULL;
  checked_vfs.xOpen = open_file;
  checked_vfs.xDelete = delete_file;
  checked_vfs.xAccess = access_file;
  register_result = sqlite3_vfs_register(&checked_vfs, 0);
}

int csqlitechecks_open(const char *path, sqlite3 **database, int flags) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  *database = NULL;
  pthread_once(&once, register_files);
  if (register_result != SQLITE_OK) return register_result;
  int result = sqlite3_open_v2(path, database, flags, checked_vfs.zName);
  if (result != SQLITE_OK) return result;
  // A checkpoint that fails must leave its mark, and so is never made by closing.
  result = sqlite3_db_config(*database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  int size = SumSize;
  if (result == SQLITE_OK) {
    result = sqlite3_file_control(*database, "main", SQLITE_FCNTL_RESERVE_BYTES, &size);
  }
  return result;
}

int csqlitechecks_read(sqlite3 *database, int64_t number, uint8_t page[PageSize]) {
  // By SQLite's own descriptor: to close another one would drop the process's locks.
  sqlite3_file *file = NULL;
  int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (result != SQLITE_OK || !file || file->pMethods != &methods) return SQLITE_ERROR;
  return read_file(file, page, PageSize, (number - 1) * PageSize);
}

int csqlitechecks_read_log(sqlite3 *database, int64_t number, uint8_t page[PageSize]) {
  sqlite3_file *file = NULL;
  int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  if (result != SQLITE_OK) return result;
  if (!file || file->pMethods != &methods || checked(file)->kind != LogFile) return SQLITE_NOTFOUND;
  const sqlite3_io_methods *log = real(file)->pMethods;
  unsigned char salts[8], header[FrameHeaderSize] = {0};
  result = log->xRead(real(file), salts, sizeof salts, LogHeaderSize - SumSize - sizeof salts);
  sqlite3_int64 frame = LogHeaderSize;
  for (; result == SQLITE_OK; frame += FrameHeaderSize + PageSize) {
    result = log->xRead(real(file), header, FrameHeaderSize, frame);
    // Behind the last frame are those of an earlier log, or zeros.
    uint32_t page_number = big_endian(header);
    if (result != SQLITE_OK || page_number == 0 || memcmp(header + 8, salts, sizeof salts) != 0) {
      break;
    }
    if (page_number == number) {
      return read_file(file, page, PageSize, frame + FrameHeaderSize);
    }
  }
  return result == SQLITE_OK || result == SQLITE_IOERR_SHORT_READ ? SQLITE_NOTFOUND : result;
}
