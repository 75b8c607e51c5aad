internal import Foundation
internal import KeychainCredentials

/// An item of the provider, as it was read.
struct ServiceItem {
  let path: String
  let isLocked: Bool
  let label: String
  let attributes: CredentialAttributes
  let contents: Contents

  /// Whose item it is, and what it says.
  enum Contents {
    /// One of ours.
    case ours(Credential)

    /// Another program's, which can be named.
    case foreign(Credential)

    /// One of ours that cannot be understood.
    case damaged

    /// One of ours, written by a newer release.
    case newerFormat

    /// Another program's, which has no name that we know.
    case unnamed
  }

  /// Reads the properties of an item.
  init(path: String, properties: BusValue) {
    self.path = path
    isLocked = properties["Locked"]?.bool ?? false
    label = properties["Label"]?.text ?? ""
    var attributes = CredentialAttributes()
    for pair in Self.pairs(properties["Attributes"]) { attributes[pair.name] = pair.value }
    self.attributes = attributes
    if let record = attributes[ItemAttributes.recordName] {
      contents =
        switch CredentialRecord.read(record) {
        case .credential(let credential): .ours(credential)
        case .damaged: .damaged
        case .newerFormat: .newerFormat
        }
    } else {
      contents =
        ForeignItem(
          attributes: attributes, label: label, created: properties["Created"]?.number,
          modified: properties["Modified"]?.number
        ).credential.map { .foreign($0) } ?? .unnamed
    }
  }

  private static func pairs(_ value: BusValue?) -> [(name: String, value: String)] {
    guard case .variant(let dictionary)? = value else { return [] }
    return dictionary.pairs.compactMap { pair in
      guard let name = pair.key.text, let value = pair.value.text else { return nil }
      return (name, value)
    }
  }

  /// How errors name the item: never by a value of its secret.
  var name: String { label.isEmpty ? "the item \(path)" : "the item '\(label)' (\(path))" }

  var ours: Credential? { if case .ours(let credential) = contents { credential } else { nil } }

  var foreign: Credential? {
    if case .foreign(let credential) = contents { credential } else { nil }
  }
}
