internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// What an export begins with: how the passphrase is hashed.
struct ExportHead: Hashable, Sendable {
  let parameters: PasswordHash.Parameters
  let salt: [UInt8]

  static let count = signature.count + 4 + 12 + 4 + saltCount

  private static let signature = Array("PKEXPORT1\n".utf8)
  private static let saltCount = 32

  /// The head of a new export.
  init(parameters: PasswordHash.Parameters) throws(KeychainError) {
    self.parameters = parameters
    do throws(SecretsError) {
      salt = try SecretBytes.random(count: Self.saltCount).withBytes { $0.array }
    } catch {
      throw KeychainError(error)
    }
  }

  init(parameters: PasswordHash.Parameters, salt: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
  }

  /// The head of an export that is there; its cost is acceptable.
  init(_ bytes: [UInt8]) throws(KeychainError) {
    guard bytes.starts(with: Self.signature) else { throw Self.foreign(bytes) }
    guard bytes.count == Self.count else { throw .damagedExport("it ends too early") }
    var reader = FieldReader()
    let fields = Array(bytes.dropFirst(Self.signature.count))
    do throws(FieldReader.Malformed) {
      let encoded = try unsafe reader.byteString(fields.span.bytes)
      salt = try unsafe reader.byteString(fields.span.bytes)
      try unsafe reader.end(fields.span.bytes)
      guard salt.count == Self.saltCount,
        let parameters = PasswordHash.Parameters(encoded: Data(encoded)), parameters.isAcceptable,
        parameters.memory.isMultiple(of: 1024)
      else { throw FieldReader.Malformed() }
      self.parameters = parameters
    } catch {
      throw .damagedExport("it asks for an absurd password hash")
    }
  }

  var encoded: [UInt8] {
    Self.signature
      + FieldWriter.fields {
        $0.byteString(parameters.encoded)
        $0.byteString(salt)
      }
  }

  /// A later format has another digit in its signature.
  private static func foreign(_ bytes: [UInt8]) -> KeychainError {
    let start = bytes.prefix(signature.count)
    if start.starts(with: signature.dropLast(2)), start.last == signature.last,
      start.dropLast().last.map({ 0x32...0x39 ~= $0 }) ?? false
    {
      return KeychainError(
        .unsupportedFormat, "the export was made by a newer release",
        recovery: "use that release, or a newer one")
    }
    return KeychainError(
      .foreign, "the file is not an export",
      recovery: "name a file that `prefs keychain export` made")
  }
}

/// The key of an export, and what tells whether it is the right one.
struct ExportKey: ~Copyable {
  let head: ExportHead
  let key: SecretBytes

  /// The commitment to the passphrase: bytes that may be shown.
  let commitment: [UInt8]

  static let commitmentCount = 32

  /// Hashes the passphrase, which takes its time.
  init(_ head: ExportHead, passphrase: borrowing SecretBytes) throws(KeychainError) {
    try PasswordHashPolicy.requireMemory(for: head.parameters)
    let input = try SlotSealing.passphraseKey(
      passphrase, salt: Data(head.salt), parameters: head.parameters)
    try self.init(head, inputKey: input)
  }

  init(_ head: ExportHead, inputKey: borrowing SecretBytes) throws(KeychainError) {
    let commitment = Array(try Derivation.tag(inputKey, "pk1/export.check", head.encoded))
    let key = try Derivation.key(inputKey, "pk1/export.kek", head.encoded)
    self.head = head
    self.commitment = commitment
    self.key = key
  }

  /// Fails if the passphrase is not the one that a commitment in a file was made with.
  borrowing func check(_ field: [UInt8]) throws(KeychainError) {
    let expected = FieldWriter.fields { $0.byteString(commitment) }
    guard field.count == expected.count else { throw .damagedExport("it ends too early") }
    guard unsafe ConstantTime.equal(field.span.bytes, expected.span.bytes) else {
      throw KeychainError(.incorrectSecret, "the passphrase does not open the export")
    }
  }

  /// All bytes of the file before the stream.
  var beginning: [UInt8] {
    head.encoded + FieldWriter.fields { $0.byteString(commitment) }
  }
}

extension KeychainError {
  static func damagedExport(_ what: String) -> Self {
    Self(
      .damaged, "the export is damaged: \(what)",
      recovery: "copy it anew, or make another with `prefs keychain export`")
  }
}
