public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

/// Stores the passwords of a netrc file in a credential store.
///
/// ```swift
/// let text = try SecretBytes(copying: "machine example.com login alice password hunter2")
/// let report = try NetrcImport(text, into: store)
/// try report.perform()
/// let rest = try report.file.text(without: report.storedEntries())
/// print("\(rest.count) bytes are left")
/// ```
///
/// A stored password that differs stays, unless overwriting is requested.
public struct NetrcImport: ~Copyable {
  /// The state of an item in the store.
  @frozen public enum State: Sendable {
    /// It is missing. Items of other programs with similar names don't count.
    case absent

    /// The same password is stored, and does not expire.
    case same

    /// Another password is stored, or one that expires, or several items of other programs.
    case differing
  }

  /// The file.
  public let file: NetrcFile

  /// What is imported from the file, and what is left.
  public let plan: NetrcImportPlan

  /// Whether stored credentials that differ are replaced.
  public let isOverwriting: Bool

  private let store: any CredentialStore
  private let states: [State]

  /// Compares a netrc file with a store, without changing anything.
  ///
  /// - Parameters:
  ///   - accessGroup: The access group of the credentials; empty for the unnamed one.
  ///   - overwriting: Whether stored credentials that differ are replaced.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` as ``NetrcFile/init(_:)``,
  ///   with ``KeychainError/Code/tooLarge`` if the names of an entry are too long, or as the store.
  public init(
    _ text: consuming SecretBytes, into store: any CredentialStore, accessGroup: String = "",
    overwriting: Bool = false
  ) throws(KeychainError) {
    let file = try NetrcFile(text)
    let plan = try NetrcImportPlan(file, accessGroup: accessGroup)
    let tooLong = plan.items.filter { Credential($0.identity).exceedsMetadataLimit }
    if let error = KeychainError(
      tooLong: tooLong.flatMap(\.entries).map(\.place),
      recovery: "shorten or remove them in the file")
    {
      throw error
    }
    var states: [State] = []
    for item in plan.items { states.append(try Self.state(of: item, in: store, file)) }
    self.file = file
    self.plan = plan
    self.states = states
    self.store = store
    isOverwriting = overwriting
  }

  /// Returns the items that had a state before the import, in the order of the file.
  public borrowing func items(_ state: State) -> [NetrcImportPlan.Item] {
    zip(plan.items, states).filter { $0.1 == state }.map(\.0)
  }

  /// The items that the import stores: the new ones, then those that it overwrites.
  public var changed: [NetrcImportPlan.Item] {
    items(.absent) + (isOverwriting ? items(.differing) : [])
  }

  /// Stores the items one by one.
  ///
  /// An overwritten credential keeps its label, comment and attributes. It loses its expiry and its
  /// content type, which belong to the old password.
  ///
  /// - Throws: ``KeychainError`` as the store. Items that were added are then removed again;
  ///   overwritten ones have the password of the file. For all or nothing even if the process is
  ///   killed, use ``forEachChange(_:)`` within a transaction of a vault.
  public borrowing func perform() throws(KeychainError) {
    var added: [Credential] = []
    do throws(KeychainError) {
      try forEachChange { identity, update, password throws(KeychainError) in
        let merged = try store.merge(update, secret: password, into: identity, mode: .addOrReplace)
        if merged.replaced?.isOfOtherProgram ?? true { added.append(merged.credential) }
      }
    } catch {
      for credential in added.reversed() {
        _ = try? store.remove(credential.identity, expectedVersion: credential.version)
      }
      throw error
    }
  }

  /// Calls a closure with each credential to store.
  ///
  /// - Parameter body: Stores a password under an identity, and merges the update into the
  ///   credential.
  /// - Throws: What `body` throws, or ``KeychainError`` with
  ///   ``KeychainError/Code/insufficientMemory``.
  public borrowing func forEachChange(
    _ body: (CredentialIdentity, CredentialUpdate, borrowing SecretBytes) throws(KeychainError) ->
      Void
  ) throws(KeychainError) {
    let update = CredentialUpdate(contentType: .clear, expires: .clear)
    for item in changed { try body(item.identity, update, try file.password(of: item)) }
  }

