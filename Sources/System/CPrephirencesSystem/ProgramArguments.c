#include "CCommandLine.h"

#include <features.h>

static int32_t count;
static char **values;

int32_t ccommandline_argument_count(void) { return count; }

const char *ccommandline_argument(int32_t index) {
  return index >= 0 && index < count ? values[index] : 0;
}

// glibc calls constructors with the arguments of `main`; other C libraries with none.
#ifdef __GLIBC__

// Swift's runtime reads its arguments from /proc/self/cmdline unless somebody gave it others by
// this function. A runtime without it does something else, and needs nothing.
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **values, int count) __attribute__((weak));

__attribute__((constructor)) static void keep_arguments(int argc, char **argv, char **environment) {
  (void)environment;
  count = argc;
  values = argv;
  // For a host that reads `CommandLine.arguments`, as the argument parser does.
  if (argc > 0 && _swift_stdlib_overrideUnsafeArgvArgc) {
    _swift_stdlib_overrideUnsafeArgvArgc(argv, argc);
  }
}

#endif
