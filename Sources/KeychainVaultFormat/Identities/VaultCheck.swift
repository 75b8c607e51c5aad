package import Foundation
package import KeychainCredentials

/// Identifies a vault and who administers it: a hash of its id and of its administration key.
///
/// It is not secret. It stays when the vault gets a new root key, and changes when an administrator
/// leaves. An identity file with checks opens only the vaults that have them.
public struct VaultCheck: Hashable, Sendable {
  /// The 16 bytes of the check.
  package let bytes: Data

  package init(bytes: Data) {
    self.bytes = bytes
  }

  package init(id: VaultID, administration: Data) throws(KeychainError) {
    let fields = FieldWriter.fields {
      $0.byteString(id.bytes)
      $0.byteString(administration)
    }
    bytes = try Derivation.hash("pk2/vault.check", fields).prefix(16)
  }

  /// Reads a check.
  ///
  /// - Parameter text: 32 hexadecimal digits in lower case. Other text returns `nil`.
  public init?(text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 32 else { return nil }
    var bytes = Data()
    for index in stride(from: 0, to: 32, by: 2) {
      guard let high = Self.value(of: digits[index]), let low = Self.value(of: digits[index + 1])
      else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension VaultCheck: CustomStringConvertible {
  /// 32 hexadecimal digits in lower case.
  public var description: String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }
}
