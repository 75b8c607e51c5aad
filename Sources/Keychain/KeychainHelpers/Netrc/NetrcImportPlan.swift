public import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// What a netrc file becomes in a credential store: internet passwords of the protocol `https`.
///
/// A netrc file knows no protocol. Entries that only ftp can use are left in the file.
public struct NetrcImportPlan: Sendable {
  /// A credential, and what it is made of.
  public struct Item: Sendable {
    /// The names of the credential: the host in lower case, the port if one is written, `https`, and
    /// the login as its account.
    public let identity: CredentialIdentity

    /// The entries with its password; several if the file repeats it.
    public internal(set) var entries: [NetrcEntry]
  }

  /// Why an entry is left in the file.
  public enum Obstacle: String, CaseIterable, Sendable {
    /// It is for all hosts without an entry.
    case isDefault

    /// It defines a macro of ftp, or has one.
    case hasMacro

    /// It has a second password, for ftp.
    case hasAccount

    /// It has no login.
    case hasNoLogin

    /// It has no password, or an empty one.
    case hasNoPassword

    /// Its login is the secret: some services expect a token there, with the password
    /// `x-oauth-basic`. Logins become names, which are no secrets.
    case hasSecretLogin

    /// Its host is no host name or address.
    case hasNoHost

    /// Programs read one of its values differently, because of a backslash, of `#` at the beginning,
    /// of a vertical tab or form feed, or of a second login or password.
    case isUnclear

    /// The file has another password for the same host and login.
    case conflicts
  }

  /// What is imported.
  public private(set) var items: [Item] = []

  /// What is left in the file, and why.
  public private(set) var left: [(entry: NetrcEntry, obstacle: Obstacle)] = []

  /// The hosts that have several accounts in the file: programs disagree about which of them counts.
  public private(set) var repeatedHosts: [String] = []

  /// Decides about the entries of a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - accessGroup: The access group of the credentials; empty for the unnamed one.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public init(_ file: borrowing NetrcFile, accessGroup: String = "") throws(KeychainError) {
    for (index, entry) in file.entries.enumerated() {
      let hasMacro = file.entries[(index + 1)...].first?.isMacro == true
      if let obstacle = try Self.obstacle(of: entry, hasMacro: hasMacro, in: file) {
        left.append((entry, obstacle))
      } else if let identity = Self.identity(of: entry, accessGroup) {
        try add(entry, identity, in: file)
      }
    }
    moveConflicts()
    findRepeatedHosts()
  }

  private mutating func add(
    _ entry: NetrcEntry, _ identity: CredentialIdentity, in file: borrowing NetrcFile
  ) throws(KeychainError) {
    guard let index = indices[identity] else {
      indices[identity] = items.count
      items.append(Item(identity: identity, entries: [entry]))
      return
    }
    guard let first = items[index].entries.first, let one = try file.password(of: first),
      let other = try file.password(of: entry)
    else { return }
    if !one.isEqual(to: other) { conflicting.insert(identity) }
    items[index].entries.append(entry)
  }

  /// The places of the items, while entries are added.
  private var indices: [CredentialIdentity: Int] = [:]

  private var conflicting: Set<CredentialIdentity> = []

  private mutating func moveConflicts() {
    for item in items where conflicting.contains(item.identity) {
      left += item.entries.map { ($0, .conflicts) }
    }
    items.removeAll { conflicting.contains($0.identity) }
    indices = [:]
  }

  private mutating func findRepeatedHosts() {
    // The first account of each host; `nil` once it is reported.
    var accounts: [[UInt8]: String?] = [:]
    for item in items {
      guard case .internetPassword(let password) = item.identity.kind else { continue }
      let host = Array(password.server.utf8)
      guard let first = accounts[host] else {
        accounts[host] = .some(password.account)
        continue
      }
      guard let first, !first.hasSameBytes(as: password.account) else { continue }
      repeatedHosts.append(password.server)
      accounts[host] = .some(nil)
    }
  }
}

extension NetrcImportPlan {
  private static func identity(
    of entry: NetrcEntry, _ accessGroup: String
  ) -> CredentialIdentity? {
    guard case .machine(let name) = entry.subject, let address = NetrcAddress(name),
      let login = entry.login, !login.isEmpty
    else { return nil }
    let origin = ServerOrigin(protocol: "https", host: address.host, port: address.port)
    return CredentialIdentity(
      .internetPassword(
        InternetPassword(
          server: origin.host, protocol: origin.protocol, port: origin.port ?? 0, account: login)),
      accessGroup: accessGroup)
  }

  private static func obstacle(
    of entry: NetrcEntry, hasMacro: Bool, in file: borrowing NetrcFile
  ) throws(KeychainError) -> Obstacle? {
    guard case .machine(let host) = entry.subject else {
      return entry.isMacro ? .hasMacro : .isDefault
    }
    if hasMacro { return .hasMacro }
    if entry.hasAccount { return .hasAccount }
    if entry.isUnclear { return .isUnclear }
    if NetrcAddress(host) == nil { return .hasNoHost }
    guard let password = try file.password(of: entry), password.count > 0 else {
      return .hasNoPassword
    }
    if password.withBytes({ $0.isMarkerOfSecretLogin }) { return .hasSecretLogin }
    return entry.login?.isEmpty == false ? nil : .hasNoLogin
  }
}

extension RawSpan {
  fileprivate var isMarkerOfSecretLogin: Bool {
    let marker = Array("x-oauth-basic".utf8)
    return byteCount == marker.count && marker.indices.allSatisfy { byte(at: $0) == marker[$0] }
  }
}
