public import KeychainCredentials
internal import KeychainVault
package import PrephirencesSystem

extension AutomaticStore {
  /// Returns a secret from the store of its service; see the protocol.
  ///
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, with ``KeychainError/Code/locked`` if a desktop keyring is locked that
  ///   may have credentials of a service without a store, or with ``KeychainError/Code/busy`` if
  ///   migrations keep moving services.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try reading(ServiceName(identity)) { store throws(KeychainError) in
      try store.secret(for: identity)
    }
  }

  /// Returns a credential from the store of its service; see the protocol.
  ///
  /// - Throws: As ``secret(for:)``.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try reading(ServiceName(identity)) { store throws(KeychainError) in
      try store.credential(for: identity)
    }
  }

  /// Calls `body` with the store of a service.
  ///
  /// An error for a missing store says why the store is needed. If a service changes over to
  /// another store meanwhile, `body` is called again: its result may be missing or out of date.
  func reading<Result: ~Copyable>(
    _ service: ServiceName, _ body: (any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try readingAtPlace(service) { _, store throws(KeychainError) in try body(store) }
  }

  /// Calls `body` as ``reading(_:_:)`` does, with the place of the store as well.
  func readingAtPlace<Result: ~Copyable>(
    _ service: ServiceName,
    _ body: (StorePlace, any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try unmoved(service) { () throws(KeychainError) in
      let decision = try chooser.decisionForReading(service)
      do throws(KeychainError) {
        return try body(decision.place, store(at: decision.place))
      } catch { throw error.explained(by: decision, "the credentials of \(service)") }
    }
  }

  /// Calls `body` again until the record of a service, or of any if none is given, does not change
  /// meanwhile.
  func unmoved<Result: ~Copyable>(
    _ service: ServiceName?, _ body: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    for _ in 0..<Self.readingLimit {
      let marks = try? records.marks(of: service)
      do throws(KeychainError) {
        let result = try body()
        if (try? records.marks(of: service)) == marks { return result }
      } catch { if (try? records.marks(of: service)) == marks { throw error } }
    }
    throw KeychainError(
      .busy, "migrations keep moving credentials between the stores",
      recovery: "try again when they have ended")
  }

  /// The maximum number of migrations that may end during one read.
  private static let readingLimit = 20
}

extension KeychainError {
  /// Returns the error of a missing store, with the reason why it is needed.
  func explained(by decision: StoreDecision, _ subject: String) -> KeychainError {
    guard code == .noStore, decision.reason == .record, decision.place != .vault else {
      return self
    }
    return KeychainError(
      .noStore, "\(subject) are in the desktop keyring, and \(message)",
      recovery: "use them within the desktop session; \(.migrate) moves them into the "
        + "vault, and \(.useVault) or KEYCHAIN_STORE=vault uses the vault without them; if that "
        + "keyring is gone for good, \(.abandonSource) makes the vault their store",
      underlying: underlying)
  }
}

extension AutomaticStore {
  /// Searches the store of a service, or all stores in use; see the protocol.
  ///
  /// If the query names a service or server, its store is searched; otherwise all stores that
  /// services have, each for its own services. If no service has a store yet, the store that a new
  /// one would get is searched. ``CredentialSearchResult/failures`` has the errors of stores that
  /// could not be searched.
  ///
  /// - Throws: ``KeychainError`` if no store could be searched, or with ``KeychainError/Code/busy``
  ///   if migrations keep moving services.
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    try locatedSearch(query, withPassedOver: false).result
  }

  /// Searches as ``search(_:)`` does. Credentials of the vault are opened as they were found.
  package func find(_ query: CredentialQuery) throws(KeychainError) -> FoundCredentials {
    if let place = try chooser.explicit()?.place { return try store(at: place).find(query) }
    guard let service = ServiceName(query) else {
      return FoundCredentials(try search(query), in: self)
    }
    return try readingAtPlace(service) { place, store throws(KeychainError) in
      // A credential that is gone from a keyring may be in another store now.
      place == .vault
        ? try store.find(query) : FoundCredentials(try store.search(query), in: self)
    }
  }

  /// Searches as ``search(_:)`` does, and also returns the store of each credential.
  package func locatedSearch(
    _ query: CredentialQuery, withPassedOver: Bool = true
  ) throws(KeychainError) -> LocatedSearchResult {
    if let place = try chooser.explicit()?.place {
      return LocatedSearchResult(try store(at: place).search(query), in: place)
    }
    guard let service = ServiceName(query) else {
      return try unmoved(nil) { () throws(KeychainError) in
        try searchAll(query, withPassedOver: withPassedOver)
      }
    }
    do throws(KeychainError) {
      return try readingAtPlace(service) { place, store throws(KeychainError) in
        LocatedSearchResult(try store.search(query), in: place)
      }
    } catch {
      guard withPassedOver, let place = recordedPlace(of: service), place != .vault,
        var found = try? vault.search(query), !found.credentials.isEmpty
      else { throw error }
      found.failures.append(error)
      return LocatedSearchResult(found, in: .vault)
    }
  }

  /// Returns the stores to search.
  package func places(for query: CredentialQuery) throws(KeychainError) -> Set<StorePlace> {
    if let explicit = try chooser.explicit() { return [explicit.place] }
    if let service = ServiceName(query) {
      if let decision = try chooser.existingDecision(for: service) { return [decision.place] }
      return [try chooser.automaticDecision().place]
    }
    return Set(try placesInUse().places)
  }

  /// Unlocks items that a search found locked, or throws; the search has already asked the desktop
  /// keyring.
  package func makeReadable(
    _ query: CredentialQuery, _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) {
    guard try places(for: query).contains(.vault) else {
      throw KeychainError(
        .locked, "the desktop keyring is locked",
        recovery: "unlock it at the desktop, or allow questions there")
    }
    try vault.ensureReadable(requirement)
  }

  package func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode
  ) throws(KeychainError) {
    try store(at: decision(for: identity).place).checkStoring(identity, accessibility, mode: mode)
  }

  package var environment: EnvironmentVariables { configuration.vault.environment }

  private func searchAll(
    _ query: CredentialQuery, withPassedOver: Bool
  ) throws(KeychainError) -> LocatedSearchResult {
    let (places, unreadable) = try placesInUse()
    var union = StoreUnion(records: records, damaged: unreadable)
    for place in places {
      do throws(KeychainError) {
        union.add(try store(at: place).search(query), from: place)
      } catch {
        let decision = StoreDecision(place: place, reason: .record)
        union.failures.append(error.explained(by: decision, "some credentials"))
        if withPassedOver, place != .vault { union.addPassedOver(of: place) }
      }
    }
    if union.failures.count == places.count, let first = union.failures.first { throw first }
    return LocatedSearchResult(union.result, owners: union.owners)
  }

  /// Returns the stores that services have, the vault first, and the paths of records that cannot
  /// be read.
  func placesInUse() throws(KeychainError) -> (places: [StorePlace], unreadable: [String]) {
    let (recorded, unreadable) = try records.all()
    var places: [StorePlace] = []
    for place in recorded where !places.contains(place) { places.append(place) }
    let isVaultThere: Bool
    do throws(KeychainError) {
      isVaultThere = try vault.isThere()
    } catch {
      // The search reports the failure.
      isVaultThere = true
    }
    if isVaultThere, !places.contains(.vault) { places.append(.vault) }
    if places.isEmpty { places = [try chooser.automaticDecision().place] }
    places.sort { $0 == .vault && $1 != .vault }
    return (places, unreadable)
  }
}

