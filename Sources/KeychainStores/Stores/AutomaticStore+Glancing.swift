package import KeychainCredentials
internal import KeychainSecretService
internal import KeychainVault

// What can be seen of the stores without asking, starting, unlocking or recording anything.
extension AutomaticStore {
  /// How thorough a glance is.
  package enum Glance: Sendable {
    /// Everything that can be read, for a report.
    case whole

    /// A few items, through an index, and without waiting for anybody: for a hint.
    case quick(limit: Int)

    fileprivate var time: Duration {
      switch self {
      case .whole: .seconds(5)
      case .quick: .milliseconds(250)
      }
    }
  }

  /// The store that somebody chose for everything, whatever services have.
  package var explicitPlace: StorePlace? { (try? chooser.explicit())?.place }

  /// The store that a service has by its record; `nil` if it has none, or none that is known.
  package func recordedPlace(of service: ServiceName) -> StorePlace? {
    try? records.place(of: service)
  }

  /// Searches what can be read now, each store for the services that it has.
  ///
  /// Nothing is asked, started, unlocked, hashed or written; a desktop keyring is searched only while it
  /// is running and unlocked. What cannot be looked at is left out.
  ///
  /// - Parameters:
  ///   - query: The conditions.
  ///   - glance: How thorough it is.
  /// - Returns: What was found; `nil` if nothing could be looked at.
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

  /// The stores that a glance concerns, the vault first.
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
    switch (place, glance) {
    case (.vault, .whole): return try vault.glance(query, within: glance.time)
    case (.vault, .quick(let limit)):
      return try vault.quickGlance(query, limit: limit, within: glance.time)
    case (.secretService(let collection), _):
      var configuration = configuration.secretService
      configuration.collection = collection
      configuration.interaction = .denied
      configuration.deadline = min(configuration.deadline, glance.time)
      let keyring = SecretServiceStore(configuration: configuration)
      guard keyring.probe().failure == nil else { return nil }
      return try keyring.search(query)
    }
  }
}
