#ifndef CCOMMANDLINE_H
#define CCOMMANDLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a command-line program gets in C alone: its arguments wherever it runs, and the state in
// which it began.

#pragma clang assume_nonnull begin

// The arguments that the kernel gave the program; 0 if the C library does not tell.
int32_t ccommandline_argument_count(void);
const char *_Nullable ccommandline_argument(int32_t index);

// Replaces this process by a program, in the state in which this one began: the signals that are
// ignored or blocked, the limit of core files, the standard streams that are closed.
//
// A name without a slash is searched for in the PATH of this process, as execvp(3) does. Both lists
// end with a null pointer. Returns errno if the program cannot be started.
int32_t ccommandline_become_program(
    const char *_Nullable const *_Nonnull arguments,
    const char *_Nullable const *_Nonnull environment);

// Returns whether so many bytes of memory can be had; if not, says so on standard error.
//
// Swift ends the process by a signal if it gets no memory, so a program looks before. What is said
// takes none.
bool ccommandline_finds_memory(size_t count);

#pragma clang assume_nonnull end

#endif
