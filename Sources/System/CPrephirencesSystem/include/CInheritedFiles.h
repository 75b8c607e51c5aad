#ifndef CINHERITEDFILES_H
#define CINHERITEDFILES_H

#include <stdint.h>

// Files in memory, without and with a name. Swift imports neither memfd_create nor its constants,
// and must not run in a forked process.

#pragma clang assume_nonnull begin

// Creates an empty file that only the user may open, and that is closed when a program is started.
// Its number is at least `lowest`. Returns the descriptor, or a negated errno.
int32_t cinheritedfiles_create(const char *name, int32_t lowest);

// Ends all changes of the file, and sets its position to the beginning. Returns 0 or errno.
int32_t cinheritedfiles_seal(int32_t descriptor);

// Leaves the file open in the programs that this process becomes or starts. Returns 0 or errno.
int32_t cinheritedfiles_share(int32_t descriptor);

// The beginning of the names of watched folders, and the size of a name with its NUL.
#define CINHERITEDFILES_FOLDER "keychain-run."
#define CINHERITEDFILES_NAME_SIZE 32

// Whether an open file or folder lies in a file system in memory; 1 if it does.
int32_t cinheritedfiles_is_in_memory(int32_t descriptor);

// Makes a folder that only the user may enter, and starts a process that removes it.
//
// That process waits until this one has ended, or the program that takes its place, and until
// nobody has the descriptor that is returned. It is no child of this process, and only SIGKILL ends
// it. The standard streams of this process must be open. In the first process of a container, this
// returns in a child instead: the first process passes signals on to it, reaps orphans, removes the
// folder and ends as the child does, or with 128 and the number of the signal that ended it. So
// call this while the process has one thread. `name` gets the name of the folder. Returns a
// descriptor of at least `lowest`, or a negated errno: ENOSYS or EPERM if no process can wait for
// another.
int32_t cinheritedfiles_make_watched_folder(int32_t parent, int32_t lowest, char *name);

// Removes the watched folders of the user that nobody has open any more, since their watchers were
// killed.
void cinheritedfiles_remove_left(int32_t parent);

// Whether a list of users (`setfacl`) says who may use an open file; 1 if it does.
int32_t cinheritedfiles_has_access_list(int32_t descriptor);

// The same for a path, without following a link; 1 also if that cannot be found out.
int32_t cinheritedfiles_has_path_access_list(const char *path);

#pragma clang assume_nonnull end

#endif
