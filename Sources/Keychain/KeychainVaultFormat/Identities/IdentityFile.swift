package import FoundationEssentials
package import KeychainCredentials
package import KeychainSecrets
internal import PrephirencesSystem

/// The contents of an identity file: an identity, and the checks of the vaults that it may open.
package struct IdentityFile: ~Copyable, Sendable {
  package let identity: VaultIdentity

  /// The checks of the vaults that the identity may open; empty for any vault.
  package let pins: [VaultCheck]

  package static let pinPrefix = "vault: "

  /// Reads the text of an identity file, whose name in errors is `name`.
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
      // The line can become a string only now, because it is no identity, not even a part of one.
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
      if case .memory(let error) = error { throw KeychainError(error) }
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

/// Identifies a vault and who administers it: a hash of its id and of its administration key.
///
/// It is not secret. It stays when the vault gets a new root key, and changes when an administrator
/// leaves. An identity file with checks opens only the vaults that have them.
public struct VaultCheck: Hashable, Sendable {
  /// The 16 bytes of the check.
  package let bytes: Data
}

extension VaultCheck {
  /// Reads a check.
  ///
  /// - Parameter text: 32 hexadecimal digits in lower case. Other text returns `nil`.
  public init?(text: String) {
    guard text.utf8.count == 32, let bytes = [UInt8](hexadecimal: text.utf8) else { return nil }
    // There is one way to write it.
    guard bytes.hexadecimal.hasSameBytes(as: text) else { return nil }
    self.bytes = Data(copying: bytes)
  }
}

extension HeadIdentity {
  /// The check of the vault, which people compare and identities are pinned to.
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
