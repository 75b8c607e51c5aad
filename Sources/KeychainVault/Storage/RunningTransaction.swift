internal import KeychainCredentials

/// Whether a transaction with a closure runs on this thread.
///
/// A write by another handle would wait for it, and it for the write.
enum RunningTransaction {
  @TaskLocal static var isHere = false

  static let refusal = "the vault was used by a closure that it called within a transaction"
  static let recovery: KeychainError.Recovery = "use it after the call"
}
