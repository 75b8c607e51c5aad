internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// A value in its stored form: bytes, and a content type that says how to read them.
///
/// | value | content type | bytes |
/// | --- | --- | --- |
/// | text | `text/plain; charset=utf-8` | UTF-8 |
/// | data | `application/octet-stream` | as they are |
/// | number, date, URL, UUID | `text/plain; charset=utf-8; type=Int` … | as text, see `StoredScalar` |
/// | array, dictionary | `application/json; type=Array` or `Dictionary` | JSON, see `StoredNode` |
/// | any other `Codable` | `application/json; type=` and its mangled name | JSON |
///
/// Dates are in ISO 8601, see `StoredDate`; seconds since 2001 can be read, too.
///
/// An item without a content type comes from another program: it is text if it is valid UTF-8, and
/// data otherwise.
struct StoredValue: Sendable {
  /// The identity for errors; `nil` before it is stored.
  let identity: CredentialIdentity?

  let contentType: String?
  let secret: SharedSecret

  init(identity: CredentialIdentity? = nil, contentType: String?, secret: SharedSecret) {
    self.identity = identity
    self.contentType = contentType
    self.secret = secret
  }

  /// The name of the value in errors.
  var subject: String { identity.map { "the value of \($0)" } ?? "the stored value" }

  /// The bytes, outside guarded memory.
  var data: Data { secret.bytes.withBytes { Data($0.array) } }

  /// The bytes as text.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` if they are not UTF-8.
  func string() throws(KeychainError) -> String {
    guard let text else { throw .undecodable("\(subject) is not UTF-8 text") }
    return text
  }

  var text: String? { secret.bytes.withBytes { $0.text } }

  var mediaType: StoredMediaType? { contentType.map(StoredMediaType.init(parsing:)) }
}

extension KeychainError {
  static func undecodable(_ message: String) -> Self {
    Self(
      .undecodable, message, recovery: "read it as the type that was stored, or store it again")
  }

  static func unstorable(_ type: Any.Type) -> Self {
    Self(
      .invalidArgument, "a value of the type \(type) cannot be stored",
      recovery: "make the type Codable, or store its data")
  }
}
