public import Foundation

/// An algorithm that encrypts and decrypts preferences.
///
/// ``SecretCipher`` is a cipher. A conforming type implements ``encrypt(_:)`` and ``decrypt(_:)``;
/// if its algorithm supports associated data, also ``encrypt(_:authenticating:)-(_,CipherContext)``
/// and ``decrypt(_:authenticating:)-(_,CipherContext)``. Preferences use the latter two, with the
/// name of the key as context, so that an encrypted value is not valid under another key.
///
/// A cipher should authenticate: otherwise, a person who cannot read a value can still change it.
public protocol Cipher: Sendable {
  /// Encrypts data, for ``decrypt(_:)``.
  ///
  /// - Throws: The cipher's errors.
  func encrypt(_ data: Data) throws -> Data

  /// Decrypts what ``encrypt(_:)`` returned.
  ///
  /// - Throws: The cipher's errors; for data that it did not encrypt with this key,
  ///   ``CryptoPrephirencesError`` if it can detect that.
  func decrypt(_ data: Data) throws -> Data

  /// Encrypts data so that it can be decrypted only in the same context.
  ///
  /// - Parameter context: Data that is neither encrypted nor stored, but must be the same for
  ///   decryption; a cipher authenticates its ``CipherContext/bytes``.
  /// - Throws: The cipher's errors.
  func encrypt(_ data: Data, authenticating context: CipherContext) throws -> Data

  /// Decrypts data in the context in which it was encrypted.
  ///
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError`` with
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
  /// Encrypts data in a context of the program, see ``CipherContext/init(_:)``.
  ///
  /// - Throws: The cipher's errors.
  public func encrypt(_ data: Data, authenticating context: Data) throws -> Data {
    try encrypt(data, authenticating: CipherContext(context))
  }

  /// Decrypts data in the context of the program in which it was encrypted.
  ///
  /// - Throws: The cipher's errors.
  public func decrypt(_ data: Data, authenticating context: Data) throws -> Data {
    try decrypt(data, authenticating: CipherContext(context))
  }
}

/// A cipher that does not bind values to the names of their keys.
///
/// It is compatible with programs that do not use contexts, and reads values that they encrypted.
/// Anyone who can write the preferences can move a value to another key without being detected.
public struct UnboundCipher: Cipher {
  private let cipher: any Cipher

  /// Creates a cipher that ignores contexts.
  public init(_ cipher: any Cipher) {
    self.cipher = cipher
  }

  /// Encrypts data.
  public func encrypt(_ data: Data) throws -> Data { try cipher.encrypt(data) }

  /// Decrypts data.
  public func decrypt(_ data: Data) throws -> Data { try cipher.decrypt(data) }

  /// Encrypts data and ignores the context.
  public func encrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try cipher.encrypt(data)
  }

  /// Decrypts data and ignores the context.
  public func decrypt(_ data: Data, authenticating context: CipherContext) throws -> Data {
    try cipher.decrypt(data)
  }
}

/// The context in which data is encrypted, and which is needed to decrypt it.
///
/// The contexts of preferences, files and programs are separate: no context of a program can
/// decrypt a value of a preference, or the reverse.
public struct CipherContext: Hashable, Sendable {
  /// The bytes that a cipher authenticates; they are unique to this context.
  public let bytes: Data

  /// No context.
  public static let none = Self(bytes: Data())

  /// The context of a value whose key is unknown.
  static let anyKey = Self(.anyKey)

  /// The context of a file.
  static let file = Self(.file)

  /// The first byte of a context.
  private enum Kind: UInt8 {
    case program, key, anyKey, file
  }

  /// Creates a context of the program from any bytes, which may be empty.
  public init(_ data: Data) { self.init(.program, data) }

  private init(_ kind: Kind, _ data: Data = Data()) { bytes = Data([kind.rawValue]) + data }

  private init(bytes: Data) { self.bytes = bytes }

  /// Returns the context of a key's value.
  static func key(_ key: String) -> Self { Self(.key, Data(key.utf8)) }
}
