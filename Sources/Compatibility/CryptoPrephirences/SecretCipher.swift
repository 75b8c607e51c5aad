public import Foundation
public import KeychainSecrets
internal import PrephirencesSystem

/// Authenticated encryption with a key or a passphrase.
///
/// ```swift
/// let cipher = try SecretCipher(passphrase: SecretBytes(copying: "correct horse"))
/// preferences["token", .cipher(cipher)] = "secret"
/// ```
///
/// Encrypted data is a header, which distinguishes a wrong key from damage, and a ``SecretBox``
/// (XSalsa20-Poly1305) with a key derived from the secret and the context. It reveals the length of
/// the data, and which data was encrypted with the same key.
///
/// It is safe to use from several threads.
public final class SecretCipher: Cipher {
  private let keys: any CipherKeys

  /// Creates a cipher from a key.
  ///
  /// - Parameter key: 32 random bytes, for example from ``SecretBytes/random(count:)``.
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unavailable`` if the
  ///   key has another length.
  public init(key: consuming SecretBytes) throws(CryptoPrephirencesError) {
    keys = try CipherKey(header: .key, secret: key)
  }

  /// Creates a cipher from a passphrase; Argon2id derives the keys.
  ///
  /// A key is derived when it is first needed, with the time and memory of the parameters, and then
  /// kept. Its salt is stored in the encrypted data. A cipher continues to use the salt of the
  /// first data that it decrypts, or else creates a new one, so read before you write. Otherwise,
  /// every run of the program adds a salt, and reading all values needs one more derivation for
  /// each.
  ///
  /// Anyone who can write the preferences can invent salts. A cipher therefore derives no keys at a
  /// higher cost than its own, in memory or in passes, and tries no new salts after 8 that
  /// decrypted nothing.
  ///
  /// - Parameter parameters: The cost of a guess for new salts, and the highest accepted cost for
  ///   existing ones.
  public init(
    passphrase: consuming SecretBytes, parameters: PasswordHash.Parameters = .moderate
  ) {
    keys = PassphraseKeys(passphrase, parameters)
  }

  /// Encrypts data without a context.
  ///
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unavailable``.
  public func encrypt(_ data: Data) throws -> Data { try encrypt(data, authenticating: .none) }

  /// Decrypts data without a context.
  ///
  /// - Throws: The errors of ``decrypt(_:authenticating:)-(_,CipherContext)``.
  public func decrypt(_ data: Data) throws -> Data { try decrypt(data, authenticating: .none) }

  /// Encrypts data so that it can be decrypted only in the same context.
  ///
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unavailable``.
  public func encrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try CryptoPrephirencesError.converting {
      try keys.forEncrypting().encrypt(data, context.bytes)
    }
  }

  /// Decrypts data.
  ///
  /// - Parameter context: The context in which it was encrypted.
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/wrongKey``,
  ///   ``CryptoPrephirencesError/Code/damaged``, ``CryptoPrephirencesError/Code/notEncrypted``,
  ///   ``CryptoPrephirencesError/Code/unsupported``, or
  ///   ``CryptoPrephirencesError/Code/unavailable``, which is also the code for costs and numbers
  ///   of salts that exceed the limits.
  public func decrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try CryptoPrephirencesError.converting {
      let (header, body) = try CipherHeader.split(data)
      let key = try keys.forDecrypting(header)
      let plain = try key.decrypt(body, context.bytes)
      keys.note(key)
      return plain
    }
  }
}

/// The keys of a cipher.
protocol CipherKeys: Sendable {
  func forEncrypting() throws -> CipherKey

  func forDecrypting(_ header: CipherHeader) throws -> CipherKey

  /// Records a key that has decrypted data.
  func note(_ key: CipherKey)
}

