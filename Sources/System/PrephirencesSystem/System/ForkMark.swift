internal import Glibc
internal import Synchronization

/// Notices that this process was forked from one that used something of which a child must use
/// nothing, not even a lock: another thread may have held it at the fork, and then it stays held for
/// ever.
package final class ForkMark: Sendable {
  /// How often this process and those that it was forked from were forked.
  private static let forks = Atomic(0)

  private static let isRegistered: Bool = {
    // Initialized before the handler can run.
    forks.store(0, ordering: .relaxed)
    return pthread_atfork(nil, nil) { ForkMark.forks.add(1, ordering: .relaxed) } == 0
  }()

  /// The number of forks at the first use; negative before.
  private let first = Atomic(-1)

  package init() {}

  /// Records that this process uses it.
  package func set() {
    _ = Self.isRegistered
    let present = Self.forks.load(ordering: .relaxed)
    _ = first.compareExchange(expected: -1, desired: present, ordering: .relaxed)
  }

  /// Whether it was used before a fork that made this process.
  package var isForked: Bool {
    let first = first.load(ordering: .relaxed)
    return first >= 0 && first != Self.forks.load(ordering: .relaxed)
  }

  /// Fails if it was used before a fork that made this process.
  package func check<Failure: Error>(
    _ failure: @autoclosure () -> Failure
  ) throws(Failure) { if isForked { throw failure() } }
}
