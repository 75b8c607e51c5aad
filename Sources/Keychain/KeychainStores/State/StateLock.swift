internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem

/// A lock for work that only one process of the user may do at a time.
///
/// It is held until the value is destroyed.
struct StateLock: ~Copyable {
  private let lock: FileLock

  /// Takes the lock.
  init(
    _ name: String, in state: StateFolder, within time: Duration = .zero
  ) throws(KeychainError) {
    let path = try state.make() + "/" + name
    do throws(FileError) {
      lock = try FileLock(exclusive: path, deadline: Deadline(after: time))
    } catch {
      guard error.kind == .timedOut else { throw KeychainError(error) }
      throw KeychainError(
        .busy, "another process holds \(error.path)",
        recovery: "wait until it has ended, and try again")
    }
  }
}
