public import KeychainCredentials
public import KeychainSecrets

/// Takes the passwords of a netrc file into a credential store.
///
/// ```swift
/// let text = try SecretBytes(copying: "machine example.com login alice password hunter2")
/// let report = try NetrcImport(text, into: store)
/// try report.perform()
/// let rest = try report.file.text(without: report.storedEntries())
/// print("\(rest.count) bytes are left")
/// ```
///
/// A password that is stored already and differs stays, unless overwriting is asked for.
public struct NetrcImport: ~Copyable {
  /// What the store has of an item.
  public enum State: Sendable {
    /// It has none of these names. Items of other programs that merely have similar names do not
    /// count.
    case absent

    /// It has the same password, which does not expire.
    case same

    /// It has another password, one that expires, or several items of other programs.
    case differing
  }

  /// The file.
  public let file: NetrcFile

  /// What of the file is imported, and what is left.
  public let plan: NetrcImportPlan

  /// Whether existing credentials that differ are replaced.
  public let isOverwriting: Bool

  private let store: any CredentialStore
  private let states: [State]

  /// Compares a netrc file with a store, and changes nothing.
  ///
  /// - Parameters:
  ///   - text: The text of the file.
  ///   - store: The store.
  ///   - accessGroup: The access group of the credentials; empty for the unnamed one.
  ///   - overwriting: Whether existing credentials that differ are replaced.
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

  /// Returns the items that the store had in a state before the import.
  ///
  /// - Parameter state: The state.
  /// - Returns: The items, in the order of the file.
  public borrowing func items(_ state: State) -> [NetrcImportPlan.Item] {
    zip(plan.items, states).filter { $0.1 == state }.map(\.0)
  }

  /// The items that the import stores: the new ones, then those that it overwrites.
  public var changed: [NetrcImportPlan.Item] {
    items(.absent) + (isOverwriting ? items(.differing) : [])
  }

  /// Stores the items, one by one.
  ///
  /// An overwritten credential keeps its label, comment and attributes. It loses its expiry and its
  /// content type, which belong to the old password.
  ///
  /// - Throws: ``KeychainError`` as the store. What was added before is removed again then; what was
  ///   overwritten has the password of the file. For all or nothing even if the process is killed, use
  ///   ``forEachChange(_:)`` within a transaction of a vault.
  public borrowing func perform() throws(KeychainError) {
    var added: [Credential] = []
    do throws(KeychainError) {
      try forEachChange { identity, update, password throws(KeychainError) in
        let merged = try store.merge(
          update, secret: password, into: identity, mode: .addOrReplace)
        if merged.replaced?.isOfOtherProgram ?? true { added.append(merged.credential) }
      }
    } catch {
      for credential in added.reversed() {
        _ = try? store.remove(credential.identity, expectedVersion: credential.version)
      }
      throw error
    }
  }

  /// Calls a closure with each credential that the import stores.
  ///
  /// - Parameter body: Stores a password under an identity, and merges the update into the credential.
  /// - Throws: What `body` throws, or ``KeychainError`` with
  ///   ``KeychainError/Code/insufficientMemory``.
  public borrowing func forEachChange(
    _ body: (CredentialIdentity, CredentialUpdate, borrowing SecretBytes) throws(KeychainError) ->
      Void
  ) throws(KeychainError) {
    let update = CredentialUpdate(contentType: .clear, expires: .clear)
    for item in changed { try body(item.identity, update, try file.password(of: item)) }
  }

  /// Reads the passwords back from the store.
  ///
  /// - Returns: The entries whose password the store has now: what may be removed from the file.
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
      // Several items of other programs; ours would take precedence.
      guard error.code == .ambiguous else { throw error }
      return try hasExactly(item.identity, store) ? .differing : .absent
    }
    guard let stored else { return .absent }
    // A keyring answers with an item of another program whose names are only similar, too. It is found
    // neither by these names nor for another port, so it is no reason to remove an entry.
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
  /// The host and the line; a login may be long, and some are secret.
  fileprivate var place: String {
    guard case .machine(let host) = subject else { return "line \(line)" }
    return "\(host.shortened(to: 200)) (line \(line))"
  }
}

extension NetrcFile {
  /// Returns the password of an item, whose entries all have the same.
  fileprivate borrowing func password(
    of item: NetrcImportPlan.Item
  ) throws(KeychainError) -> SecretBytes {
    guard let entry = item.entries.first, let password = try password(of: entry) else {
      throw KeychainError(.internalFailure, "an entry of the netrc file has no password")
    }
    return password
  }
}
