internal import Dispatch
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesFiles
internal import Synchronization

/// Lets one thread at a time use a connection, and ends the wait of another at its deadline.
///
/// GRDB's queue would let it wait without end, which a closure within a transaction could turn into
/// a deadlock: by waiting for a thread that uses the same handle.
final class ConnectionTurn: Sendable {
  private let semaphore = DispatchSemaphore(value: 1)
  private let holder = Atomic<UInt>(0)

  /// Waits until the connection is free.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if this thread has it already,
  ///   or with ``KeychainError/Code/busy`` at the deadline.
  func take(_ path: String, _ deadline: Deadline) throws(KeychainError) {
    // Only this thread itself writes its own number, so no other order matters.
    guard holder.load(ordering: .relaxed) != Self.thread else {
      throw KeychainError(
        .refused, RunningTransaction.refusal, recovery: RunningTransaction.recovery)
    }
    guard semaphore.wait(timeout: .now() + deadline.seconds) == .success else {
      throw KeychainError(
        .busy, "another thread used the vault for too long: \(path)", recovery: .tryAgain)
    }
    holder.store(Self.thread, ordering: .relaxed)
  }

  func end() {
    holder.store(0, ordering: .relaxed)
    semaphore.signal()
  }

  private static var thread: UInt { UInt(pthread_self()) }
}
