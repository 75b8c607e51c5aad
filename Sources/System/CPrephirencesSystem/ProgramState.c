#define _GNU_SOURCE
#include "CCommandLine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

// What the process got from its parent, and passes on to a program that takes its place.
static struct {
  sigset_t ignored;
  sigset_t blocked;
  struct rlimit core;
  bool knows_core;
  bool closed[3];
} inherited;

// As early as possible: libraries, the host and the commands change it.
__attribute__((constructor(101))) static void keep_state(void) {
  sigemptyset(&inherited.ignored);
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
      sigaddset(&inherited.ignored, number);
    }
  }
  pthread_sigmask(SIG_SETMASK, NULL, &inherited.blocked);
  inherited.knows_core = getrlimit(RLIMIT_CORE, &inherited.core) == 0;
  for (int number = 0; number < 3; number++) {
    inherited.closed[number] = fcntl(number, F_GETFD) < 0 && errno == EBADF;
  }
}

// Handlers become defaults when the program starts; only what is ignored stays so.
static void restore_signals(void) {
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0) continue;
    bool was_ignored = sigismember(&inherited.ignored, number) == 1;
    if (was_ignored == (action.sa_handler == SIG_IGN)) continue;
    action = (struct sigaction){.sa_handler = was_ignored ? SIG_IGN : SIG_DFL};
    sigaction(number, &action, NULL);
  }
  pthread_sigmask(SIG_SETMASK, &inherited.blocked, NULL);
}

// The hard limit is left alone here, and is not lowered elsewhere.
static void set_core_limit(rlim_t soft) {
  struct rlimit limit;
  if (!inherited.knows_core || getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
  setrlimit(RLIMIT_CORE, &limit);
}

int32_t ccommandline_become_program(
    const char *const *arguments, const char *const *environment) {
  // /dev/null is in their places; messages about a failure still go there.
  for (int number = 0; number < 3; number++) {
    if (inherited.closed[number]) fcntl(number, F_SETFD, FD_CLOEXEC);
  }
  set_core_limit(inherited.core.rlim_cur);
  restore_signals();
  // The GNU C library searches the PATH of this process, not that of the new environment.
  execvpe(arguments[0], (char *const *)arguments, (char *const *)environment);
  int failure = errno;
  set_core_limit(0);
  return failure;
}

bool ccommandline_finds_memory(size_t count) {
  void *memory = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    munmap(memory, count);
    return true;
  }
  char *name = program_invocation_short_name;
  char message[] = ": error: there is not enough memory to start\n";
  struct iovec parts[] = {{name, strlen(name)}, {message, strlen(message)}};
  ssize_t written = writev(STDERR_FILENO, parts, 2);
  (void)written;
  return false;
}
