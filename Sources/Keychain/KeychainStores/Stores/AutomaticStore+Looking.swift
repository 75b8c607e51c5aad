public import KeychainCredentials
public import KeychainSecretService
public import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

// Reads the stores without asking, starting, unlocking or recording anything.
extension AutomaticStore {
  /// How thorough a glance is.
  package enum Glance: Sendable {
    /// Everything that can be read, for a report.
    case whole

    /// Only what can be read almost without waiting, for a hint.
    case quick

    fileprivate var time: Duration {
      switch self {
      case .whole: .seconds(5)
      case .quick: .milliseconds(250)
      }
    }
  }

  /// The store that was chosen explicitly for every service.
  package var explicitPlace: StorePlace? { (try? chooser.explicit())?.place }

  /// Returns the recorded store of a service; `nil` if there is no record, or it cannot be read.
  package func recordedPlace(of service: ServiceName) -> StorePlace? {
    try? records.place(of: service)
  }

  /// Searches everything that can be read now, each store for its services; `nil` if no store could
  /// be read.
  ///
  /// Nothing is asked, started, unlocked, hashed or written. A desktop keyring is searched only if
  /// it is running and unlocked. Stores that cannot be read are left out.
  package func glance(_ query: CredentialQuery, _ glance: Glance) -> CredentialSearchResult? {
    var union: StoreUnion?
    for place in placesToGlance(query) {
      guard let found = try? self.glance(at: place, query, glance) else { continue }
      if explicitPlace != nil { return found }
      union = union ?? StoreUnion(records: records, damaged: [])
      union?.add(found, from: place)
    }
    return union?.result
  }

  /// Returns the stores to search for a glance, the vault first.
  private func placesToGlance(_ query: CredentialQuery) -> [StorePlace] {
    if let place = explicitPlace { return [place] }
    if let service = ServiceName(query) { return [recordedPlace(of: service) ?? .vault] }
    var places: [StorePlace] = [.vault]
    for place in (try? records.all().places) ?? [] where !places.contains(place) {
      places.append(place)
    }
    return places
  }

  private func glance(
    at place: StorePlace, _ query: CredentialQuery, _ glance: Glance
  ) throws(KeychainError) -> CredentialSearchResult? {
    switch place {
    case .vault: return try vault.glance(query, within: glance.time)
    case .secretService(let collection):
      var configuration = configuration.secretService
      configuration.collection = collection
      configuration.interaction = .denied
      configuration.deadline = min(configuration.deadline, glance.time)
      if let common = self.configuration.vault.commonDeadline {
        configuration.deadline = min(configuration.deadline, common.left)
      }
      let keyring = SecretServiceStore(configuration: configuration)
      guard keyring.probe().failure == nil else { return nil }
      return try keyring.search(query)
    }
  }

  // The choice of store for a diagnosis. Nothing is started, unlocked, asked or written.

  /// Whether there is a session bus that could have a desktop keyring.
  package var findsBus: Bool { keyring.findsBus }

  package func probeKeyring() -> SecretServiceProbe { keyring.probe() }

  /// Returns the decision for a service, or for a new one, from the result of a probe.
  package func decision(
    for service: ServiceName?, by probe: SecretServiceProbe
  ) throws(KeychainError) -> StoreDecision {
    let decision =
      if let service { try chooser.existingDecision(for: service) } else { try chooser.explicit() }
    if let decision { return decision }
    return try chooser.decision(by: probe)
  }

  private var keyring: SecretServiceStore {
    SecretServiceStore(configuration: configuration.secretService)
  }
}

/// The user's credentials in the desktop keyring, as far as they are known.
package enum KeyringHoldings: Hashable, Sendable {
  /// None.
  case nothing

  /// The number of credentials, and of their services and servers.
  case counted(credentials: Int, services: Int)

  /// They could not be counted; this many services and servers have their store there.
  case unknown(services: Int, KeychainError)
}

extension AutomaticStore {
  /// Counts the credentials in the desktop keyring, for a command that leaves them out.
  ///
  /// Nothing is started, unlocked or asked, and items of other programs don't count. The keyring is
  /// contacted only if there is a session bus, and services have their store there.
  package func keyringHoldings(
    _ query: CredentialQuery = CredentialQuery(), within deadline: Duration = .seconds(2)
  ) -> KeyringHoldings {
    let recorded = recordedCollections(query)
    var configuration = configuration.secretService
    configuration.interaction = .denied
    configuration.deadline = min(configuration.deadline, deadline)
    let keyring = SecretServiceStore(configuration: configuration)
    guard recorded.count > 0 || keyring.findsBus else { return .nothing }
    do throws(KeychainError) {
      // A provider that is not running has nothing unlocked.
      if let failure = keyring.probe().failure { throw failure }
      var found: Set<CredentialIdentity> = []
      for collection in recorded.collections.union([.default]) {
        configuration.collection = collection
        found.formUnion(try SecretServiceStore(configuration: configuration).ownIdentities(query))
      }
      guard !found.isEmpty else { return .nothing }
      return .counted(
        credentials: found.count, services: Set(found.map { ServiceName($0) }).count)
    } catch { return recorded.count > 0 ? .unknown(services: recorded.count, error) : .nothing }
  }