  /// Returns the entries whose password the store has now: they may be removed from the file.
  ///
  /// - Throws: ``KeychainError`` as the store.
  public borrowing func storedEntries() throws(KeychainError) -> [NetrcEntry] {
    var entries: [NetrcEntry] = []
    for item in plan.items where try Self.state(of: item, in: store, file) == .same {
      entries += item.entries
    }
    return entries
  }

  private static func state(
    of item: NetrcImportPlan.Item, in store: any CredentialStore, _ file: borrowing NetrcFile
  ) throws(KeychainError) -> State {
    let stored: StoredSecret?
    do throws(KeychainError) { stored = try store.secret(for: item.identity) } catch {
      // There are several items of other programs; one of ours would take precedence.
      guard error.code == .ambiguous else { throw error }
      return try hasExactly(item.identity, store) ? .differing : .absent
    }
    guard let stored else { return .absent }
    // A keyring also answers with an item of another program with similar names. A search for
    // exactly these names, or for another port, does not find it, so the entry must not be removed.
    if stored.credential.isOfOtherProgram, try !hasExactly(item.identity, store) { return .absent }
    let isSame = stored.secret.isEqual(to: try file.password(of: item))
    return isSame && stored.credential.expires == nil ? .same : .differing
  }

  /// Returns whether a search finds a credential with exactly these names.
  private static func hasExactly(
    _ identity: CredentialIdentity, _ store: any CredentialStore
  ) throws(KeychainError) -> Bool {
    guard case .internetPassword(let password) = identity.kind else { return false }
    let query = CredentialQuery(
      accessGroup: identity.accessGroup, server: password.server, account: password.account)
    return try store.search(query).credentials.contains { $0.identity == identity }
  }
}

extension NetrcEntry {
  /// The host and the line; a login is left out: it may be long, and some are secret.
  fileprivate var place: String {
    guard case .machine(let host) = subject else { return "line \(line)" }
    return "\(host.shortened(to: 200)) (line \(line))"
  }
}

extension NetrcFile {
  /// Returns the password of an item, whose entries all have the same one.
  fileprivate borrowing func password(
    of item: NetrcImportPlan.Item
  ) throws(KeychainError) -> SecretBytes {
    guard let entry = item.entries.first, let password = try password(of: entry) else {
      throw KeychainError(.internalFailure, "an entry of the netrc file has no password")
    }
    return password
  }
}

/// The credentials that a netrc file becomes: internet passwords of the protocol `https`.
///
/// A netrc file has no protocols. Entries that only ftp can use are left in the file.
public struct NetrcImportPlan: Sendable {
  /// A credential, and its entries.
  public struct Item: Sendable {
    /// The names of the credential: the host in lower case, the port if one is written, `https`,
    /// and the login as its account.
    public let identity: CredentialIdentity

    /// The entries with its password; several if the file repeats it.
    public internal(set) var entries: [NetrcEntry]
  }

  /// Why an entry is left in the file.
  @nonexhaustive public enum Obstacle: String, CaseIterable, Sendable {
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
    /// `x-oauth-basic`. Logins become names, which are not secret.
    case hasSecretLogin

    /// Its host is not a host name or address.
    case hasNoHost

    /// It has a word that only some programs know, such as `method`, `protocol` or `port`, and that
    /// may limit the entry.
    case hasUnknownWord

    /// Programs read one of its values differently, because of a backslash, of `#` at the
    /// beginning, of a vertical tab or form feed, or of a second login or password.
    case isUnclear

    /// The file has another password for the same host and login.
    case conflicts
  }

  /// The items to import.
  public private(set) var items: [Item] = []

  /// The entries left in the file, and why.
  public private(set) var left: [(entry: NetrcEntry, obstacle: Obstacle)] = []

  /// The hosts with several accounts in the file: programs disagree about which of them counts.
  public private(set) var repeatedHosts: [String] = []

  /// Decides which entries of a file are imported.
  ///
  /// - Parameter accessGroup: The access group of the credentials; empty for the unnamed one.
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

  /// The indices of the items while entries are added.
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

  private static func identity(of entry: NetrcEntry, _ accessGroup: String) -> CredentialIdentity? {
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
    if entry.hasUnknownWord { return .hasUnknownWord }
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
