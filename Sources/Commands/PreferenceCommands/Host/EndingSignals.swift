internal import Glibc

/// The signals that end a command which runs until then.
struct EndingSignals {
  private var set = sigset_t()

  /// Holds the signals back in this thread, and in those that it starts.
  init() {
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] where !Self.isIgnored(number) {
      sigaddset(&set, number)
    }
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Returns `true` when one of them has come, and `false` after a time.
  func wait(_ duration: Duration) -> Bool {
    var set = set
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    while sigtimedwait(&set, nil, &time) < 0 {
      if errno == EAGAIN { return false }
    }
    return true
  }

  /// `nohup` and shells have some ignored for a reason.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // The handler is a function or a small number.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
