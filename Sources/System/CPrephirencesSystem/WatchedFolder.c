#define _GNU_SOURCE
#include "CInheritedFiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

// From <linux/magic.h>, which needs the headers of the kernel.
#define TMPFS_MAGIC 0x01021994U
#define RAMFS_MAGIC 0x858458f6U

// The name of the watcher.
#define NAME "keychain-files"

extern char **environ;

// The arguments of the process, which lie one after another.
static char *arguments;
static size_t arguments_size;

// glibc calls constructors with the arguments of `main`; other C libraries with none.
#ifdef __GLIBC__
__attribute__((constructor)) static void find_arguments(int count, char **values) {
  if (count < 1) return;
  arguments = values[0];
  arguments_size = (size_t)(values[count - 1] + strlen(values[count - 1]) - arguments);
}
#endif

// The functions below also run in a forked child of a process that may have had threads: system
// calls only, and nothing that allocates or locks.

// A program may have closed the folder to its user, too.
static int open_folder(int parent, const char *name) {
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int folder = openat(parent, name, flags);
  if (folder >= 0 || errno != EACCES) return folder;
  if (fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  return openat(parent, name, flags);
}

// Calls a function with the name of each entry.
static void for_each_entry(int folder, void (*body)(int, const char *)) {
  _Alignas(struct dirent64) char entries[4096];
  long count;
  lseek(folder, 0, SEEK_SET);
  while ((count = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
    for (long offset = 0; offset < count;) {
      struct dirent64 *entry = (struct dirent64 *)(entries + offset);
      offset += entry->d_reclen;
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
        body(folder, entry->d_name);
      }
    }
  }
}

static void remove_entry(int folder, const char *name) {
  if (unlinkat(folder, name, 0) == 0 || errno != EISDIR) return;
  int inner = open_folder(folder, name);
  if (inner >= 0) {
    fchmod(inner, S_IRWXU);
    for_each_entry(inner, remove_entry);
    close(inner);
  }
  unlinkat(folder, name, AT_REMOVEDIR);
}

static void remove_if_left(int parent, const char *name) {
  if (strncmp(name, CINHERITEDFILES_FOLDER, strlen(CINHERITEDFILES_FOLDER)) != 0) return;
  int folder = open_folder(parent, name);
  if (folder < 0) return;
  struct stat status;
  bool is_left = fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
                 flock(folder, LOCK_EX | LOCK_NB) == 0;
  if (is_left) remove_entry(parent, name);
  close(folder);
}

void cinheritedfiles_remove_left(int32_t parent) { for_each_entry(parent, remove_if_left); }

int32_t cinheritedfiles_is_in_memory(int32_t descriptor) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return 0;
  unsigned kind = (unsigned)status.f_type;
  return kind == TMPFS_MAGIC || kind == RAMFS_MAGIC;
}

// Another process may take a folder that is not locked yet for one that was left, and remove it.
static int make_locked_folder(int parent, char *name) {
  for (int attempt = 0; attempt < 100; attempt++) {
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return -1;
    snprintf(
        name, CINHERITEDFILES_NAME_SIZE, "%s%016llx", CINHERITEDFILES_FOLDER,
        (unsigned long long)random);
    if (mkdirat(parent, name, S_IRWXU) != 0) {
      if (errno == EEXIST) continue;
      return -1;
    }
    int folder = open_folder(parent, name);
    if (folder < 0 && errno != ENOENT) return -1;
    if (folder < 0) continue;
    struct stat status;
    if (flock(folder, LOCK_SH | LOCK_NB) == 0 && fstat(folder, &status) == 0 &&
        status.st_nlink > 0) {
      return folder;
    }
    close(folder);
  }
  errno = EBUSY;
  return -1;
}

static void close_from(unsigned lowest) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, lowest, UINT_MAX, 0) == 0) return;
#endif
  // Linux before 5.9.
  long limit = sysconf(_SC_OPEN_MAX);
  for (int number = (int)lowest; number < limit && number < 1 << 16; number++) close(number);
}

// Forgets what a process that removes a folder has of the program in which it began.
//
// It has the memory of that program until it ends. So it begins before secrets are read, and
// forgets the environment, which may unlock a vault. It forgets the command line, too: who ends the
// program by it (`pkill -f`) must not end this process.
static void forget_program(void) {
  for (char **entry = environ; entry && *entry; entry++) explicit_bzero(*entry, strlen(*entry));
  if (arguments_size > strlen(NAME)) {
    explicit_bzero(arguments, arguments_size);
    strcpy(arguments, NAME);
  }
  prctl(PR_SET_NAME, NAME);
}

