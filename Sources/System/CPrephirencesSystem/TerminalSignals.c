#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// Written by one thread at a time, which has all signals blocked. A handler on another thread may still read
// what the last question left here.
static struct {
  int descriptor;
  int output;
  struct termios usual;
  struct termios hidden;
  struct sigaction actions[NSIG];
  bool is_caught[NSIG];
} terminal;

static atomic_bool is_begun;
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

static void put_back(void) {
  if (!is_in_foreground()) return;
  if (has_screen) write_sequence(screen_closing, sizeof screen_closing - 1);
  if (is_hidden) {
    apply(&terminal.usual);
    // The shell would run what is left of a secret.
    drop_input();
  }
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
  // A note takes microseconds. A forked child may have inherited the count of a thread that it lacks.
  for (int naps = 0; notes_begun > 0 && naps < 1000; naps++) nanosleep(&nap, NULL);
}

static void take_again(void) {
  if (is_hidden && is_in_foreground()) {
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

// Lets a signal do what it did before; returns if that neither ended the process nor still stops it.
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
    if (number != SIGCONT) put_back();
    pass_on(number);
    take_again();
  }
  errno = saved_error;
}

// Whether a signal with an action is one to be caught. What is ignored stays so, but for the key that
// cancels a question. A host's handler stays too, unless the signal ends a question or stops the process.
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

// MARK: - For whoever asks

static void hide_from(const struct termios *usual, struct termios *hidden) {
  *hidden = *usual;
  hidden->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN);
  hidden->c_cc[VMIN] = 1;
  hidden->c_cc[VTIME] = 0;
}

int32_t cterminal_begin(int32_t descriptor, int32_t output) {
  static atomic_flag is_registered = ATOMIC_FLAG_INIT;
  struct termios usual;
  if (tcgetattr(descriptor, &usual) != 0) return errno;
  if (atomic_exchange(&is_begun, true)) return EBUSY;
  // A host may end the process while a question waits.
  if (!atomic_flag_test_and_set(&is_registered)) atexit(cterminal_end);
  sigset_t old = block_signals();
  terminal.descriptor = descriptor;
  terminal.output = output;
  terminal.usual = usual;
  hide_from(&usual, &terminal.hidden);
  catch_signals();
  unblock_signals(old);
  return 0;
}

void cterminal_end(void) {
  if (!is_begun) return;
  sigset_t old = block_signals();
  put_back();
  is_hidden = has_screen = false;
  release_signals();
  is_begun = false;
  unblock_signals(old);
}

int32_t cterminal_show_input(bool shows, bool drops) {
  bool changes = is_hidden == shows;
  // First, so that a signal from here on puts the terminal back.
  if (!shows) is_hidden = true;
  int error = apply(shows ? &terminal.usual : &terminal.hidden);
  if (error != 0) return error;
  is_hidden = !shows;
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
