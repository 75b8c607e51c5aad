public import Foundation
public import KeychainSecrets

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
  /// kept. Its salt is stored in the encrypted data: a cipher continues to use the salt of the
  /// first data that it decrypts, or else creates a new one. So read before you write; otherwise
  /// every run of the program adds a salt, and readers of all values need one more derivation for
  /// it.
  ///
  /// A person who can write the preferences can invent salts. So a cipher does not derive keys at a
  /// higher cost than its own, in memory or in passes, and after 8 salts that decrypted nothing it
  /// tries no more new ones.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase.
  ///   - parameters: The cost of a guess for new salts, and the highest accepted cost for existing
  ///     ones.
  public init(
    passphrase: consuming SecretBytes, parameters: PasswordHash.Parameters = .moderate
  ) {
    keys = PassphraseKeys(passphrase, parameters)
  }

  /// Encrypts data without a context.
  ///
  /// - Parameter data: The data.
  /// - Returns: The encrypted data.
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unavailable``.
  public func encrypt(_ data: Data) throws -> Data { try encrypt(data, authenticating: .none) }

  /// Decrypts data without a context.
  ///
  /// - Parameter data: The encrypted data.
  /// - Returns: The data.
  /// - Throws: The errors of ``decrypt(_:authenticating:)-(_,CipherContext)``.
  public func decrypt(_ data: Data) throws -> Data { try decrypt(data, authenticating: .none) }

  /// Encrypts data so that it can be decrypted only in the same context.
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
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/wrongKey``,
  ///   ``CryptoPrephirencesError/Code/damaged``, ``CryptoPrephirencesError/Code/notEncrypted``,
  ///   ``CryptoPrephirencesError/Code/unsupported``, or
  ///   ``CryptoPrephirencesError/Code/unavailable``, which is also the code for costs and numbers
  ///   of salts that exceed the limits.
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

  /// Records a key that was right.
  func note(_ key: CipherKey)
}
