public import Foundation

/// In what context data is encrypted: it can be decrypted in the same one only.
///
/// The contexts of preferences, of files and of programs are apart from each other: whatever a program
/// chooses, no value of a preference is decrypted in a context of its own, and the other way round.
public struct CipherContext: Hashable, Sendable {
  /// What a cipher authenticates; no other context has the same bytes.
  public let bytes: Data

  /// No context.
  public static let none = Self(bytes: Data())

  /// A value of no known key.
  static let anyKey = Self(.anyKey)

  /// A file.
  static let file = Self(.file)

  /// The first byte of a context.
  private enum Kind: UInt8 {
    case program, key, anyKey, file
  }

  /// A context of a program's own.
  ///
  /// - Parameter data: Any bytes, none included.
  public init(_ data: Data) { self.init(.program, data) }

  private init(_ kind: Kind, _ data: Data = Data()) { bytes = Data([kind.rawValue]) + data }

  private init(bytes: Data) { self.bytes = bytes }

  /// A value of a key.
  static func key(_ key: String) -> Self { Self(.key, Data(key.utf8)) }
}
