public import Foundation
public import KeychainSecrets

/// Authenticated encryption with a key or a passphrase.
///
/// ```swift
/// let cipher = try SecretCipher(passphrase: SecretBytes(copying: "correct horse"))
/// preferences["token", .cipher(cipher)] = "secret"
/// ```
///
/// Encrypted data is a header, which tells a wrong key from damage, and a ``SecretBox``
/// (XSalsa20-Poly1305) under a key that is derived from the secret and the context. It reveals the
/// length of the data, and which data was encrypted with the same key.
///
/// Any number of threads may use one at a time.
public final class SecretCipher: Cipher {
  private let keys: any CipherKeys

  /// Makes a cipher of a key.
  ///
  /// - Parameter key: 32 random bytes, as of ``SecretBytes/random(count:)``.
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unavailable`` if the
  ///   key is of another length.
  public init(key: consuming SecretBytes) throws(CryptoPrephirencesError) {
    keys = try CipherKey(header: .key, secret: key)
  }

  /// Makes a cipher of a passphrase, from which keys are derived by Argon2id.
  ///
  /// A key is derived when it is needed, which takes the time and memory that the parameters say,
  /// and kept. Its salt is in what is encrypted: a cipher goes on with the salt of the first data
  /// that it decrypts, else it makes a new one. So read before you write, or every run of the
  /// program adds a salt, and with it the time of one more derivation for whoever reads all.
  ///
  /// Who can write the preferences can invent salts. So a cipher derives no key at a higher cost than
  /// its own, in memory or in passes, and after 8 salts with which nothing could be decrypted it tries
  /// no more new ones.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase.
  ///   - parameters: The cost of a guess, for new salts, and the highest one for salts that are read.
  public init(
    passphrase: consuming SecretBytes, parameters: PasswordHash.Parameters = .moderate
  ) {
    keys = PassphraseKeys(passphrase, parameters)
  }

  /// Encrypts data, for no context.
  ///
  /// - Parameter data: The data.
  /// - Returns: The encrypted data.
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unavailable``.
  public func encrypt(_ data: Data) throws -> Data { try encrypt(data, authenticating: .none) }

  /// Decrypts data of no context.
  ///
  /// - Parameter data: The encrypted data.
  /// - Returns: The data.
  /// - Throws: As ``decrypt(_:authenticating:)-(_,CipherContext)``.
  public func decrypt(_ data: Data) throws -> Data { try decrypt(data, authenticating: .none) }

  /// Encrypts data so that it can be decrypted in the same context only.
  ///
  /// - Parameters:
  ///   - data: The data.
  ///   - context: The context.
  /// - Returns: The encrypted data.
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unavailable``.
  public func encrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try keys.forEncrypting().encrypt(data, context.bytes)
  }

  /// Decrypts data.
  ///
  /// - Parameters:
  ///   - data: The encrypted data.
  ///   - context: The context in which it was encrypted.
  /// - Returns: The data.
  /// - Throws: ``CryptoPrephirencesError``: ``CryptoPrephirencesError/Code/wrongKey``,
  ///   ``CryptoPrephirencesError/Code/damaged``, ``CryptoPrephirencesError/Code/notEncrypted``,
  ///   ``CryptoPrephirencesError/Code/unsupported``, or
  ///   ``CryptoPrephirencesError/Code/unavailable``, which is the code for costs and numbers of salts
  ///   beyond the limits, too.
  public func decrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    let (header, body) = try CipherHeader.split(data)
    let key = try keys.forDecrypting(header)
    let plain = try key.decrypt(body, context.bytes)
    keys.note(key)
    return plain
  }
}

/// The keys of a cipher.
protocol CipherKeys: Sendable {
  func forEncrypting() throws(CryptoPrephirencesError) -> CipherKey

  func forDecrypting(_ header: CipherHeader) throws(CryptoPrephirencesError) -> CipherKey

  /// Is told a key that was right.
  func note(_ key: CipherKey)
}
