package import FoundationEssentials
public import KeychainCredentials
public import KeychainSecrets

/// The public half of an identity, to which a vault can be opened.
///
/// It is not secret.
///
/// Its text begins with `pkpub2-`. Whoever has the identity opens the vaults that have a slot
/// for it.
public struct VaultRecipient: Hashable, Sendable {
  private static let prefix = "pkpub2-"
  private static let sumCount = 6

  /// The X25519 public key, to which keys are sealed: 32 bytes.
  package let boxKey: Data

  /// The Ed25519 public key, which checks what the identity signs: 32 bytes.
  package let signingKey: Data
}

extension VaultRecipient {
  /// Reads the text of a recipient.
  ///
  /// Case, hyphens and white space after the prefix are ignored.
  ///
  /// - Parameter text: The text, such as ``description``.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if it is not a
  ///   recipient, is mistyped, or if nobody can have the private half.
  public init(text: String) throws(KeychainError) {
    do throws(Text32.Fault) {
      let keys = try unsafe Text32.key(
        text.utf8Span.span.bytes, after: Self.prefix,
        count: SealedBox.keyCount + Signature.publicKeyCount, sumCount: Self.sumCount)
      self = keys.withBytes {
        Self(
          boxKey: Data(copying: $0.extracting(0..<SealedBox.keyCount)),
          signingKey: Data(copying: $0.extracting(SealedBox.keyCount..<$0.byteCount)))
      }
    } catch { throw Self.error(error) }
    guard isUsable else { throw Self.refused("no identity belongs to it") }
  }

  /// Whether an identity can belong to it.
  package var isUsable: Bool {
    SealedBox.isPublicKey(Array(boxKey)) && Signature.isPublicKey(Array(signingKey))
  }

  /// The fingerprint, by which people compare recipients: 32 hexadecimal digits in lower case.
  ///
  /// It covers both public keys.
  public var fingerprint: String {
    let fields = FieldWriter.fields {
      $0.byteString(boxKey)
      $0.byteString(signingKey)
    }
    return (try? Derivation.hash("pk2/fingerprint", fields).prefix(16).hexadecimal) ?? ""
  }

  private static func error(_ fault: Text32.Fault) -> KeychainError {
    let reason: String
    switch fault {
    case .prefix: reason = "it does not begin with \(prefix)"
    case .character: reason = "it has a character that no recipient has"
    case .length(let found, let expected):
      reason = "it has \(found) letters and digits after its beginning, and needs \(expected)"
    case .mistyped: reason = "its checksum is wrong, so something in it is mistyped"
    case .memory(let error): return KeychainError(error)
    }
    return refused(reason)
  }

  private static func refused(_ reason: String) -> KeychainError {
    KeychainError(
      .invalidArgument, "that is not a recipient: \(reason)",
      recovery: "show it again on the machine that has the identity, with \(.showIdentity)")
  }
}

extension VaultRecipient: CustomStringConvertible {
  /// The text of the recipient.
  public var description: String {
    let keys = boxKey + signingKey
    let text = try? Text32.text(
      SecretBytes(copying: keys.bytes), prefix: Self.prefix, sumCount: Self.sumCount)
    return text?.withBytes { $0.text } ?? Self.prefix
  }
}

/// The keys, from one seed, that open the vaults which have a slot for their public half, and sign what
/// their owner writes into shared vaults.
package struct VaultIdentity: ~Copyable, Sendable {
  package static let prefix = "pksec2-"
  private static let sumCount = 3
  private static let seedCount = 32

  package let seed: SecretBytes
  package let keys: SlotKeys
  package let recipient: VaultRecipient

  package init(seed: consuming SecretBytes) throws(KeychainError) {
    let keys = try SlotKeys(
      boxSecret: try Derivation.key(seed, "pk2/ident.box"),
      signingSeed: try Derivation.key(seed, "pk2/ident.sign"))
    recipient = VaultRecipient(boxKey: keys.boxKey, signingKey: try keys.signingKey())
    self.keys = keys
    self.seed = seed
  }

  package static func random() throws(KeychainError) -> VaultIdentity {
    try VaultIdentity(seed: translated(secrets: SecretBytes.random(count: seedCount)))
  }

  /// Reads the seed in the text of an identity.
  package static func seed(text: RawSpan) throws(Text32.Fault) -> SecretBytes {
    try Text32.key(text, after: prefix, count: seedCount, sumCount: sumCount)
  }

  /// Returns the text of the identity, which is as secret as its seed.
  package borrowing func text() throws(SecretsError) -> SecretBytes {
    try Text32.text(seed, prefix: Self.prefix, sumCount: Self.sumCount)
  }
}

/// A code on paper that opens a vault when nothing else does.
///
/// It is 16 random bytes, written as 8 groups of 4 letters and digits, with a checksum that finds
/// typing mistakes. No two letters or digits in it look alike.
public struct RecoveryCode: ~Copyable, Sendable {
  private static let count = 16
  private static let sumCount = 4

  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

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
    } catch { throw Self.error(error) }
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
