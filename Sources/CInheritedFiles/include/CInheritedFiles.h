#ifndef CINHERITEDFILES_H
#define CINHERITEDFILES_H

#include <stdint.h>

// Files that have no name and lie in memory. Swift imports neither memfd_create nor its constants.

#pragma clang assume_nonnull begin

// Creates an empty file that only the user may open, and that is closed when a program is started.
// Its number is at least `lowest`. Returns the descriptor, or a negated errno.
int32_t cinheritedfiles_create(const char *name, int32_t lowest);

// Ends all changes of the file, and sets its position to the beginning. Returns 0 or errno.
int32_t cinheritedfiles_seal(int32_t descriptor);

// Leaves the file open in the programs that this process becomes or starts. Returns 0 or errno.
int32_t cinheritedfiles_share(int32_t descriptor);

// Whether a list of users (`setfacl`) says who may use an open file; 1 if it does.
int32_t cinheritedfiles_has_access_list(int32_t descriptor);

#pragma clang assume_nonnull end

#endif
