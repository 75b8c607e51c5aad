internal import KeychainCredentials
internal import KeychainVault

// What keeps a service in its store while a credential is changed there.
extension AutomaticStore {
  /// Makes a change in the store of a service, to which no migration takes the service meanwhile.
  ///
  /// An explicit choice is followed wherever the service is, and so takes no lock.
  ///
  /// - Parameters:
  ///   - service: The service or server.
  ///   - accessibility: That of the credential, if it may be the first of the service.
  ///   - body: Makes the change; it is called again if something had to be asked first.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``KeychainError`` with ``KeychainError/Code/busy`` if a migration takes
  ///   too long.
  func changing<Result>(
    _ service: ServiceName, adding accessibility: Accessibility? = nil,
    _ body: (StoreDecision, any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    if let explicit = try chooser.explicit() {
      tellIfElsewhere(explicit, service)
      let decision = try settle(explicit, service, adding: accessibility)
      observing.use(decision.place, self)
      return try body(decision, store(at: decision.place))
    }
    var change = LockedChange(store: self, service: service, accessibility: accessibility)
    do throws(KeychainError) {
      return try change.run(body)
    } catch {
      throw change.decision.map { error.explained(by: $0, "the credentials of \(service)") }
        ?? error
    }
  }

  /// Gives a service its store, if it has none and its first credential is about to be written.
  fileprivate func settle(
    _ decision: StoreDecision, _ service: ServiceName, adding accessibility: Accessibility?
  ) throws(KeychainError) -> StoreDecision {
    guard let accessibility, decision.reason != .record else { return decision }
    try checkAccessibility(accessibility, in: decision.place)
    return try settle(decision, service)
  }

  private func tellIfElsewhere(_ decision: StoreDecision, _ service: ServiceName) {
    guard let own = ownPlace(of: service), own != decision.place else { return }
    configuration.notice?(.differs(service, decision.place, own: own))
  }
}

/// A change that holds the lock of the choice, and the stores that it uses, which ask nothing meanwhile.
private struct LockedChange {
  let store: AutomaticStore
  let service: ServiceName
  let accessibility: Accessibility?

  /// The decision that was made last.
  private(set) var decision: StoreDecision?

  private let question = PostponedQuestion()
  private var stores: [StorePlace: any CredentialStore] = [:]

  init(store: AutomaticStore, service: ServiceName, accessibility: Accessibility?) {
    self.store = store
    self.service = service
    self.accessibility = accessibility
  }

  mutating func run<Result>(
    _ body: (StoreDecision, any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try question.answering { () throws(KeychainError) in
      let lock = try store.choiceLock.shared(within: store.configuration.vault.deadline)
      defer { extendLifetime(lock) }
      let decision = try decide()
      return try body(decision, quietStore(at: decision.place))
    }
  }

  private mutating func decide() throws(KeychainError) -> StoreDecision {
    let found = try store.chooser.decision(for: service, postponing: question)
    decision = found
    let settled = try store.settle(found, service, adding: accessibility)
    decision = settled
    return settled
  }

  private mutating func quietStore(
    at place: StorePlace
  ) throws(KeychainError) -> any CredentialStore {
    if let store = stores[place] { return store }
    if store.observing.misses(place) {
      throw question.postpone { [store] in store.observing.use(place, store) }
    }
    let quiet = question.quiet(store.store(at: place))
    stores[place] = quiet
    return quiet
  }
}
