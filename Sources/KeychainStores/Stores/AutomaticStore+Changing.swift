internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainVault

/// A credential that may be the first of its service.
struct FirstCredential {
  let identity: CredentialIdentity
  let accessibility: Accessibility
  let mode: StoreMode

  /// Whether the credential may exist, and then keeps its accessibility instead of the one given
  /// here.
  var mayExist = false
}

// Keeps a service in its store while a credential is changed there.
extension AutomaticStore {
  /// Makes a change in the store of a service, while no migration can move the service.
  ///
  /// An explicit choice applies wherever the service is, and so takes no lock.
  ///
  /// - Parameters:
  ///   - service: The service or server.
  ///   - first: The credential, if it may be the first of the service.
  ///   - body: Makes the change; it is called again if something had to be asked first.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``KeychainError`` with ``KeychainError/Code/busy`` if a migration takes
  ///   too long.
  func changing<Result>(
    _ service: ServiceName, adding first: FirstCredential? = nil,
    _ body: (StoreDecision, any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    if let explicit = try chooser.explicit() {
      tellIfElsewhere(explicit, service)
      let store = store(at: explicit.place)
      let decision = try settle(explicit, service, adding: first, to: store)
      observing.use(decision.place, self)
      return try body(decision, store)
    }
    var change = LockedChange(store: self, service: service, first: first)
    do throws(KeychainError) {
      return try change.run(body)
    } catch {
      throw change.decision.map { error.explained(by: $0, "the credentials of \(service)") }
        ?? error
    }
  }

  /// Records the store of a service if it has none and its first credential is about to be written.
  ///
  /// The record is written before the credential, so that the credential is found even if the
  /// process is killed in between. The store is asked first whether it would accept the credential.
  fileprivate func settle(
    _ decision: StoreDecision, _ service: ServiceName, adding first: FirstCredential?,
    to store: any CredentialStore
  ) throws(KeychainError) -> StoreDecision {
    guard let first, decision.reason != .record, try canBecome(decision, of: service) else {
      return decision
    }
    if !(store is SecretServiceStore) {
      // A replacement can be the first credential only next to another program's item.
      if case .replace = first.mode { return decision }
      if first.mayExist, try store.credential(for: first.identity) != nil { return decision }
    }
    try store.checkStoring(first.identity, first.accessibility, mode: first.mode)
    return try settle(decision, service)
  }

  /// Returns whether a decision would be recorded.
  private func canBecome(
    _ decision: StoreDecision, of service: ServiceName
  ) throws(KeychainError) -> Bool {
    guard decision.isExplicit else { return try canRecord() }
    return decision.canBeRecorded && ownPlace(of: service) == nil
  }

  private func tellIfElsewhere(_ decision: StoreDecision, _ service: ServiceName) {
    guard let own = ownPlace(of: service), own != decision.place else { return }
    configuration.notice?(.differs(service, decision.place, own: own))
  }
}

/// A change that holds the lock of the choice.
///
/// Its stores ask nothing meanwhile.
private struct LockedChange {
  let store: AutomaticStore
  let service: ServiceName
  let first: FirstCredential?

  /// The last decision.
  private(set) var decision: StoreDecision?

  private let question = PostponedQuestion()
  private var stores: [StorePlace: any CredentialStore] = [:]

  init(store: AutomaticStore, service: ServiceName, first: FirstCredential?) {
    self.store = store
    self.service = service
    self.first = first
  }

  mutating func run<Result>(
    _ body: (StoreDecision, any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try question.answering { () throws(KeychainError) in
      let lock = try store.choiceLock.shared(within: store.configuration.vault.deadline)
      defer { extendLifetime(lock) }
      let (decision, quiet) = try decide()
      return try body(decision, quiet)
    }
  }

  private mutating func decide() throws(KeychainError) -> (StoreDecision, any CredentialStore) {
    let found = try store.chooser.decision(for: service, postponing: question)
    decision = found
    let settled = try store.settle(
      found, service, adding: first, to: quietStore(at: found.place))
    decision = settled
    return (settled, try quietStore(at: settled.place))
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
