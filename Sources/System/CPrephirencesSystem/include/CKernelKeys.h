#ifndef CKERNELKEYS_H
#define CKERNELKEYS_H

#include <stddef.h>
#include <stdint.h>

// The kernel's key retention service (keyrings(7)), called through syscall(2): glibc has no wrapper
// for it, and Swift imports no variadic function. Each call returns what the kernel returns, or the
// negated errno.

int32_t ckernelkeys_add_to_thread_keyring(
    const char *description, const void *payload, size_t count);
int32_t ckernelkeys_search_user_keyring(const char *description);
int64_t ckernelkeys_read(int32_t key, void *payload, size_t capacity);
int32_t ckernelkeys_set_timeout(int32_t key, uint32_t seconds);
int32_t ckernelkeys_set_permissions(int32_t key, uint32_t permissions);
int32_t ckernelkeys_link_to_user_keyring(int32_t key);
int32_t ckernelkeys_unlink_from_user_keyring(int32_t key);
int32_t ckernelkeys_unlink_from_thread_keyring(int32_t key);
int32_t ckernelkeys_revoke(int32_t key);

#endif
