#ifndef CLIBSODIUM_SHIM_H
#define CLIBSODIUM_SHIM_H

#include <sodium.h>
#include <sys/prctl.h>

// `prctl` is variadic, and Swift imports no variadic function. It is here because protecting the
// process's memory belongs with the guarded memory of libsodium.
static inline int clibsodium_set_not_dumpable(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

#endif
