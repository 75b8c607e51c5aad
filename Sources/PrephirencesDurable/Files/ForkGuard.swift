internal import Glibc
internal import Prephirences
internal import Synchronization

/// Notices that this process was forked from one that used preferences.
///
/// SQLite's locks belong to the parent, and a lock that another thread held at the fork stays held
/// for ever. So the child uses nothing of the parent's, not even a lock.
enum ForkGuard {
  private static let isChild = Atomic(false)

  private static let isRegistered: Bool = {
    // Initialized before the handler can run.
    isChild.store(false, ordering: .relaxed)
    return pthread_atfork(nil, nil) { ForkGuard.isChild.store(true, ordering: .relaxed) } == 0
  }()

  /// Begins to notice forks.
  static func register() { _ = isRegistered }

  /// Whether this process must not use preferences.
  static var isForked: Bool { isChild.load(ordering: .relaxed) }

  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/forked``.
  static func check() throws(PreferencesError) {
    guard !isForked else {
      throw PreferencesError(
        .forked,
        "this process was forked from one that used preferences; "
          + "use them in a process that was started by exec")
    }
  }
}
