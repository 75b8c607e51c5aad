internal import FoundationEssentials
internal import KeychainCredentials

/// An item of the provider, as it was read.
struct ServiceItem {
  let path: String
  let isLocked: Bool
  private let shownLabel: String
  let attributes: CredentialAttributes
  let contents: Contents

  /// The dates from the provider, if they were requested.
  let created: Date?
  let modified: Date?

  /// The owner of the item, and its contents.
  enum Contents {
    /// One of our items.
    case ours(Credential)

    /// Another program's item, which has a known name.
    case foreign(Credential)

    /// One of our items, which is damaged.
    case damaged

    /// One of our items, written by a newer release.
    case newerFormat

    /// Another program's item, which has no known name.
    case unnamed
  }

  /// Reads the attributes of an item, which are enough for one of our items.
  init(path: String, attributes: BusValue) {
    self.init(path: path, properties: .properties([("Attributes", attributes)]))
  }

  /// Reads the properties of an item.
  init(path: String, properties: BusValue) {
    self.path = path
    isLocked = properties["Locked"]?.bool ?? false
    let label = properties["Label"]?.text ?? ""
    shownLabel = label
    created = ForeignItem.date(reported: properties["Created"]?.number)
    modified = ForeignItem.date(reported: properties["Modified"]?.number)
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
    (value?.pairs ?? []).compactMap { pair in
      guard let name = pair.key.text, let value = pair.value.text else { return nil }
      return (name, value)
    }
  }

  /// The label that the provider shows; for our items, the label that we gave it.
  var label: String { ours.map { ItemAttributes.label(of: $0) } ?? shownLabel }

  /// The name of the item in errors, which never contains its secret.
  var name: String { label.isEmpty ? "the item \(path)" : "the item '\(label)' (\(path))" }

  /// The credential, whichever program wrote it; `nil` if it is damaged or has no name.
  var credential: Credential? { ours ?? foreign }

  var ours: Credential? { if case .ours(let credential) = contents { credential } else { nil } }

  var foreign: Credential? {
    if case .foreign(let credential) = contents { credential } else { nil }
  }
}
