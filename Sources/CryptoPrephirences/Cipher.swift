public import Foundation

/// What encrypts and decrypts preferences.
///
/// ``SecretCipher`` is one. A conforming type gives ``encrypt(_:)`` and ``decrypt(_:)``; one whose
/// algorithm takes associated data gives ``encrypt(_:authenticating:)-(_,CipherContext)`` and
/// ``decrypt(_:authenticating:)-(_,CipherContext)``, too. Preferences are encrypted by the latter two,
/// with the name of the key as context, so that an encrypted value is none under another key.
///
/// A cipher should authenticate: without that, somebody who cannot read a value can still change it.
public protocol Cipher: Sendable {
  /// Encrypts data.
  ///
  /// - Parameter data: The data.
  /// - Returns: What ``decrypt(_:)`` takes.
  /// - Throws: What the cipher throws.
  func encrypt(_ data: Data) throws -> Data

  /// Decrypts what ``encrypt(_:)`` returned.
  ///
  /// - Parameter data: The encrypted data.
  /// - Returns: The data.
  /// - Throws: What the cipher throws; for data that it did not make under this key,
  ///   ``CryptoPrephirencesError`` where it can tell.
  func decrypt(_ data: Data) throws -> Data

  /// Encrypts data so that it can be decrypted in the same context only.
  ///
  /// - Parameters:
  ///   - data: The data.
  ///   - context: What is not encrypted and not stored, but must be the same again; a cipher
  ///     authenticates its ``CipherContext/bytes``.
  /// - Returns: What ``decrypt(_:authenticating:)-(_,CipherContext)`` takes.
  /// - Throws: What the cipher throws.
  func encrypt(_ data: Data, authenticating context: CipherContext) throws -> Data

  /// Decrypts what ``encrypt(_:authenticating:)-(_,CipherContext)`` returned.
  ///
  /// - Parameters:
  ///   - data: The encrypted data.
  ///   - context: The context in which it was encrypted.
  /// - Returns: The data.
  /// - Throws: What the cipher throws, and ``CryptoPrephirencesError`` with
  ///   ``CryptoPrephirencesError/Code/damaged`` in another context.
  func decrypt(_ data: Data, authenticating context: CipherContext) throws -> Data
}

extension Cipher {
  /// Encrypts the context together with the data.
  public func encrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try encrypt(Self.frame(context) + data)
  }

  /// Decrypts data, and checks the context that was encrypted with it.
  public func decrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    let framed = try decrypt(data)
    let frame = Self.frame(context)
    guard framed.starts(with: frame) else { throw CryptoPrephirencesError.foreignContext }
    return Data(framed.dropFirst(frame.count))
  }

  private static func frame(_ context: CipherContext) -> Data {
    withUnsafeBytes(of: UInt64(context.bytes.count).littleEndian) { Data($0) } + context.bytes
  }
}

extension Cipher {
  /// Encrypts data in a context of the program's own: ``CipherContext/init(_:)``.
  ///
  /// - Parameters:
  ///   - data: The data.
  ///   - context: What must be the same again.
  /// - Returns: What ``decrypt(_:authenticating:)-(_,Data)`` takes.
  /// - Throws: What the cipher throws.
  public func encrypt(_ data: Data, authenticating context: Data) throws -> Data {
    try encrypt(data, authenticating: CipherContext(context))
  }

  /// Decrypts what ``encrypt(_:authenticating:)-(_,Data)`` returned.
  ///
  /// - Parameters:
  ///   - data: The encrypted data.
  ///   - context: The context in which it was encrypted.
  /// - Returns: The data.
  /// - Throws: What the cipher throws.
  public func decrypt(_ data: Data, authenticating context: Data) throws -> Data {
    try decrypt(data, authenticating: CipherContext(context))
  }
}

/// A cipher whose values do not depend on the names of their keys.
///
/// It reads and writes values as programs do that know no context: with it, values that such a
/// program encrypted can be read. Somebody who can write the preferences can move its values from
/// one key to another unnoticed.
public struct UnboundCipher: Cipher {
  private let cipher: any Cipher

  /// Makes a cipher that ignores contexts.
  ///
  /// - Parameter cipher: The cipher that encrypts and decrypts.
  public init(_ cipher: any Cipher) {
    self.cipher = cipher
  }

  /// Encrypts data.
  public func encrypt(_ data: Data) throws -> Data { try cipher.encrypt(data) }

  /// Decrypts data.
  public func decrypt(_ data: Data) throws -> Data { try cipher.decrypt(data) }

  /// Encrypts data, in any context.
  public func encrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try cipher.encrypt(data)
  }

  /// Decrypts data, in any context.
  public func decrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try cipher.decrypt(data)
  }
}
