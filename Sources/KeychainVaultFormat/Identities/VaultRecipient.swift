package import Foundation
public import KeychainCredentials
internal import KeychainSecrets

/// The public half of an identity, to which a vault can be opened.
///
/// It is not secret.
///
/// Its text begins with `pkpub1-`. Whoever has the private half opens the vaults that have a slot
/// for it.
public struct VaultRecipient: Hashable, Sendable {
  private static let prefix = "pkpub1-"

  /// The X25519 public key, 32 bytes.
  ///
  /// A slot written by faulty software may have an unusable key.
  package let publicKey: Data

  package init(publicKey: Data) {
    self.publicKey = publicKey
  }

  /// Reads the text of a recipient.
  ///
  /// Case, hyphens and white space after the prefix are ignored.
  ///
  /// - Parameter text: The text, such as ``description``.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if it is not a
  ///   recipient, is mistyped, or if nobody can have the private half.
  public init(text: String) throws(KeychainError) {
    do throws(Text32.Fault) {
      let key = try unsafe Text32.key(
        text.utf8Span.span.bytes, after: Self.prefix, count: SealedBox.keyCount,
        sumCount: VaultIdentity.sumCount)
      publicKey = Data(key.withBytes { $0.array })
    } catch {
      throw Self.error(error)
    }
    guard isUsable else { throw Self.refused("no private key belongs to it") }
  }

  /// Whether somebody can open what is sealed to it.
  package var isUsable: Bool { SealedBox.isPublicKey(Array(publicKey)) }

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
    let text = try? VaultIdentity.text(
      SecretBytes(copying: publicKey.bytes), prefix: Self.prefix)
    return text?.withBytes { $0.text } ?? Self.prefix
  }
}
