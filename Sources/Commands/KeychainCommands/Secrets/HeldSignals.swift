internal import Glibc

/// The signals by which a person or the system ends a command, held back for a moment.
struct HeldSignals {
  private var before = sigset_t()

  init() {
    var held = sigset_t()
    sigemptyset(&held)
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&held, number) }
    pthread_sigmask(SIG_BLOCK, &held, &before)
  }

  /// Lets those that came meanwhile take effect.
  func release() {
    var before = before
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }
}
