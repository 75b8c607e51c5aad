package import KeychainCredentials
internal import KeychainVault

// Records the store of a service.
extension AutomaticStore {
  /// Returns the recorded place of a service's credentials if another one was chosen explicitly.
  package func placePassedOver(of identity: CredentialIdentity) -> StorePlace? {
    guard let explicit = try? chooser.explicit(), let own = ownPlace(of: ServiceName(identity)),
      own != explicit.place
    else { return nil }
    return own
  }

  /// Records the store of a service whose first credential is about to be written.
  ///
  /// - Returns: The decision that applies: another process may have recorded another one first.
  func settle(
    _ decision: StoreDecision, _ service: ServiceName
  ) throws(KeychainError) -> StoreDecision {
    if decision.isExplicit {
      // An explicit choice applies whatever the records say, and also if they cannot be read.
      if decision.canBeRecorded, ownPlace(of: service) == nil { recordExplicit(decision, service) }
      return decision
    }
    guard try canRecord() else { return decision }
    let isFirst = decision.reason != .vaultContents
    let notice = isFirst ? notice(about: decision, service) : nil
    let (place, isNew) = try records.record(decision.place, for: service)
    guard isNew else { return StoreDecision(place: place, reason: .record) }
    if let notice { configuration.notice?(notice) }
    return decision
  }

  /// Gives a service the store of another decision, or refuses if it has a different one.
  func settle(_ service: ServiceName, asPlaceOf decision: StoreDecision) throws(KeychainError) {
    if decision.isExplicit {
      _ = try settle(decision, service)
      return
    }
    var own = StoreDecision(place: decision.place, reason: .record)
    if let found = try chooser.settled(service) {
      own = found
    } else {
      own = try settle(own, service)
    }
    guard own.place == decision.place else { throw .otherStore(service, own.place) }
  }

  /// Returns the place of a service by record or contents; `nil` if it has none, or it is not
  /// known.
  func ownPlace(of service: ServiceName) -> StorePlace? {
    do throws(KeychainError) {
      if let place = try records.place(of: service) { return place }
      guard case .something = try vault.holding(service.query) else { return nil }
      return .vault
    } catch {
      return nil
    }
  }

  private func recordExplicit(_ decision: StoreDecision, _ service: ServiceName) {
    do throws(KeychainError) {
      guard try canRecord() else { return }
      let notice = notice(about: decision, service)
      guard try records.record(decision.place, for: service).isNew, let notice else { return }
      configuration.notice?(notice)
    } catch {
      configuration.notice?(.notRecorded(service, error))
    }
  }

  /// A record needs the device key, which is not created next to a vault whose own key may be
  /// restored later.
  func canRecord() throws(KeychainError) -> Bool {
    if try vault.hasDeviceSecret() { return true }
    return try !vault.isThere()
  }

  /// Returns the notice about a service's store; `nil` if the notice about the new vault is enough.
  private func notice(about decision: StoreDecision, _ service: ServiceName) -> Notice? {
    guard decision.place == .vault else { return .chosen(service, decision, vault: nil) }
    let isThere = (try? vault.isThere()) ?? true
    if case .keyringUnavailable = decision.reason {
      return .chosen(service, decision, vault: isThere ? vault : nil)
    }
    return isThere ? .chosen(service, decision, vault: vault) : nil
  }
}
