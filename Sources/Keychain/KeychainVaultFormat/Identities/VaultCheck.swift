package import FoundationEssentials
package import KeychainSecrets
internal import PrephirencesSystem

/// Identifies a vault and its administrators: a hash of its id and of its administration key.
///
/// It is not secret. It stays when the vault gets a new root key, and changes when an administrator
/// leaves. An identity file with checks opens only the vaults that have them.
public struct VaultCheck: Hashable, Sendable {
  /// The 16 bytes of the check.
  package let bytes: Data
}

extension VaultCheck {
  /// Reads 32 hexadecimal digits in lower case; `nil` for any other text.
  public init?(text: String) {
    guard text.utf8.count == 32, let bytes = [UInt8](hexadecimal: text.utf8) else { return nil }
    // Each check has only one text.
    guard bytes.hexadecimal.hasSameBytes(as: text) else { return nil }
    self.bytes = Data(copying: bytes)
  }
}

extension HeadIdentity {
  /// The check of the vault: people compare it, and identities are pinned to it.
  package func check() throws(KeychainError) -> VaultCheck {
    let fields = FieldWriter.fields {
      $0.byteString(id.bytes)
      $0.byteString(administration)
    }
    return VaultCheck(bytes: try Derivation.hash("pk2/vault.check", fields).prefix(16))
  }
}

extension VaultCheck: CustomStringConvertible {
  /// 32 hexadecimal digits in lower case.
  public var description: String { bytes.hexadecimal }
}
