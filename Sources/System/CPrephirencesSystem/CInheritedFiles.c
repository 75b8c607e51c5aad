#define _GNU_SOURCE
#include "CInheritedFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

// Linux 6.3. The kernel warns of files without it, and may refuse them (vm.memfd_noexec).
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static int create_file(const char *name) {
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int descriptor = memfd_create(name, flags | MFD_NOEXEC_SEAL);
  // An older kernel does not know the last flag.
  if (descriptor < 0 && errno == EINVAL) descriptor = memfd_create(name, flags);
  return descriptor;
}

// Scripts use the numbers below 10 themselves (`exec 3<file`).
static int with_number_from(int lowest, int descriptor) {
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
  // The limit of open files is below `lowest`.
  int failure = errno == EINVAL ? EMFILE : errno;
  close(descriptor);
  errno = failure;
  return moved;
}

int32_t cinheritedfiles_create(const char *name, int32_t lowest) {
  int descriptor = create_file(name);
  if (descriptor < 0) return -errno;
  if (descriptor < lowest) descriptor = with_number_from(lowest, descriptor);
  if (descriptor < 0) return -errno;
  if (fchmod(descriptor, S_IRUSR | S_IWUSR) < 0) {
    int failure = errno;
    close(descriptor);
    return -failure;
  }
  return descriptor;
}

int32_t cinheritedfiles_seal(int32_t descriptor) {
  int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(descriptor, F_ADD_SEALS, seals) < 0) return errno;
  return lseek(descriptor, 0, SEEK_SET) < 0 ? errno : 0;
}

int32_t cinheritedfiles_share(int32_t descriptor) {
  int flags = fcntl(descriptor, F_GETFD);
  if (flags < 0) return errno;
  return fcntl(descriptor, F_SETFD, flags & ~FD_CLOEXEC) < 0 ? errno : 0;
}

int32_t cinheritedfiles_has_path_access_list(const char *path) {
  // Other failures than these say nothing about a list.
  return lgetxattr(path, "system.posix_acl_access", NULL, 0) >= 0 || (errno != ENODATA && errno != ENOTSUP);
}

int32_t cinheritedfiles_has_access_list(int32_t descriptor) {
  return fgetxattr(descriptor, "system.posix_acl_access", NULL, 0) > 0;
}
