internal import PrephirencesSystem

/// Notices that this process was forked from one that uses the client.
///
/// A connection belongs to the parent.
enum ForkGuard {
  private static let mark = ForkMark()

  /// Begins to notice forks.
  static func register() { mark.set() }

  /// Whether this process must not use clients of its parent.
  static var isForked: Bool { mark.isForked }

  static func check() throws(EtcdError) {
    guard !isForked else {
      throw EtcdError(
        .forked,
        "this process was forked from one that uses etcd; "
          + "use it in a process that was started by exec")
    }
  }
}