  /// Returns how many services have their store in the desktop keyring, and in which collections.
  private func recordedCollections(
    _ query: CredentialQuery
  ) -> (count: Int, collections: Set<SecretServiceStore.Collection>) {
    let places: [StorePlace]
    if let service = ServiceName(query) {
      places = recordedPlace(of: service).map { [$0] } ?? []
    } else {
      places = (try? records.all().places) ?? []
    }
    let collections = places.compactMap { place in
      if case .secretService(let collection) = place { collection } else { nil }
    }
    return (collections.count, Set(collections))
  }
}

extension SecretServiceStore {
  /// Returns the names of our items that match a query.
  fileprivate func ownIdentities(
    _ query: CredentialQuery
  ) throws(KeychainError) -> [CredentialIdentity] {
    let found = try search(query)
    guard found.lockedCount == 0 else {
      throw KeychainError(.locked, "the desktop keyring is locked")
    }
    return found.credentials.filter { !$0.isOfOtherProgram }.map(\.identity)
  }
}

extension AutomaticStore {
  /// Returns the items of other programs that searches don't show, from each desktop keyring in
  /// use; see ``SecretServiceStore/unlistedItems(matching:)``.
  ///
  /// - Throws: ``KeychainError`` of a keyring.
  public func unlistedItems(
    matching attributes: CredentialAttributes = [:]
  ) throws(KeychainError) -> [UnlistedItem] {
    let explicit = try chooser.explicit()?.place
    let places = if let explicit { [explicit] } else { try placesInUse().places }
    var paths: Set<String> = []
    var items: [UnlistedItem] = []
    for place in places {
      guard case .secretService(let collection) = place else { continue }
      // The default collection may also be in use by its label.
      items += try keyring(collection).unlistedItems(matching: attributes)
        .filter { paths.insert($0.path).inserted }
    }
    return items
  }

  /// Whether searches leave out the desktop keyring although there is a session bus, because no
  /// service has its credentials there and no store was chosen explicitly.
  package var leavesKeyringOut: Bool {
    guard explicitPlace == nil, let places = try? placesInUse().places,
      !places.contains(where: { $0 != .vault })
    else { return false }
    return findsBus
  }

  /// Returns the secret of an unlisted item; see ``SecretServiceStore/secret(of:)``.
  ///
  /// - Throws: ``KeychainError`` of the keyring.
  public func secret(of item: UnlistedItem) throws(KeychainError) -> SecretBytes? {
    try keyring(item.collection).secret(of: item)
  }

  /// Observes the stores in use; see the protocol.
  ///
  /// If another store comes into use later, its observation begins with the first credential that
  /// this handle writes to it. If a store was chosen explicitly, only that store is observed.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation { observing.begin(observer, placesToObserve, self) }

  private var placesToObserve: [StorePlace] {
    do throws(KeychainError) {
      if let explicit = try chooser.explicit() { return [explicit.place] }
      let places = try placesInUse().places
      // The file system reports a vault that is created later.
      return places.contains(.vault) ? places : places + [.vault]
    } catch { return [.vault] }
  }
}

/// The observers of an automatic store, with their observations of each store.
final class StoreObserving: Sendable {
  private struct Observer {
    let notify: @Sendable (CredentialChange) -> Void
    var observations: [StorePlace: CredentialObservation]
  }

  /// A type without generic parameters, so that the runtime needs no conformances to destroy it.
  private struct Numbered {
    var next = 0
    var all: [Int: Observer] = [:]
  }

  private let observers = PosixMutex(Numbered())

  func begin(
    _ notify: @escaping @Sendable (CredentialChange) -> Void, _ places: [StorePlace],
    _ store: AutomaticStore
  ) -> CredentialObservation {
    var observations: [StorePlace: CredentialObservation] = [:]
    for place in places { observations[place] = store.store(at: place).observe(notify) }
    let observer = Observer(notify: notify, observations: observations)
    let number = observers.withLock { observers in
      observers.next += 1
      observers.all[observers.next] = observer
      return observers.next
    }
    // The observation continues without the handle, as those of the stores do.
    return CredentialObservation { [self] in
      // It ends outside the lock, because that may wait for a running observer.
      _ = observers.withLock { $0.all.removeValue(forKey: number) }
    }
  }

  /// Returns whether there are observers that do not observe this store.
  func misses(_ place: StorePlace) -> Bool {
    observers.withLock { $0.all.contains { $0.value.observations[place] == nil } }
  }

  /// Starts to observe a store that has come into use.
  func use(_ place: StorePlace, _ store: AutomaticStore) {
    let missing = observers.withLock { observers in
      observers.all.filter { $0.value.observations[place] == nil }
    }
    for (number, observer) in missing {
      let observation = store.store(at: place).observe(observer.notify)
      observers.withLock { $0.all[number]?.observations[place] = observation }
    }
  }
}
