internal import Foundation
internal import KeychainCredentials
internal import KeychainSecretService

/// The text of a record: a line that names the format, then lines `name: value`.
extension StorePlace {
  private static let heading = "keychain store "
  private static let version = "1"

  var text: String {
    let lines =
      switch self {
      case .vault: ["store: vault"]
      case .secretService(let collection):
        ["store: secret-service", "collection: \(Self.text(collection))"]
      }
    return ([Self.heading + Self.version] + lines).map { $0 + "\n" }.joined()
  }

  /// Reads a text.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/unsupportedFormat`` if a newer release wrote it,
  ///   or ``KeychainError/Code/damaged``.
  init(text: String, path: String) throws(KeychainError) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    guard let first = lines.first, first.hasPrefix(Self.heading) else { throw .strange(path) }
    guard first == Self.heading + Self.version else {
      throw KeychainError(
        .unsupportedFormat, "\(path) was written by a newer release",
        recovery: "use that release, or " + .nameStore)
    }
    switch lines.dropFirst() {
    case ["store: vault", ""]: self = .vault
    case let rest where rest.count == 3 && rest[1] == "store: secret-service" && rest[3].isEmpty:
      guard let collection = Self.collection(rest[2]) else { throw .strange(path) }
      self = .secretService(collection)
    default: throw .strange(path)
    }
  }

  private static func text(_ collection: SecretServiceStore.Collection) -> String {
    switch collection {
    case .default: "default"
    case .session: "session"
    case .named(let label):
      "label " + (label.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }
  }

  private static func collection(_ line: String) -> SecretServiceStore.Collection? {
    let prefix = "collection: "
    guard line.hasPrefix(prefix) else { return nil }
    let words = line.dropFirst(prefix.count).split(separator: " ", omittingEmptySubsequences: false)
    switch (words.first, words.count) {
    case ("default", 1): return .default
    case ("session", 1): return .session
    case ("label", 2): return String(words[1]).removingPercentEncoding.map { .named($0) }
    default: return nil
    }
  }
}

extension KeychainError {
  fileprivate static func strange(_ path: String) -> Self {
    Self(
      .damaged, "\(path) is damaged: it names no store",
      recovery: .nameStoreAndRemoveRecord)
  }
}
