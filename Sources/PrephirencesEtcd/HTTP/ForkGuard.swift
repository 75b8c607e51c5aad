internal import Glibc
internal import Synchronization

/// Notices that this process was forked from one that uses the client.
///
/// A connection belongs to the parent, and a lock that another thread held at the fork stays held
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

  /// Whether this process must not use clients of its parent.
  static var isForked: Bool { isChild.load(ordering: .relaxed) }

  /// - Throws: ``EtcdError`` with ``EtcdError/Code/forked``.
  static func check() throws(EtcdError) {
    guard !isForked else {
      throw EtcdError(
        .forked,
        "this process was forked from one that uses etcd; "
          + "use it in a process that was started by exec")
    }
  }
}