/// The start of encrypted data, which describes its key.
///
/// | bytes | mean |
/// | --- | --- |
/// | 4 | `PKC1` |
/// | 1 | 0 a key, 1 a passphrase |
/// | 8, 4, 16 | of a passphrase: memory in bytes, passes, salt; numbers are little-endian |
/// | 16 | check: ``CipherKey`` |
/// | 40 and the length of the data | a `SecretBox` |
enum CipherHeader: Hashable {
  case key
  case passphrase(PasswordHash.Parameters, salt: [UInt8])

  private static let magic = Data("PKC".utf8)
  private static let version = UInt8(ascii: "1")

  var bytes: Data {
    var bytes = Self.magic + [Self.version]
    switch self {
    case .key: bytes.append(0)
    case .passphrase(let parameters, let salt):
      bytes.append(1)
      bytes.append(littleEndian: parameters.memory)
      bytes.append(littleEndian: parameters.passes)
      bytes.append(contentsOf: salt)
    }
    return bytes
  }

  /// Splits encrypted data into its header and the rest.
  static func split(_ data: Data) throws -> (CipherHeader, Data) {
    guard data.starts(with: magic) else {
      throw CryptoPrephirencesError(.notEncrypted, "the data is not encrypted by this cipher")
    }
    var rest = PlainReader(data.dropFirst(magic.count))
    do {
      guard try rest.byte() == version else { throw CryptoPrephirencesError.newer }
      switch try rest.byte() {
      case 0: return (.key, rest.rest)
      case 1:
        let parameters = PasswordHash.Parameters(
          memory: try rest.integer(), passes: try rest.integer())
        let salt = try rest.bytes(PasswordHash.saltCount)
        return (.passphrase(parameters, salt: [UInt8](salt)), rest.rest)
      default: throw CryptoPrephirencesError.newer
      }
    } catch let error as CryptoPrephirencesError {
      throw error
    } catch {
      throw CryptoPrephirencesError.truncated
    }
  }
}

extension CryptoPrephirencesError {
  fileprivate static var newer: Self {
    Self(.unsupported, "the data is encrypted in a newer form, or damaged")
  }
}

/// A key of 32 bytes, and the header of data encrypted with it.
///
/// The check is `D(secret, "pc1/check", header)[0..<16]` and follows the header; the key of the box
/// is `D(secret, "pc1/message", header ‖ context)`, where `D` is ``KeyDerivation``.
final class CipherKey: CipherKeys {
  private static let checkCount = 16

  let header: CipherHeader
  private let secret: SecretBytes
  private let check: Data

  init(header: CipherHeader, secret: consuming SecretBytes) throws(CryptoPrephirencesError) {
    guard secret.count == SecretBox.keyCount else {
      throw CryptoPrephirencesError(.unavailable, "a cipher key must have 32 bytes")
    }
    self.header = header
    check = try Self.check(of: secret, header)
    self.secret = secret
  }

  func encrypt(_ data: Data, _ context: Data) throws -> Data {
    let message = try SecretBytes(copying: data.span.bytes)
    return header.bytes + check + Data(try SecretBox.seal(message, with: messageKey(context)))
  }

  func decrypt(_ body: Data, _ context: Data) throws -> Data {
    guard body.count >= Self.checkCount + SecretBox.overhead else {
      throw CryptoPrephirencesError.truncated
    }
    guard Data(body.prefix(Self.checkCount)) == check else {
      throw CryptoPrephirencesError(.wrongKey, "the key or passphrase is wrong")
    }
    let box = Data(body.dropFirst(Self.checkCount))
    let message = try SecretBox.open(box.span.bytes, with: messageKey(context))
    return message.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
  }

  func forEncrypting() -> CipherKey { self }

  func forDecrypting(_ header: CipherHeader) throws -> CipherKey {
    guard header == self.header else {
      throw CryptoPrephirencesError(.wrongKey, "the data is encrypted with a passphrase")
    }
    return self
  }

  func note(_ key: CipherKey) {}

