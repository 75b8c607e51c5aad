#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// Written by one thread at a time, which has all signals blocked. A handler on another thread may
// still read what the last question left here.
static struct {
  int descriptor;
  int output;
  int turn;
  struct termios usual;
  struct termios hidden;
  struct sigaction actions[NSIG];
  bool is_caught[NSIG];
} terminal;

static atomic_bool is_begun;
static atomic_bool has_turn;
static atomic_bool is_hidden;
static atomic_bool has_screen;
static atomic_bool is_catching;
static atomic_int listener = -1;
static atomic_int notes_begun;

static const char screen_opening[] = "\033[?1049h\033[2J\033[H";
static const char screen_closing[] = "\033[2J\033[H\033[?1049l";

// MARK: - The terminal

static void write_sequence(const char *text, size_t count) {
  // What a terminal does not take at once, as it was stopped by Control-S, must not stop a signal.
  ssize_t written = write(terminal.output, text, count);
  (void)written;
}

// Without waiting for output, which Control-S may hold for ever.
static int apply(const struct termios *settings) {
  int result;
  do {
    result = tcsetattr(terminal.descriptor, TCSANOW, settings);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

static void drop_input(void) { tcflush(terminal.descriptor, TCIFLUSH); }

// The terminal of a process in the background is somebody else's.
static bool is_in_foreground(void) { return tcgetpgrp(terminal.descriptor) == getpgrp(); }

// Not by all bytes: some are padding.
static bool are_equal(const struct termios *one, const struct termios *other) {
  return one->c_iflag == other->c_iflag && one->c_oflag == other->c_oflag &&
         one->c_cflag == other->c_cflag && one->c_lflag == other->c_lflag &&
         memcmp(one->c_cc, other->c_cc, sizeof one->c_cc) == 0;
}

static bool is_still_hidden(void) {
  struct termios found;
  return is_hidden && tcgetattr(terminal.descriptor, &found) == 0 && are_equal(&found, &terminal.hidden);
}

// With all signals blocked: so the terminal can be changed from the background, too.
static void put_back(void) {
  // Without the turn, it is another process that has changed the terminal.
  if (!has_turn) return;
  // The shell may be faster than a process that a stopped or ended one has started. It did not
  // change the terminal if that is as this process has left it, and no other process may ask.
  bool is_ours = is_in_foreground() || (terminal.turn >= 0 && is_still_hidden());
  if (!is_ours) return;
  if (has_screen) write_sequence(screen_closing, sizeof screen_closing - 1);
  if (is_hidden) {
    apply(&terminal.usual);
    // The shell would run what is left of a secret.
    drop_input();
  }
}

// MARK: - The turn

static void hide_from(const struct termios *usual, struct termios *hidden) {
  *hidden = *usual;
  hidden->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN);
  hidden->c_cc[VMIN] = 1;
  hidden->c_cc[VTIME] = 0;
}

// Finds the settings to go back to: as they are, unless a killed process has left the terminal
// hidden. The file of the turn says from which settings.
static int find_usual(void) {
  struct termios found, left, hidden;
  if (tcgetattr(terminal.descriptor, &found) != 0) return errno;
  if (terminal.turn >= 0 && pread(terminal.turn, &left, sizeof left, 0) == sizeof left) {
    hide_from(&left, &hidden);
    // Even if nothing is asked now.
    if (are_equal(&found, &hidden) && is_in_foreground() && apply(&left) == 0) found = left;
  }
  terminal.usual = found;
  hide_from(&found, &terminal.hidden);
  return 0;
}

// Returns 0, EAGAIN if another process has the turn, or another errno.
static int take_turn(void) {
  if (has_turn) return 0;
  if (terminal.turn >= 0 && flock(terminal.turn, LOCK_EX | LOCK_NB) != 0) return errno;
  int error = find_usual();
  if (error == 0) has_turn = true;
  return error;
}

// So that a process that is killed now is known to have hidden the input.
static void note_usual(void) {
  if (terminal.turn < 0) return;
  ssize_t written = pwrite(terminal.turn, &terminal.usual, sizeof terminal.usual, 0);
  // A full disk must not keep the question from being asked.
  (void)written;
}

static void give_turn_back(void) {
  if (!has_turn) return;
  has_turn = false;
  if (terminal.turn < 0) return;
  // If it could not be put back, the next process does it.
  int result = is_still_hidden() ? 0 : ftruncate(terminal.turn, 0);
  (void)result;
  flock(terminal.turn, LOCK_UN);
}

// Whether a question hears the signal.
static bool note(int number) {
  unsigned char byte = (unsigned char)number;
  notes_begun++;
  // Once: on another thread, the question may end at any moment.
  int descriptor = listener;
  bool is_noted = descriptor >= 0 && write(descriptor, &byte, 1) == 1;
  notes_begun--;
  return is_noted;
}

// After this, no handler on another thread writes to an earlier listener.
static void await_notes(void) {
  const struct timespec nap = {.tv_nsec = 1000 * 1000};
  // A note takes microseconds. A forked child may have inherited the count of a thread that it
  // lacks.
  for (int naps = 0; notes_begun > 0 && naps < 1000; naps++) nanosleep(&nap, NULL);
}

static void take_again(void) {
  // If another process has the turn, the question waits for it.
  if (is_hidden && is_in_foreground() && take_turn() == 0) {
    note_usual();
    apply(&terminal.hidden);
    drop_input();
  }
  note(SIGCONT);
}

// MARK: - Signals

static bool is_job_control(int number) {
  return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU || number == SIGCONT;
}

static bool has_handler(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) ||
         (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static void handle(int number);

static struct sigaction our_action(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  return action;
}

// Lets a signal do what it did before; returns if that neither ended the process nor still stops
// it.
static void pass_on(int number) {
  struct sigaction ours = our_action(), usual;
  sigset_t only, masked;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigaction(number, &terminal.actions[number], NULL);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &only, &masked);
  pthread_sigmask(SIG_SETMASK, &masked, NULL);
  sigaction(number, &ours, &usual);
  // On another thread, the question has ended.
  if (!is_catching) sigaction(number, &usual, NULL);
}

static void handle(int number) {
  int saved_error = errno;
  bool ends_question = number == SIGINT || has_handler(&terminal.actions[number]);
  bool is_noted = ends_question && !is_job_control(number) && note(number);
  if (!is_noted) {
    if (number != SIGCONT) {
      put_back();
      // A process that is stopped must not keep others from asking.
      give_turn_back();
    }
    pass_on(number);
    take_again();
  }
  errno = saved_error;
}

// Whether a signal with an action is one to be caught. What is ignored stays so, but for the key
// that cancels a question. A host's handler stays too, unless the signal ends a question or stops
// the process.
static bool is_to_be_caught(int number, const struct sigaction *action) {
  if (number == SIGINT || number == SIGCONT) return true;
  if (number == SIGCHLD || number == SIGURG || number == SIGWINCH) return false;
  if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN) return false;
  bool is_of_question = number == SIGTERM || number == SIGHUP || number == SIGQUIT;
  return !has_handler(action) || is_of_question || is_job_control(number);
}

