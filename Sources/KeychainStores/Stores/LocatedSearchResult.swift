package import KeychainCredentials

/// What a search found, and in which stores.
package struct LocatedSearchResult: Sendable {
  /// What was found.
  package let result: CredentialSearchResult

  private let places: Places

  private enum Places: Sendable {
    case one(StorePlace)
    case byService([ServiceName: StorePlace])
  }

  /// A search of one store.
  init(_ result: CredentialSearchResult, in place: StorePlace) {
    self.result = result
    places = .one(place)
  }

  /// A search of several stores, each for the services that it has.
  init(_ result: CredentialSearchResult, owners: [ServiceName: StorePlace]) {
    self.result = result
    places = .byService(owners)
  }

  /// The store in which a credential was found; `nil` if it was not.
  package func place(of identity: CredentialIdentity) -> StorePlace? {
    switch places {
    case .one(let place): place
    case .byService(let owners): owners[ServiceName(identity)]
    }
  }
}
