internal import Glibc
internal import KeychainCredentials
internal import Synchronization

/// A transaction that runs a closure.
///
/// A write by another handle of the same vault on this thread would wait for it, and it for the write.
final class RunningTransaction: Sendable {
  /// The innermost one; a task that a closure begins has it, too, even after its end.
  @TaskLocal private static var innermost: RunningTransaction?

  private let path: String
  private let thread = UInt(pthread_self())
  private let outer = innermost
  private let isOver = Atomic(false)

  private init(_ path: String) { self.path = path }

  /// Calls the closure of a transaction of the vault at a path.
  static func running<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
    let running = RunningTransaction(path)
    defer { running.isOver.store(true, ordering: .relaxed) }
    return try $innermost.withValue(running) { try body() }
  }

  /// Whether a closure of a transaction of this vault runs on this thread.
  static func isHere(_ path: String) -> Bool {
    var transaction = innermost
    while let current = transaction {
      if current.path == path, current.thread == UInt(pthread_self()),
        !current.isOver.load(ordering: .relaxed)
      {
        return true
      }
      transaction = current.outer
    }
    return false
  }

  static let refusal = "the vault was used by a closure that it called within a transaction"
  static let recovery: KeychainError.Recovery = "use it after the call"
}
