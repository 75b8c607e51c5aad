#include "CKernelKeys.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int64_t checked(long result) { return result == -1 ? -(int64_t)errno : result; }

int32_t ckernelkeys_add_to_thread_keyring(
    const char *description, const void *payload, size_t count) {
  return (int32_t)checked(syscall(
      SYS_add_key, "user", description, payload, count, KEY_SPEC_THREAD_KEYRING));
}

int32_t ckernelkeys_search_user_keyring(const char *description) {
  return (int32_t)checked(
      syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", description, 0));
}

int64_t ckernelkeys_read(int32_t key, void *payload, size_t capacity) {
  return checked(syscall(SYS_keyctl, KEYCTL_READ, key, payload, capacity));
}

int32_t ckernelkeys_set_timeout(int32_t key, uint32_t seconds) {
  return (int32_t)checked(syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds));
}

int32_t ckernelkeys_set_permissions(int32_t key, uint32_t permissions) {
  return (int32_t)checked(syscall(SYS_keyctl, KEYCTL_SETPERM, key, permissions));
}

int32_t ckernelkeys_link_to_user_keyring(int32_t key) {
  return (int32_t)checked(syscall(SYS_keyctl, KEYCTL_LINK, key, KEY_SPEC_USER_KEYRING));
}

int32_t ckernelkeys_unlink_from_user_keyring(int32_t key) {
  return (int32_t)checked(syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING));
}

int32_t ckernelkeys_unlink_from_thread_keyring(int32_t key) {
  return (int32_t)checked(syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_THREAD_KEYRING));
}

int32_t ckernelkeys_revoke(int32_t key) {
  return (int32_t)checked(syscall(SYS_keyctl, KEYCTL_REVOKE, key));
}
