internal import Glibc
internal import Synchronization
package import SystemPackage

/// Counts the forks of this process, with handlers that run in any thread that forks and so must
/// neither lock nor allocate.
private enum Forks {
  /// How often this process has forked, or begun to.
  static let begun = Atomic(0)

  /// How often this process and those that it was forked from were forked.
  static let passed = Atomic(0)

  static let areCounted: Bool = {
    // Initialized before the handlers can run.
    begun.store(0, ordering: .sequentiallyConsistent)
    passed.store(0, ordering: .sequentiallyConsistent)
    UninheritedFiles.initialize()
    return pthread_atfork(
      { Forks.begun.add(1, ordering: .sequentiallyConsistent) }, nil,
      {
        Forks.passed.add(1, ordering: .sequentiallyConsistent)
        UninheritedFiles.closeAll()
      }) == 0
  }()
}

/// Notices that this process was forked from one that used something of which a child must use
/// nothing, not even a lock: another thread may have held it at the fork, and then it stays held
/// for ever.
package final class ForkMark: Sendable {
  /// The number of forks at the first use; negative before.
  private let first = Atomic(-1)

  package init() {}

  /// Records that this process uses it.
  package func set() {
    _ = Forks.areCounted
    let present = Forks.passed.load(ordering: .relaxed)
    _ = first.compareExchange(expected: -1, desired: present, ordering: .relaxed)
  }

  /// Whether it was used before a fork that made this process.
  package var isForked: Bool {
    let first = first.load(ordering: .relaxed)
    return first >= 0 && first != Forks.passed.load(ordering: .relaxed)
  }

  /// Fails if it was used before a fork that made this process.
  package func check<Failure: Error>(
    _ failure: @autoclosure () -> Failure
  ) throws(Failure) { if isForked { throw failure() } }
}

/// Open files that a forked child does not have.
///
/// A child inherits a lock (`flock`) together with the descriptor, and holds it when the parent has
/// ended. Here, it closes the descriptor as its first action.
package enum UninheritedFiles {
  /// The descriptors, or -1; as many as there can be, since a handler of forks allocates nothing.
  private static let numbers = (0..<256).map { _ in Number() }

  private final class Number: Sendable {
    let value = Atomic<CInt>(-1)
    /// Code that closes all descriptors lets another file have its number.
    let inode = Atomic<UInt64>(0)
  }

  fileprivate static func initialize() {
    for number in numbers { number.value.store(-1, ordering: .sequentiallyConsistent) }
  }

  /// Opens a file; call ``forget(_:)`` before it is closed.
  ///
  /// Above 256 of them, children inherit them.
  package static func open(
    _ body: () throws(Errno) -> FileDescriptor
  ) throws(Errno) -> FileDescriptor {
    _ = Forks.areCounted
    while true {
      let before = Forks.begun.load(ordering: .sequentiallyConsistent)
      let descriptor = try body()
      insert(descriptor.rawValue)
      // A child that was forked before that has it.
      guard Forks.begun.load(ordering: .sequentiallyConsistent) != before else { return descriptor }
      forget(descriptor)
      try? descriptor.close()
    }
  }

  /// Forgets a file that is closed next.
  package static func forget(_ descriptor: FileDescriptor) {
    for number in numbers {
      let isIt = number.value.compareExchange(
        expected: descriptor.rawValue, desired: -1, ordering: .sequentiallyConsistent
      ).exchanged
      if isIt { return }
    }
  }

  private static func insert(_ descriptor: CInt) {
    for number in numbers {
      let isFree = number.value.compareExchange(
        expected: -1, desired: descriptor, ordering: .sequentiallyConsistent
      ).exchanged
      guard isFree else { continue }
      return number.inode.store(inode(descriptor) ?? 0, ordering: .sequentiallyConsistent)
    }
  }

  fileprivate static func closeAll() {
    for number in numbers {
      let descriptor = number.value.exchange(-1, ordering: .sequentiallyConsistent)
      let inode = number.inode.load(ordering: .sequentiallyConsistent)
      if descriptor >= 0, Self.inode(descriptor) == inode { _ = Glibc.close(descriptor) }
    }
  }

  private static func inode(_ descriptor: CInt) -> UInt64? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}
