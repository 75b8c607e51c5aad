internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainVault

extension StorePlace {
  /// The name of the store in messages.
  var words: String {
    switch self {
    case .vault: "the vault"
    case .secretService(.default): "the desktop keyring"
    case .secretService(.session): "the desktop keyring's session collection"
    case .secretService(.named(let label)): "the collection '\(label)' of the desktop keyring"
    }
  }
}

extension Notice {
  /// A service got its store.
  ///
  /// Pass the vault only if it existed before: a new one has its own notice.
  static func chosen(_ service: ServiceName, _ decision: StoreDecision, vault: Vault?) -> Self {
    var text = "the credentials of \(service) are kept in \(decision.place.words)"
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
    return slots.contains { $0.kind == .device && $0.grant == .root }
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
