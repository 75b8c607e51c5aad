internal import PrephirencesSystem

/// The conditions of a search; a credential must match all of them.
///
/// ```swift
/// let found = try store.search(
///   CredentialQuery(service: "mytool", attributes: ["environment": "staging"]))
/// for credential in found.credentials { print(credential.identity) }
/// ```
public struct CredentialQuery: Hashable, Sendable {
  /// Only credentials of this access group; `nil` for any.
  public var accessGroup: String?

  /// Only generic passwords of this service.
  public var service: String?

  /// Only internet passwords of this server.
  public var server: String?

  /// Only internet passwords with this protocol.
  public var `protocol`: String?

  /// Only internet passwords with this port.
  public var port: UInt16?

  /// Only internet passwords with this path.
  public var path: String?

  /// Only credentials of this account.
  public var account: String?

  /// Only credentials that have all of these pairs.
  public var attributes: CredentialAttributes

  /// Creates a query; a condition that is `nil` or left out matches anything; the empty access
  /// group is the unnamed one.
  public init(
    accessGroup: String? = nil, service: String? = nil, server: String? = nil,
    protocol: String? = nil, port: UInt16? = nil, path: String? = nil, account: String? = nil,
    attributes: CredentialAttributes = [:]
  ) {
    self.accessGroup = accessGroup
    self.service = service
    self.server = server
    self.protocol = `protocol`
    self.port = port
    self.path = path
    self.account = account
    self.attributes = attributes
  }

  /// Returns whether a credential meets every condition; names compare as bytes.
  public func matches(_ credential: Credential) -> Bool {
    func allows(_ condition: String?, _ name: String) -> Bool {
      condition.map(name.hasSameBytes) ?? true
    }
    let identity = credential.identity
    let allowsKind =
      switch identity.kind {
      case .genericPassword(let name, _):
        allows(service, name) && server == nil && self.protocol == nil && port == nil && path == nil
      case .internetPassword(let password):
        service == nil && allows(server, password.server)
          && allows(self.protocol, password.protocol) && (port ?? password.port) == password.port
          && allows(path, password.path)
      }
    return allowsKind && allows(accessGroup, identity.accessGroup)
      && allows(account, identity.account) && credential.attributes.contains(attributes)
  }

  /// The conditions on identities, without the attributes.
  package var conditions: [SearchablePair] {
    let named: [(String, String?)] = [
      (SearchablePair.accessGroup, accessGroup), (SearchablePair.service, service),
      (SearchablePair.server, server), (SearchablePair.protocol, self.protocol),
      (SearchablePair.port, port.map { String($0) }), (SearchablePair.path, path),
      (SearchablePair.account, account),
    ]
    return named.compactMap { name, value in value.map { SearchablePair(name: name, value: $0) } }
  }

  /// Every condition, including the attributes.
  package var pairs: [SearchablePair] {
    conditions + attributes.map { SearchablePair(name: $0.name, value: $0.value) }
  }

  /// Compares the conditions as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.pairs.elementsEqual(right.pairs) { $0.name.hasSameBytes(as: $1.name) && $0.has($1.value) }
  }

  /// Hashes the conditions as bytes.
  public func hash(into hasher: inout Hasher) {
    for pair in pairs {
      pair.name.hashUTF8(into: &hasher)
      pair.value.hashUTF8(into: &hasher)
    }
  }
}

/// A name and a value by which a credential can be found.
package struct SearchablePair: Sendable {
  package let name: String
  package let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  func has(_ other: String) -> Bool { value.hasSameBytes(as: other) }

  package static let accessGroup = "access-group"
  package static let service = "service"
  package static let account = "account"
  package static let server = "server"
  package static let `protocol` = "protocol"
  package static let port = "port"
  package static let path = "path"
  package static let securityDomain = "security-domain"
  package static let authenticationType = "authentication-type"

  /// The attribute names that stores use, so that users must not.
  ///
  /// The vault and export formats define them: adding a name would make items that use it
  /// unreadable.
  package static let reservedNames: Set<String> = [
    accessGroup, service, account, server, `protocol`, port, path, "username", "accessibility",
    securityDomain, authenticationType, "xdg:schema",
  ]
}

/// Searches that must find exactly one credential, or none.
package struct CredentialSearcher {
  private let store: any CredentialStore
  private let unlock: (CredentialQuery) throws(KeychainError) -> Void
  private let unlocking: (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery

  package init(
    store: any CredentialStore,
    unlock: @escaping (CredentialQuery) throws(KeychainError) -> Void,
    unlocking: @escaping (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery
  ) {
    self.store = store
    self.unlock = unlock
    self.unlocking = unlocking
  }

  package func credentials(
    matching query: CredentialQuery, where isMatch: (Credential) -> Bool
  ) throws(KeychainError) -> [Credential] {
    try matches(of: query) { credential, _ in isMatch(credential) ? credential : nil }
  }

  /// Returns what `match` makes of the credentials that match a query, without those that it
  /// refuses.
  package func matches<Match>(
    of query: CredentialQuery, _ match: (Credential, FoundCredentials) -> Match?
  ) throws(KeychainError) -> [Match] {
    var all = try store.find(query)
    var found = all.result.credentials.compactMap { match($0, all) }
    if found.isEmpty, all.result.lockedCount > 0 {
      // The search does not unlock by itself, because it cannot know whether that would help.
      try unlock(query)
      all = try store.find(query)
      found = all.result.credentials.compactMap { match($0, all) }
    }
    guard found.isEmpty else { return found }
    let result = all.result
    let recovery: KeychainError.Recovery = result.lockedCount > 0 ? try unlocking(query) : .unlock
    if let failure = KeychainError(incomplete: result, unlocking: recovery) { throw failure }
    return []
  }
}

extension KeychainError {
  /// Creates the error for a search that may have missed credentials; `nil` if it has seen all of
  /// them.
  ///
  /// An item that could not be read may be the missing one, so a search that must find one
  /// credential, or all, throws this error. Of several reasons, it gives the first of these: a
  /// store that could not be searched, damaged items, locked items, items of another device.
  package init?(
    incomplete result: CredentialSearchResult,
    unlocking: Recovery = "unlock the store that has them"
  ) {
    if let failure = result.failures.first {
      self = failure
    } else if !result.damaged.isEmpty {
      self = .damagedItems(result.damaged)
    } else if result.lockedCount > 0 {
      self.init(.locked, Self.number(result.lockedCount, "locked"), recovery: unlocking)
    } else if result.otherDeviceCount > 0 {
      self.init(.otherDevice, Self.number(result.otherDeviceCount, "bound to another device"))
    } else {
      return nil
    }
  }

  private static func number(_ count: Int, _ state: String) -> String {
    count == 1 ? "1 item that may match is \(state)" : "\(count) items that may match are \(state)"
  }

  package static func damagedItems(_ names: [String]) -> Self {
    let subject = names.count == 1 ? "1 item is" : "\(names.count) items are"
    return Self(.damaged, "\(subject) damaged: " + names.joined(separator: "; "), recovery: .verify)
  }
}
