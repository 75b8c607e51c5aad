package import KeychainCredentials
internal import KeychainSecretService
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

  /// Records the store of a service that has no record.
  ///
  /// The caller has made sure that the decision can be recorded. An explicit choice applies even if
  /// recording it fails. The notice is for after the change. Returns the decision that applies:
  /// another process may have recorded another one first.
  func record(
    _ decision: StoreDecision, _ service: ServiceName, _ notices: inout [ChoiceNotice]
  ) throws(KeychainError) -> StoreDecision {
    if decision.isExplicit {
      recordExplicit(decision, service, &notices)
      return decision
    }
    let isFirst = decision.reason != .vaultContents
    let notice = isFirst ? notice(about: decision, service) : nil
    let (place, isNew) = try records.record(decision.place, for: service)
    guard isNew else { return StoreDecision(place: place, reason: .record) }
    if let notice { notices.append(notice) }
    return decision
  }

  /// Makes a change, then reports the stores that were recorded for it, and whether it was made.
  func reporting<Result>(
    _ body: (inout [ChoiceNotice]) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    var notices: [ChoiceNotice] = []
    var isStored = false
    defer { for notice in notices { configuration.notice?(notice(isStored)) } }
    let result = try body(&notices)
    isStored = true
    return result
  }

  /// Gives a service the store of another decision, or refuses if it has a different one.
  func settle(
    _ service: ServiceName, asPlaceOf decision: StoreDecision, _ notices: inout [ChoiceNotice]
  ) throws(KeychainError) {
    if decision.isExplicit {
      if decision.canBeRecorded, ownPlace(of: service) == nil {
        recordExplicit(decision, service, &notices)
      }
      return
    }
    var own = StoreDecision(place: decision.place, reason: .record)
    if let found = try chooser.settled(service) {
      own = found
    } else if try canRecord() {
      own = try record(own, service, &notices)
    }
    guard own.place == decision.place else { throw .otherStore(service, own.place) }
  }

  /// Returns the place of a service by record or contents; `nil` if it has none, or it is not
  /// known.
  func ownPlace(of service: ServiceName) -> StorePlace? {
    do throws(KeychainError) {
      if let place = try records.place(of: service) { return place }
      guard case .present = try vault.presence(of: service.query) else { return nil }
      return .vault
    } catch { return nil }
  }

  private func recordExplicit(
    _ decision: StoreDecision, _ service: ServiceName, _ notices: inout [ChoiceNotice]
  ) {
    do throws(KeychainError) {
      guard try canRecord() else { return }
      let notice = notice(about: decision, service)
      guard try records.record(decision.place, for: service).isNew, let notice else { return }
      notices.append(notice)
    } catch { notices.append { _ in .notRecorded(service, error) } }
  }

  /// A record needs the device key, which is not created next to a vault whose own key may be
  /// restored later.
  func canRecord() throws(KeychainError) -> Bool {
    if try vault.hasDeviceSecret() { return true }
    return try !vault.isThere()
  }

  /// Returns the notice about a service's store; `nil` if the notice about the new vault is enough.
  private func notice(about decision: StoreDecision, _ service: ServiceName) -> ChoiceNotice? {
    let named = decision.place == .vault && (try? vault.isThere()) ?? true ? vault : nil
    if named == nil, decision.place == .vault {
      guard case .keyringUnavailable = decision.reason else { return nil }
    }
    return { .chosen(service, decision, vault: named, isStored: $0) }
  }
}

/// Returns the notice about a store that was recorded, by whether the change was made.
typealias ChoiceNotice = (_ isStored: Bool) -> Notice

extension Notice {
  /// A service got its store.
  ///
  /// Pass the vault only if it existed before: a new one has its own notice.
  fileprivate static func chosen(
    _ service: ServiceName, _ decision: StoreDecision, vault: Vault?, isStored: Bool
  ) -> Self {
    let place = decision.place.words
    var text =
      isStored
      ? "the credentials of \(service) are kept in \(place)"
      : "the store of \(service) is now \(place)"
    switch decision.place {
    case .secretService:
      text +=
        ": it protects them while it is locked, and shows them to every program of the "
        + "session while it is not"
    case .vault:
      if let vault {
        text += " \((try? vault.path()) ?? "")"
        if let words = protection(of: vault) { text += "; \(words)" }
      }
    }
    if case .keyringUnavailable(let failure) = decision.reason {
      text += "; the desktop keyring cannot be used now: \(failure.message)"
    }
    return Self(kind: .storeChosen, message: text)
  }

  private static func protection(of vault: Vault) -> String? {
    guard let slots = try? vault.slots() else { return nil }
    return slots.contains { $0.kind == .device && $0.grant == .administers }
      ? "it opens by this machine's device key" : "it opens by the passphrase or key it was given"
  }

  static func differs(_ service: ServiceName, _ place: StorePlace, own: StorePlace) -> Self {
    Self(
      kind: .storeDiffers,
      message: "this changes \(place.words), while \(service) has its credentials in \(own.words)")
  }

  static func notRecorded(_ service: ServiceName, _ error: KeychainError) -> Self {
    Self(
      kind: .storeChosen,
      message: "the store of \(service) could not be recorded, so name it again next time: "
        + error.message)
  }
}

extension KeychainError {
  static func otherStore(_ service: ServiceName, _ place: StorePlace) -> Self {
    Self(
      .refused, "\(service) has its credentials in \(place.words), another store",
      recovery: "move the services into one store with \(.migrate)")
  }
}
