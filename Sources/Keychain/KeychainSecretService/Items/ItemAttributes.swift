internal import KeychainCredentials

/// The attributes of our items.
///
/// Python's, Go's and Rust's keyring libraries, keytar and others search for those of a generic
/// password; git searches for those of an internet password.
enum ItemAttributes {
  /// The schema, which distinguishes our items from others.
  static let schema = "org.prephirences.Credential"
  static let schemaName = "xdg:schema"
  static let recordName = "prephirences:credential"
  static let accessGroup = "access-group"
  private static let application = (name: "application", value: "prephirences")

  /// All attributes of a credential's item.
  static func all(of credential: Credential, record: String) -> CredentialAttributes {
    var result = searchable(credential.attributes)
    for (name, value) in names(of: credential.identity) { result[name] = value }
    result[application.name] = application.value
    result[accessGroup] = StoredText.encode(credential.identity.accessGroup)
    result["accessibility"] = credential.accessibility.description
    result[schemaName] = schema
    result[recordName] = record
    return result
  }

  /// Returns the attributes of a search for an identity, which other programs' items have, too.
  static func search(for identity: CredentialIdentity) -> CredentialAttributes {
    var result = names(of: identity)
    for name in redundant { result[name] = nil }
    return result
  }

  /// Returns the attributes with an identity's names.
  static func names(of identity: CredentialIdentity) -> CredentialAttributes {
    var result = CredentialAttributes()
    switch identity.kind {
    case .genericPassword(let service, let account):
      result["service"] = StoredText.encode(service)
      result["username"] = StoredText.encode(account)
      result["account"] = result["username"]
    case .internetPassword(let password):
      result["server"] = StoredText.encode(password.server)
      result["user"] = StoredText.encode(password.account)
      result["username"] = result["user"]
      result["account"] = result["user"]
      // Git omits what it does not know.
      if !password.protocol.isEmpty { result["protocol"] = StoredText.encode(password.protocol) }
      if password.port != 0 { result["port"] = String(password.port) }
      if !password.path.isEmpty { result["object"] = StoredText.encode(password.path) }
      if !password.securityDomain.isEmpty {
        result["domain"] = StoredText.encode(password.securityDomain)
      }
    }
    return result
  }

  /// Returns the conditions of a query, as far as attributes can express them; a search must still
  /// compare the results.
  static func search(for query: CredentialQuery) -> CredentialAttributes {
    var result = searchable(query.attributes)
    // Other programs' items belong to the unnamed group, too.
    if let group = query.accessGroup, !group.isEmpty {
      result[accessGroup] = StoredText.encode(group)
    }
    if let service = query.service { result["service"] = StoredText.encode(service) }
    if let server = query.server { result["server"] = StoredText.encode(server) }
    if let name = query.protocol, !name.isEmpty { result["protocol"] = StoredText.encode(name) }
    if let port = query.port, port != 0 { result["port"] = String(port) }
    if let path = query.path, !path.isEmpty { result["object"] = StoredText.encode(path) }
    return result
  }

  /// Returns the user's attributes that other programs may see; the record contains all of them.
  private static func searchable(_ attributes: CredentialAttributes) -> CredentialAttributes {
    var result = CredentialAttributes()
    for (name, value) in attributes where isFree(name) && StoredText.isKeptByEveryone(value) {
      result[name] = value
    }
    return result
  }

  /// Returns whether no provider or other program uses a name in its own way.
  private static func isFree(_ name: String) -> Bool {
    StoredText.isKeptByEveryone(name) && !taken.contains(name)
      && !CredentialQuery.isReserved(name) && !name.hasPrefix("gkr:")
  }

  /// Returns the label that the provider shows, in one line.
  static func label(of credential: Credential) -> String {
    let text = credential.label ?? credential.identity.description
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }

  private static let redundant = ["account", "domain"]
  private static let taken: Set<String> = provided.union([
    "user", "object", "domain", application.name, recordName, "Password", "TOTP", "label",
  ])

  /// The attributes that KeePassXC adds to every item.
  static let provided: Set<String> = ["Title", "UserName", "URL", "Notes", "Uuid", "Path"]
}

extension CredentialQuery {
  static func isReserved(_ name: String) -> Bool { SearchablePair.reservedNames.contains(name) }
}
