package import KeychainCredentials
internal import KeychainSecretService

/// What the desktop keyring holds of the user's credentials, beside the vault.
package enum KeyringHoldings: Hashable, Sendable {
  /// None.
  case nothing

  /// So many credentials, of so many services and servers.
  case counted(credentials: Int, services: Int)

  /// They could not be counted; so many services and servers have their store there.
  case unknown(services: Int, KeychainError)
}

extension AutomaticStore {
  /// Counts the credentials in the desktop keyring, for who leaves them out.
  ///
  /// Nothing is started, unlocked or asked, and items of other programs don't count. Without a session bus
  /// and services that have their store there, nothing is looked at.
  ///
  /// - Parameters:
  ///   - query: Which credentials count.
  ///   - deadline: How long to wait for answers.
  /// - Returns: What there is.
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
      // A provider that would have to be started first has nothing unlocked.
      if let failure = keyring.probe().failure { throw failure }
      var found: Set<CredentialIdentity> = []
      for collection in recorded.collections.union([.default]) {
        configuration.collection = collection
        found.formUnion(try SecretServiceStore(configuration: configuration).ownIdentities(query))
      }
      guard !found.isEmpty else { return .nothing }
      return .counted(
        credentials: found.count, services: Set(found.map { ServiceName($0) }).count)
    } catch {
      return recorded.count > 0 ? .unknown(services: recorded.count, error) : .nothing
    }
  }

  /// How many services have their store in the desktop keyring, and in which collections.
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
  /// The names of our items that match a query.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if some cannot be looked at.
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
