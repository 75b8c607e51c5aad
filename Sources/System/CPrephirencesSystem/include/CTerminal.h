#ifndef CTERMINAL_H
#define CTERMINAL_H

#include <stdbool.h>
#include <stdint.h>

// What takes C alone when a program asks on its terminal: signal handlers, which may call little
// more than system calls.

#pragma clang assume_nonnull begin

// The terminal of a program that asks. From `begin` to `end`, a signal that ends or stops the
// process first puts the terminal back as it was, and one that continues it hides the input again.

// Returns the number of the device behind a terminal, also if it was opened as /dev/tty; 0 if it
// has none.
uint64_t cterminal_device(int32_t descriptor);

// Begins with a terminal; `output` is the same one, opened O_NONBLOCK. `turn` is an open file that
// is locked (`flock`) while this process may change the terminal; -1 if there is none. It has to
// stay open until `end`. Returns 0 or EBUSY if somebody else in the process asks.
int32_t cterminal_begin(int32_t descriptor, int32_t output, int32_t turn);

// Takes the turn to ask, and notes how the terminal is. It is kept until `end`, or until the
// process is stopped. If a process was killed while it asked, the terminal is first put back as it
// was before that. Returns 0, EAGAIN if another process has the turn, or another errno.
int32_t cterminal_take_turn(void);

// Puts the terminal and the signal handlers back, and gives the turn back.
void cterminal_end(void);

// Hides or shows what is typed, and drops what was typed before if that changes or `drops` is set.
// In the background, this stops the process until it is in the foreground. Returns 0, EAGAIN
// without the turn, or another errno.
int32_t cterminal_show_input(bool shows, bool drops);

// Changes to an empty screen beside the usual one, or empties that screen and goes back.
void cterminal_open_screen(void);
void cterminal_close_screen(void);

// Writes signals that a question hears to a descriptor, a byte each, which must not wait; -1 ends
// that. When this returns, nothing more is written to an earlier descriptor, which can be closed.
// SIGCONT means that the question is to be asked again; any other signal ends it. What cannot be
// written is not heard: it does what it does otherwise.
void cterminal_listen(int32_t descriptor);

#pragma clang assume_nonnull end

#endif