/// The results of several stores, each for the services that it has.
struct StoreUnion {
  let records: StoreRecords
  var damaged: [String]
  var failures: [KeychainError] = []
  private var credentials: [Credential] = []
  private var lockedCount = 0
  private var otherDeviceCount = 0
  private(set) var owners: [ServiceName: StorePlace] = [:]
  private var unlistedCount = 0

  /// The vault's credentials of services with another store, by that store.
  private var passedOver: [StorePlace: [Credential]] = [:]

  init(records: StoreRecords, damaged: [String]) {
    self.records = records
    self.damaged = damaged
  }

  /// Adds the result of a store; the vault must be the first: services found in it belong to it.
  mutating func add(_ found: CredentialSearchResult, from place: StorePlace) {
    lockedCount += found.lockedCount
    otherDeviceCount += found.otherDeviceCount
    unlistedCount += found.unlistedCount
    damaged += found.damaged
    failures += found.failures
    for credential in found.credentials {
      let service = ServiceName(credential.identity)
      let owner = owners[service] ?? ((try? records.place(of: service)) ?? nil) ?? place
      owners[service] = owner
      if owner == place {
        credentials.append(credential)
      } else if place == .vault {
        passedOver[owner, default: []].append(credential)
      }
    }
  }

  /// Adds the vault's credentials of the services of a store that could not be searched, after the
  /// vault was added.
  mutating func addPassedOver(of place: StorePlace) {
    for credential in passedOver.removeValue(forKey: place) ?? [] {
      owners[ServiceName(credential.identity)] = .vault
      credentials.append(credential)
    }
  }

  var result: CredentialSearchResult {
    var result = CredentialSearchResult(
      credentials: credentials, lockedCount: lockedCount, damaged: damaged,
      otherDeviceCount: otherDeviceCount, failures: failures)
    result.unlistedCount = unlistedCount
    return result
  }
}

/// The result of a search, with the store of each credential.
package struct LocatedSearchResult: Sendable {
  package let result: CredentialSearchResult

  private let places: Places

  private enum Places: Sendable {
    case one(StorePlace?)
    case byService([ServiceName: StorePlace])
  }

  /// A search of one store; the place is `nil` if it is not a built-in one.
  package init(_ result: CredentialSearchResult, in place: StorePlace?) {
    self.result = result
    places = .one(place)
  }

  /// A search of several stores, each for the services that it has.
  init(_ result: CredentialSearchResult, owners: [ServiceName: StorePlace]) {
    self.result = result
    places = .byService(owners)
  }

  /// Returns the store in which a credential was found; `nil` if it was not found.
  package func place(of identity: CredentialIdentity) -> StorePlace? {
    switch places {
    case .one(let place): place
    case .byService(let owners): owners[ServiceName(identity)]
    }
  }
}
