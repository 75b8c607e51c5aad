#ifndef CPEER_H
#define CPEER_H

#include <stdbool.h>

// The desktop's keyring through libsecret, as a C program uses it: `secret_password_store_sync` and
// `secret_password_lookup_nonpageable_sync`. They stand in C because Swift imports no variadic function.

bool peer_store(const char *service, const char *account, const char *secret);

/// The number of bytes of the secret, or -1 if there is none or an error.
long peer_lookup(const char *service, const char *account);

/// The same with the item's attributes, label and times, by `secret_service_search_sync`.
long peer_search(const char *service, const char *account);

#endif
