public import Foundation

/// The context in which data is encrypted.
///
/// Decryption needs the same context.
///
/// The contexts of preferences, files and programs are separate: whatever context a program
/// chooses, it cannot decrypt a value of a preference in it, or the reverse.
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

  /// Creates a context of the program.
  ///
  /// - Parameter data: Any bytes; may be empty.
  public init(_ data: Data) { self.init(.program, data) }

  private init(_ kind: Kind, _ data: Data = Data()) { bytes = Data([kind.rawValue]) + data }

  private init(bytes: Data) { self.bytes = bytes }

  /// Returns the context of a key's value.
  static func key(_ key: String) -> Self { Self(.key, Data(key.utf8)) }
}