static bool is_ours(const struct sigaction *action) {
  return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == handle;
}

static void catch_signals(void) {
  struct sigaction ours = our_action();
  is_catching = true;
  for (int number = 1; number < NSIG; number++) {
    struct sigaction *old = &terminal.actions[number], found;
    terminal.is_caught[number] = false;
    if (sigaction(number, NULL, &found) != 0) continue;
    // A handler of the last question is about to take it away; the action before it is known.
    if (!is_ours(&found)) *old = found;
    terminal.is_caught[number] =
        is_to_be_caught(number, old) && sigaction(number, &ours, NULL) == 0;
  }
}

static void release_signals(void) {
  is_catching = false;
  for (int number = 1; number < NSIG; number++) {
    if (terminal.is_caught[number]) sigaction(number, &terminal.actions[number], NULL);
  }
}

static sigset_t block_signals(void) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  return old;
}

static void unblock_signals(sigset_t old) { pthread_sigmask(SIG_SETMASK, &old, NULL); }

// MARK: - For callers

uint64_t cterminal_device(int32_t descriptor) {
  unsigned int device = 0;
  return ioctl(descriptor, TIOCGDEV, &device) == 0 ? device : 0;
}

int32_t cterminal_begin(int32_t descriptor, int32_t output, int32_t turn) {
  static atomic_flag is_registered = ATOMIC_FLAG_INIT;
  if (atomic_exchange(&is_begun, true)) return EBUSY;
  // A host may end the process while a question waits.
  if (!atomic_flag_test_and_set(&is_registered)) atexit(cterminal_end);
  sigset_t old = block_signals();
  terminal.descriptor = descriptor;
  terminal.output = output;
  terminal.turn = turn;
  catch_signals();
  unblock_signals(old);
  return 0;
}

void cterminal_end(void) {
  if (!is_begun) return;
  sigset_t old = block_signals();
  put_back();
  give_turn_back();
  is_hidden = has_screen = false;
  release_signals();
  is_begun = false;
  unblock_signals(old);
}

int32_t cterminal_take_turn(void) {
  // A signal that stops the process gives the turn back.
  sigset_t old = block_signals();
  int error = take_turn();
  unblock_signals(old);
  return error;
}

int32_t cterminal_show_input(bool shows, bool drops) {
  if (!has_turn) return EAGAIN;
  bool changes = is_hidden == shows;
  if (!shows) note_usual();
  // First, so that a signal from here on puts the terminal back.
  if (!shows) is_hidden = true;
  int error = apply(shows ? &terminal.usual : &terminal.hidden);
  if (error != 0) return error;
  is_hidden = !shows;
  // The process was stopped meanwhile, and another one asks now.
  if (!has_turn) return EAGAIN;
  if (changes || drops) drop_input();
  return 0;
}

void cterminal_open_screen(void) {
  has_screen = true;
  write_sequence(screen_opening, sizeof screen_opening - 1);
}

void cterminal_close_screen(void) {
  write_sequence(screen_closing, sizeof screen_closing - 1);
  has_screen = false;
}

void cterminal_listen(int32_t descriptor) {
  listener = descriptor;
  await_notes();
}
