internal import Foundation

/// The media type of a stored value, with the parameter that names the value's type.
struct StoredMediaType: Sendable {
  /// The media type without parameters, in lower case.
  let name: String

  /// The value of the parameter `type`.
  let type: String?

  static let text = "text/plain"
  static let data = "application/octet-stream"
  static let json = "application/json"

  init(parsing contentType: String) {
    let parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    name = parts.first?.lowercased() ?? ""
    type = parts.dropFirst().first { $0.hasPrefix("type=") }.map { String($0.dropFirst(5)) }
  }

  /// Returns the content type of text, or of a value that is written as text.
  static func text(type: String? = nil) -> String {
    "\(text); charset=utf-8" + (type.map { "; type=\($0)" } ?? "")
  }

  /// Returns the content type of JSON.
  static func json(type: String?) -> String {
    json + (type.map { "; type=\($0)" } ?? "")
  }
}
