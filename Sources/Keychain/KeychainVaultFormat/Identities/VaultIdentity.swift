package import FoundationEssentials
public import KeychainSecrets
internal import PrephirencesSystem

/// The public half of an identity, for which a vault can have a slot.
///
/// It is not secret. Its text begins with `pkpub2-`. The identity opens every vault that has a slot
/// for the recipient.
public struct VaultRecipient: Hashable, Sendable {
  private static let prefix = "pkpub2-"
  private static let sumCount = 6

  /// The X25519 public key for sealing keys: 32 bytes.
  package let boxKey: Data

  /// The Ed25519 public key that checks the identity's signatures: 32 bytes.
  package let signingKey: Data
}

extension VaultRecipient {
  /// Reads the text of a recipient.
  ///
  /// Case, hyphens and white space after the prefix are ignored.
  ///
  /// - Parameter text: The text, such as ``description``.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the text is not a
  ///   recipient, is mistyped, or has a key without a private half.
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

  /// Whether an identity can have these keys.
  package var isUsable: Bool {
    SealedBox.isPublicKey(Array(boxKey)) && Signature.isPublicKey(Array(signingKey))
  }

  /// The fingerprint of both public keys, for people to compare: 32 hexadecimal digits in lower
  /// case.
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
    case .memory(let error): return error
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

/// The keys, derived from one seed, that open the vaults with a slot for their public half, and
/// sign their owner's changes of shared vaults.
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
    try VaultIdentity(seed: SecretBytes.random(count: seedCount))
  }

  /// Reads the seed from the text of an identity.
  package static func seed(text: RawSpan) throws(Text32.Fault) -> SecretBytes {
    try Text32.key(text, after: prefix, count: seedCount, sumCount: sumCount)
  }

  /// Returns the text of the identity, which is as secret as its seed.
  package borrowing func text() throws(KeychainError) -> SecretBytes {
    try Text32.text(seed, prefix: Self.prefix, sumCount: Self.sumCount)
  }
}

/// A code on paper that opens a vault when nothing else does.
///
/// It consists of 16 random bytes, written as 8 groups of 4 letters and digits, with a checksum
/// that finds typing mistakes. None of its letters and digits look alike.
public struct RecoveryCode: ~Copyable, Sendable {
  private static let count = 16
  private static let sumCount = 4

  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  package static func random() throws(KeychainError) -> RecoveryCode {
    try RecoveryCode(SecretBytes.random(count: count))
  }

  /// Reads a code that a person typed.
  ///
  /// Case, hyphens and white space are ignored; `O` is read as `0`, and `I` and `L` as `1`.
  ///
  /// - Parameter text: The typed text.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` if it is not a code or
  ///   is mistyped; the place of the mistake is unknown.
  public init(text: borrowing SecretBytes) throws(KeychainError) {
    do throws(Text32.Fault) {
      self.init(
        try text.withBytes { text throws(Text32.Fault) in
          try Text32.key(text, count: Self.count, sumCount: Self.sumCount)
        })
    } catch { throw Self.error(error) }
  }

  /// Returns the code as people write it down: 8 groups of 4 characters with hyphens between them.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public borrowing func text() throws(KeychainError) -> SecretBytes {
    try Text32.text(bytes, sumCount: Self.sumCount, .grouped)
  }

  /// Returns whether two codes are equal, in constant time.
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
    case .memory(let error): return error
    }
    return KeychainError(
      .incorrectSecret, "the recovery code is mistyped: \(reason)",
      recovery: "compare it with what was written down, character by character")
  }
}

/// The contents of an identity file: an identity, and the checks of the vaults that it may open.
package struct IdentityFile: ~Copyable, Sendable {
  package let identity: VaultIdentity

  /// The checks of the vaults that the identity may open; empty for any vault.
  package let pins: [VaultCheck]

  package static let pinPrefix = "vault: "

  /// Reads the text of an identity file, which errors call `name`.
  package init(text: borrowing SecretBytes, name: String) throws(KeychainError) {
    var identity: VaultIdentity?
    var pins: [VaultCheck] = []
    for (number, line) in try Self.lines(of: text, name: name).enumerated() {
      switch Self.content(of: text, line) {
      case .nothing: continue
      case .pin(let check): pins.append(check)
      case .identity:
        guard identity == nil else { throw Self.refused(name, "it holds two identities") }
        identity = try Self.identity(in: text, line, number + 1, name)
      case nil:
        throw KeychainError(
          .unsupportedFormat,
          "line \(number + 1) of \(name) is neither an identity nor a pin that this release knows",
          recovery: "use the release that wrote it, or a newer one; or make an identity with "
            + "\(.createIdentity)")
      }
    }
    guard let identity else { throw Self.refused(name, "it holds no identity") }
    self.identity = identity
    self.pins = pins
  }

  /// The kinds of lines in an identity file.
  package enum Line {
    case nothing
    case identity
    case pin(VaultCheck)
  }

  /// Returns the content of a line; `nil` if it is not allowed.
  package static func content(of text: borrowing SecretBytes, _ line: Range<Int>) -> Line? {
    text.withBytes { bytes in
      var line = bytes.extracting(line)
      line = line.extracting(TextBytes.trimmed(line))
      if line.byteCount == 0 || line.byte(at: 0) == UInt8(ascii: "#") { return .nothing }
      if TextBytes.begins(line, with: VaultIdentity.prefix) { return .identity }
      // The line is not an identity, nor a part of one, so it can become a string now.
      guard line.byteCount == pinPrefix.utf8.count + 32, let text = line.text,
        text.hasPrefix(pinPrefix)
      else { return nil }
      return VaultCheck(text: String(text.dropFirst(pinPrefix.count))).map { .pin($0) }
    }
  }

  /// Returns the ranges of the lines, without the line feeds between them.
  package static func lines(
    of text: borrowing SecretBytes, name: String
  ) throws(KeychainError) -> [Range<Int>] {
    try text.withBytes { bytes throws(KeychainError) in
      guard (try? UTF8Span(validating: Span<UInt8>(_bytes: bytes))) != nil else {
        throw refused(name, "it is not text in UTF-8")
      }
      var lines: [Range<Int>] = []
      var start = 0
      for end in 0...bytes.byteCount
      where end == bytes.byteCount || bytes.byte(at: end) == UInt8(ascii: "\n") {
        lines.append(start..<end)
        start = end + 1
      }
      return lines
    }
  }

  private static func identity(
    in text: borrowing SecretBytes, _ line: Range<Int>, _ number: Int, _ name: String
  ) throws(KeychainError) -> VaultIdentity {
    let seed: SecretBytes
    do throws(Text32.Fault) {
      seed = try text.withBytes { text throws(Text32.Fault) in
        try VaultIdentity.seed(text: text.extracting(line))
      }
    } catch {
      if case .memory(let error) = error { throw error }
      throw refused(name, "the identity in line \(number) was changed or cut off")
    }
    return try VaultIdentity(seed: seed)
  }

  private static func refused(_ name: String, _ reason: String) -> KeychainError {
    KeychainError(
      .incorrectSecret, "\(name) is not an identity file: \(reason)",
      recovery: "make one with \(.createIdentity)")
  }
}
