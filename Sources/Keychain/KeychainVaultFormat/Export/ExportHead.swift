package import FoundationEssentials
package import KeychainSecrets

/// The beginning of an export: the parameters of the password hash.
package struct ExportHead: Hashable, Sendable {
  package let parameters: PasswordHash.Parameters
  package let salt: Data

  package static let count = signature.count + 4 + 12 + 4 + saltCount

  private static let name = Array("PKEXPORT".utf8)
  private static let version = Array("1".utf8)
  private static let signature = name + version + [lineFeed]
  private static let lineFeed = UInt8(ascii: "\n")
  private static let saltCount = 32
}

extension ExportHead {
  /// Creates the head of a new export.
  package init(parameters: PasswordHash.Parameters) throws(KeychainError) {
    self.init(parameters: parameters, salt: try .random(count: Self.saltCount))
  }

  /// Reads the head of an existing export, and checks that a passphrase slot may have its cost.
  package init(_ bytes: [UInt8]) throws(KeychainError) {
    guard bytes.starts(with: Self.signature) else { throw Self.foreign(bytes) }
    guard bytes.count == Self.count else { throw .damagedExport("it ends too early") }
    let fields = Data(bytes.dropFirst(Self.signature.count))
    var reader = FieldReader()
    guard let encoded = try? reader.data(fields.bytes), let salt = try? reader.data(fields.bytes),
      salt.count == Self.saltCount,
      let parameters = PasswordHash.Parameters(encoded: encoded), parameters.isSlotCost
    else { throw .damagedExport("it asks for a password hash that no export has") }
    self.init(parameters: parameters, salt: salt)
  }

  package var encoded: [UInt8] {
    Self.signature
      + FieldWriter.fields {
        $0.byteString(parameters.encoded)
        $0.byteString(salt)
      }
  }

  /// Whether a file begins as exports of other formats do: with a version of one to ten digits.
  private static func isOfOtherFormat(_ bytes: [UInt8]) -> Bool {
    let digits = bytes.dropFirst(name.count).prefix { 0x30...0x39 ~= $0 }
    return bytes.starts(with: name) && 1...10 ~= digits.count && !digits.elementsEqual(version)
      && bytes.dropFirst(name.count + digits.count).first == lineFeed
  }

  private static func foreign(_ bytes: [UInt8]) -> KeychainError {
    if isOfOtherFormat(bytes) {
      return KeychainError(
        .unsupportedFormat, "the export was made by a newer release",
        recovery: "use that release, or a newer one")
    }
    if bytes.starts(with: VaultHead.magic) {
      return KeychainError(
        .foreign, "the file is a vault, not an export",
        recovery: "put a backup in the vault's place, closed to others (chmod 600), and run "
          + "\(.acceptRestored) if that is asked for")
    }
    return KeychainError(
      .foreign, "the file is not an export",
      recovery: "name a file that \(.export) made")
  }
}

/// The key of an export, and the commitment that shows whether the passphrase is right.
package struct ExportKey: ~Copyable {
  package let head: ExportHead
  package let key: SecretBytes

  package let commitment: [UInt8]

  package static let commitmentCount = 32

  /// Hashes the passphrase, which takes time.
  package init(_ head: ExportHead, passphrase: borrowing SecretBytes) throws(KeychainError) {
    let input = try SlotSealing.passphraseKey(
      passphrase, salt: head.salt, parameters: head.parameters)
    try self.init(head, inputKey: input)
  }

  package init(_ head: ExportHead, inputKey: borrowing SecretBytes) throws(KeychainError) {
    let commitment = Array(try Derivation.tag(inputKey, "pk1/export.check", head.encoded))
    let key = try Derivation.key(inputKey, "pk1/export.kek", head.encoded)
    (self.head, self.commitment) = (head, commitment)
    self.key = key
  }

  /// Reads the commitment from a file, before the passphrase is hashed.
  package static func commitment(_ field: [UInt8]) throws(KeychainError) -> [UInt8] {
    let length = FieldWriter.fields { $0.integer(UInt32(commitmentCount)) }
    guard field.count == length.count + commitmentCount else {
      throw .damagedExport("it ends too early")
    }
    guard field.starts(with: length) else {
      throw .damagedExport("the commitment to its passphrase has a wrong length")
    }
    return Array(field.dropFirst(length.count))
  }

  /// Fails if a commitment in a file was made with another passphrase.
  ///
  /// - Parameter oddity: What is unusual about the given passphrase.
  package borrowing func check(
    _ commitment: [UInt8], oddity: String? = nil
  ) throws(KeychainError) {
    guard unsafe ConstantTime.equal(commitment.span.bytes, self.commitment.span.bytes) else {
      throw KeychainError(
        .incorrectSecret, "the passphrase does not open the export",
        recovery: oddity.map { "the given passphrase \($0), which is a part of it" })
    }
  }

  /// All bytes of the file before the stream.
  package var beginning: [UInt8] { head.encoded + FieldWriter.fields { $0.byteString(commitment) } }
}

extension KeychainError {
  package static func damagedExport(_ what: String) -> Self {
    Self(
      .damaged, "the export is damaged: \(what)",
      recovery: "copy it again, or make another with \(.export)")
  }
}