  private func messageKey(_ context: Data) throws -> SecretBytes {
    let fields = header.bytes + context
    return try KeyDerivation.key(from: secret, label: "pc1/message", fields: fields.span.bytes)
  }

  private static func check(
    of secret: borrowing SecretBytes, _ header: CipherHeader
  ) throws(CryptoPrephirencesError) -> Data {
    let fields = header.bytes
    do throws(KeychainError) {
      let tag = try KeyDerivation.tag(from: secret, label: "pc1/check", fields: fields.span.bytes)
      return Data(tag.prefix(checkCount))
    } catch {
      throw CryptoPrephirencesError(error)
    }
  }
}

extension CryptoPrephirencesError {
  /// Performs a call, and converts the errors of `KeychainSecrets`.
  fileprivate static func converting<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as KeychainError {
      throw Self(error)
    }
  }

  fileprivate init(_ error: KeychainError) {
    self = error.code == .damaged ? .foreignContext : Self(.unavailable, error.message)
  }
}

/// The keys of a passphrase: one for each salt.
final class PassphraseKeys: CipherKeys {
  private struct State {
    var known: [CipherHeader: CipherKey] = [:]

    /// The headers whose keys have not decrypted anything yet.
    var unproven: Set<CipherHeader> = []
    var writing: CipherKey?
  }

  private static let greatestCount = 32

  /// Anyone who can write the preferences can invent salts, and each costs a derivation.
  private static let greatestUnprovenCount = 8

  private let passphrase: SecretBytes
  private let parameters: PasswordHash.Parameters

  // Held during a derivation: two at the same time would need twice the memory.
  private let state = PosixMutex(State())

  init(_ passphrase: consuming SecretBytes, _ parameters: PasswordHash.Parameters) {
    self.passphrase = passphrase
    self.parameters = parameters
  }

  func forEncrypting() throws -> CipherKey {
    try state.withLock { state in
      if let key = state.writing { return key }
      let key = try derive(.passphrase(parameters, salt: Self.freshSalt()))
      state.writing = key
      state.known[key.header] = key
      return key
    }
  }

  func forDecrypting(_ header: CipherHeader) throws -> CipherKey {
    guard case .passphrase(let cost, _) = header else {
      throw CryptoPrephirencesError(.wrongKey, "the data is encrypted with a key, not a passphrase")
    }
    guard cost.memory <= parameters.memory, cost.passes <= parameters.passes else {
      throw CryptoPrephirencesError.costly
    }
    return try state.withLock { state in
      if let key = state.known[header] { return key }
      guard state.unproven.count < Self.greatestUnprovenCount else {
        throw CryptoPrephirencesError.manySalts
      }
      let key = try derive(header)
      // Keep the keys that decrypted nothing; otherwise they would be derived again.
      if state.known.count >= Self.greatestCount {
        state.known = state.known.filter { state.unproven.contains($0.key) }
      }
      state.known[header] = key
      state.unproven.insert(header)
      return key
    }
  }

  func note(_ key: CipherKey) {
    state.withLock { state in
      state.unproven.remove(key.header)
      if case .passphrase(parameters, _) = key.header, state.writing == nil { state.writing = key }
    }
  }

  private func derive(_ header: CipherHeader) throws -> CipherKey {
    guard case .passphrase(let parameters, let salt) = header else {
      throw CryptoPrephirencesError.truncated
    }
    let secret = try PasswordHash.key(passphrase: passphrase, salt: salt, parameters: parameters)
    return try CipherKey(header: header, secret: secret)
  }

  private static func freshSalt() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<PasswordHash.saltCount).map { _ in generator.next() }
  }
}

extension CryptoPrephirencesError {
  fileprivate static var costly: Self {
    Self(.unavailable, "the passphrase is hashed at a higher cost than this cipher allows")
  }

  fileprivate static var manySalts: Self {
    Self(
      .unavailable,
      "too many values are encrypted with other passphrases, or with invented salts")
  }
}
