internal import Glibc
internal import Synchronization
package import SystemPackage

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

  /// How often this process has forked, or begun to.
  private static let forks = Atomic(0)

  private static let isRegistered: Bool = {
    // Initialized before the handlers can run.
    for number in numbers { number.value.store(-1, ordering: .sequentiallyConsistent) }
    forks.store(0, ordering: .sequentiallyConsistent)
    return pthread_atfork(
      { UninheritedFiles.forks.add(1, ordering: .sequentiallyConsistent) }, nil,
      { UninheritedFiles.closeAll() }) == 0
  }()

  /// Opens a file; call ``forget(_:)`` before it is closed.
  ///
  /// Above 256 of them, children inherit them.
  package static func open(
    _ body: () throws(Errno) -> FileDescriptor
  ) throws(Errno) -> FileDescriptor {
    _ = isRegistered
    while true {
      let before = forks.load(ordering: .sequentiallyConsistent)
      let descriptor = try body()
      insert(descriptor.rawValue)
      // A child that was forked before that has it.
      guard forks.load(ordering: .sequentiallyConsistent) != before else { return descriptor }
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

  private static func closeAll() {
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
