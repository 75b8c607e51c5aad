public import KeychainCredentials
public import KeychainSecrets

/// A code on paper that opens a vault when nothing else does.
///
/// It is 16 random bytes, written as 8 groups of 4 letters and digits, with a checksum that finds
/// typing mistakes. No two letters or digits in it look alike.
public struct RecoveryCode: ~Copyable, Sendable {
  private static let count = 16
  private static let sumCount = 4

  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) {
    self.bytes = bytes
  }

  package static func random() throws(KeychainError) -> RecoveryCode {
    try translated(secrets: RecoveryCode(SecretBytes.random(count: count)))
  }

  /// Reads a code that a person typed.
  ///
  /// Case, hyphens and white space are ignored; `O` is read as `0`, and `I` and `L` as `1`.
  ///
  /// - Parameter text: What was typed.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` if it is not a code,
  ///   or if it is mistyped; the place of the mistake is unknown.
  public init(text: borrowing SecretBytes) throws(KeychainError) {
    do throws(Text32.Fault) {
      self.init(
        try text.withBytes { text throws(Text32.Fault) in
          try Text32.key(text, count: Self.count, sumCount: Self.sumCount)
        })
    } catch {
      throw Self.error(error)
    }
  }

  /// Returns the code as it is written down.
  ///
  /// - Returns: 8 groups of 4 characters with hyphens between them, in guarded memory.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public borrowing func text() throws(KeychainError) -> SecretBytes {
    try translated(secrets: Text32.text(bytes, sumCount: Self.sumCount, .grouped))
  }

  /// Returns whether two codes are equal, in constant time.
  ///
  /// - Parameter other: The code to compare with.
  /// - Returns: `true` if they are equal.
  public borrowing func isEqual(to other: borrowing RecoveryCode) -> Bool {
    bytes.isEqual(to: other.bytes)
  }

  private static func error(_ fault: Text32.Fault) -> KeychainError {
    let reason: String
    switch fault {
    case .prefix, .character: reason = "it has a character that no code has"
    case .length(let found, let expected):
      reason = "it has \(found) letters and digits, and a code has \(expected)"
    case .mistyped: reason = "its checksum is wrong, which does not show where the mistake is"
    case .memory(let error): return KeychainError(error)
    }
    return KeychainError(
      .incorrectSecret, "the recovery code is mistyped: \(reason)",
      recovery: "compare it with what was written down, character by character")
  }
}
