internal import FoundationEssentials
internal import KeychainCredentials
internal import PrephirencesSystem

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

    /// Another program's item with a known name.
    case foreign(Credential)

    /// One of our items, which is damaged.
    case damaged

    /// One of our items, written by a newer release.
    case newerFormat

    /// Another program's item without a known name.
    case unnamed
  }

  /// Reads the attributes of an item, which are enough for one of our items.
  init(path: String, attributes: BusValue) {
    self.init(path: path, properties: .properties([("Attributes", attributes)]))
  }

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

  /// The name of the item in errors, without its secret.
  var name: String { label.isEmpty ? "the item \(path)" : "the item '\(label)' (\(path))" }

  /// The credential, whichever program wrote it; `nil` if it is damaged or has no name.
  var credential: Credential? { ours ?? foreign }

  var ours: Credential? { if case .ours(let credential) = contents { credential } else { nil } }

  var foreign: Credential? {
    if case .foreign(let credential) = contents { credential } else { nil }
  }
}

/// An item of another program, with the names by which it can be found.
struct ForeignItem {
  let attributes: CredentialAttributes
  let label: String
  let created: UInt64?
  let modified: UInt64?

  /// The attribute names for the account: ours, and those of Python, Go and Rust; keytar; git;
  /// KeePassXC.
  static let accountNames = ["username", "account", "user", "UserName", "login"]
  static let serviceNames = [
    "service", "server", "host", "domain", "Title", "URL", "url", "profile",
  ]

  /// The credential under the one name that lists show; `nil` if the item has no known name.
  var credential: Credential? {
    guard let identity else { return nil }
    let attributes = others
    var credential = Credential(
      identity, label: label.isEmpty ? nil : label, attributes: attributes)
    let modified = Self.seconds(modified)
    // Providers count whole seconds, so two changes within a second have the same version.
    credential.restore(
      version: modified * 1_000_000, created: Self.date(Self.seconds(created)),
      modified: Self.date(modified))
    credential.isOfOtherProgram = true
    for (name, value) in self.attributes where !ItemAttributes.provided.contains(name) {
      credential.itemAttributes[name] = value
    }
    return credential
  }

  /// Returns whether a program could have used one of the item's names for the identity.
  static func isAlias(_ attributes: CredentialAttributes, of identity: CredentialIdentity) -> Bool {
    let service: String
    switch identity.kind {
    case .genericPassword(let name, _): service = name
    case .internetPassword(let password):
      service = password.server
      let named = [("protocol", password.protocol), ("object", password.path)]
      for (name, value) in named where !value.isEmpty {
        if let other = attributes[name], !other.hasSameBytes(as: value) { return false }
      }
      if password.port != 0, let port = attributes["port"], port != String(password.port) {
        return false
      }
    }
    return has(serviceNames, service, in: attributes)
      && (has(accountNames, identity.account, in: attributes)
        || identity.account.isEmpty
          && accountNames.allSatisfy { attributes[$0, default: ""] == "" })
  }

  private static func has(
    _ names: [String], _ value: String, in attributes: CredentialAttributes
  ) -> Bool { names.contains { attributes[$0]?.hasSameBytes(as: value) ?? false } }

  private var identity: CredentialIdentity? {
    let account = first(Self.accountNames) ?? ""
    if let service = attributes["service"] {
      return .genericPassword(service: service, account: account)
    }
    if let server = attributes["server"] ?? attributes["host"] {
      // An invalid port is not the usual one.
      guard let port = first(["port"]).map({ UInt16($0) }) ?? 0 else { return nil }
      return CredentialIdentity(
        .internetPassword(
          InternetPassword(
            server: server, protocol: attributes["protocol"] ?? "",
            port: port,
            path: attributes["object"] ?? "", account: account,
            securityDomain: attributes["domain"] ?? "")))
    }
    // KeePassXC adds these to every item, even with empty values.
    guard let service = first(["Title", "URL", "url", "profile", "domain"]) else { return nil }
    return .genericPassword(service: service, account: account)
  }

  /// Returns the first of some attributes that is not empty.
  private func first(_ names: [String]) -> String? {
    names.lazy.compactMap { attributes[$0] }.first { !$0.isEmpty }
  }

  /// The attributes that are not names, and that user attributes may have.
  private var others: CredentialAttributes {
    var result = CredentialAttributes()
    let naming = Set(Self.accountNames + Self.serviceNames + ["object"])
    for (name, value) in attributes
    where !name.isEmpty && !naming.contains(name) && !CredentialQuery.isReserved(name)
      && !ItemAttributes.provided.contains(name)
    {
      result[name] = value
    }
    return result
  }

  /// Limits a provider's seconds, which may be any number, to the end of the year 9999.
  private static func seconds(_ reported: UInt64?) -> UInt64 { min(reported ?? 0, 253_402_300_799) }

  /// Returns the date for a provider's seconds.
  static func date(reported: UInt64?) -> Date? { reported.map { date(seconds($0)) } }

  private static func date(_ seconds: UInt64) -> Date {
    Date(timeIntervalSince1970: Double(seconds))
  }
}

extension CredentialAttributes {
  fileprivate subscript(name: String, default value: String) -> String { self[name] ?? value }
}