// Removes a folder when a process has ended and nobody else has the folder open and locked.
static _Noreturn void watch(int process, int parent, const char *name, int folder, int ready) {
  forget_program();
  setsid();
  if (chdir("/") != 0) _exit(1);
  dup2(process, 0);
  dup2(parent, 1);
  dup2(folder, 2);
  dup2(ready, 3);
  close_from(4);
  char byte = 1;
  if (write(3, &byte, 1) != 1) _exit(1);
  close(3);
  struct pollfd end = {.fd = 0, .events = POLLIN};
  while (poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  while (flock(2, LOCK_EX) != 0 && errno == EINTR) {
  }
  remove_entry(1, name);
  _exit(0);
}

// Starts the watcher as a process that is neither a child nor in the session of this one, and
// returns when it is ready. Returns 0 or errno.
static int start_watcher(int process, int parent, const char *name, int folder) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return errno;
  // No signal ends the watcher but SIGKILL. A service that is stopped may need its files until it
  // ends.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = fork();
  int failure = child < 0 ? errno : 0;
  if (child == 0) {
    pid_t watcher = fork();
    if (watcher == 0) watch(process, parent, name, folder, ready[1]);
    _exit(0);
  }
  close(ready[1]);
  if (child > 0) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  char byte;
  ssize_t count;
  do count = read(ready[0], &byte, 1);
  while (count < 0 && errno == EINTR);
  close(ready[0]);
  return failure != 0 ? failure : count == 1 ? 0 : EAGAIN;
}

// Removes a folder when the program, a child, has ended, and ends as it did.
//
// All signals are blocked, and passed on. Those of a terminal reach the program from the kernel,
// since both are in one process group; but a terminal that is gone is reported to the first process
// alone. The lock of `folder` keeps other programs from removing it if this one closes what it
// inherits.
static _Noreturn void watch_as_init(pid_t program, int parent, const char *name, int folder) {
  forget_program();
  dup2(parent, 0);
  dup2(folder, 1);
  close_from(2);
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    siginfo_t info;
    int number = sigwaitinfo(&all, &info);
    if (number < 0) continue;
    if (number != SIGCHLD) {
      if (info.si_code != SI_KERNEL || number == SIGHUP) kill(program, number);
      continue;
    }
    pid_t ended;
    int status;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != program) continue;
      remove_entry(0, name);
      _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
  }
}

// Lets the program go on as a child of this process, the first one of a container: the kernel ends
// all processes with it, so no other could remove the folder. Returns 0 in the child, or errno.
static int continue_as_child(int parent, const char *name, int folder) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // If it is ignored, the kernel reaps a child without a word. The program begins as this one did.
  signal(SIGCHLD, SIG_DFL);
  pid_t child = fork();
  int failure = child < 0 ? errno : 0;
  if (child > 0) watch_as_init(child, parent, name, folder);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

int32_t cinheritedfiles_make_watched_folder(int32_t parent, int32_t lowest, char *name) {
#ifdef SYS_pidfd_open
  int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
#else
  int process = -1;
  errno = ENOSYS;
#endif
  if (process < 0) return -errno;
  int made = make_locked_folder(parent, name);
  int failure = made < 0 ? errno : 0;
  // A lock belongs to an opening of the folder: the watcher has one, the program another.
  int folder = made < 0 ? -1 : open_folder(parent, name);
  if (made >= 0 && (folder < 0 || flock(folder, LOCK_SH | LOCK_NB) != 0)) failure = errno;
  if (failure == 0) {
    failure = getpid() == 1 ? continue_as_child(parent, name, folder)
                            : start_watcher(process, parent, name, folder);
  }
  if (failure != 0 && made >= 0) remove_entry(parent, name);
  close(process);
  if (folder >= 0) close(folder);
  if (failure != 0) {
    if (made >= 0) close(made);
    return -failure;
  }
  if (made >= lowest) return made;
  int moved = fcntl(made, F_DUPFD_CLOEXEC, lowest);
  failure = errno == EINVAL ? EMFILE : errno;
  close(made);
  return moved < 0 ? -failure : moved;
}
