#ifndef CCOMMANDLINE_H
#define CCOMMANDLINE_H

#include <stdint.h>

// What a command-line program gets in C alone: its arguments wherever it runs.

#pragma clang assume_nonnull begin

// The arguments that the kernel gave the program; 0 if the C library does not tell.
int32_t ccommandline_argument_count(void);
const char *_Nullable ccommandline_argument(int32_t index);

#pragma clang assume_nonnull end

#endif
