#ifndef CFILECALLS_H
#define CFILECALLS_H

#include <stddef.h>
#include <sys/types.h>

// Functions of the C library that Swift's Glibc module does not show: their headers ask for
// _GNU_SOURCE, or are not part of the module.

int dup3(int descriptor, int target, int flags);
int pipe2(int *descriptors, int flags);
int renameat2(
    int folder, const char *path, int new_folder, const char *new_path, unsigned int flags);
ssize_t fgetxattr(int descriptor, const char *name, void *value, size_t size);
int fsetxattr(int descriptor, const char *name, const void *value, size_t size, int flags);

#endif
