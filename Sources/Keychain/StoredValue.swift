internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// A value in the form in which a store keeps it: bytes, and a content type that says how to read
/// them.
///
/// | value | content type | bytes |
/// | --- | --- | --- |
/// | text | `text/plain; charset=utf-8` | UTF-8 |
/// | data | `application/octet-stream` | as they are |
/// | number, date, URL, UUID | `text/plain; charset=utf-8; type=Int` … | as text, see `StoredScalar` |
/// | array, dictionary | `application/json; type=Array` or `Dictionary` | JSON, see `StoredNode` |
/// | any other `Codable` | `application/json; type=` and its mangled name | JSON |
///
/// An item without a content type is from another program: it is text if it is valid UTF-8, and
/// data otherwise.
struct StoredValue: Sendable {
  let contentType: String?
  let secret: SharedSecret

  init(contentType: String?, secret: SharedSecret) {
    self.contentType = contentType
    self.secret = secret
  }

  /// The bytes, outside guarded memory.
  var data: Data { secret.bytes.withBytes { Data($0.array) } }

  /// The bytes as text.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` if they are not UTF-8.
  func string() throws(KeychainError) -> String {
    guard let text else { throw .undecodable("the value is not UTF-8 text") }
    return text
  }

  var text: String? { secret.bytes.withBytes { $0.text } }

  var mediaType: StoredMediaType? { contentType.map(StoredMediaType.init(parsing:)) }
}

extension KeychainError {
  static func undecodable(_ message: String) -> Self { Self(.undecodable, message) }

  static func unstorable(_ type: Any.Type) -> Self {
    Self(
      .invalidArgument, "a value of the type \(type) cannot be stored",
      recovery: "make the type Codable, or store its data")
  }
}
