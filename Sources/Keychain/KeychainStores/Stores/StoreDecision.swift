public import KeychainCredentials

/// Which store a service has, and why.
public struct StoreDecision: Hashable, Sendable {
  /// Where its credentials are kept.
  public let place: StorePlace

  /// Why they are kept there.
  public let reason: Reason

  /// The reasons for a store, in order of precedence.
  public enum Reason: Hashable, Sendable {
    /// The program or the command line chose it.
    case argument

    /// `KEYCHAIN_STORE` chose it.
    case environment

    /// A vault was named, by an argument or by `KEYCHAIN_VAULT`.
    case namedVault

    /// It was recorded when the first credential of the service was stored.
    case record

    /// The vault has credentials of the service, or may have some that are listed only when it is
    /// unlocked.
    case vaultContents

    /// A passphrase or key of the vault was given.
    case unlockSource

    /// The desktop keyring can be used.
    case keyringAvailable

    /// There is no session bus.
    case noSessionBus

    /// The desktop keyring cannot be used, for this reason.
    case keyringUnavailable(KeychainError)
  }

  /// Whether the store was chosen explicitly, whatever the service has.
  var isExplicit: Bool {
    switch reason {
    case .argument, .environment, .namedVault: true
    default: false
    }
  }

  /// Whether the decision can be recorded.
  ///
  /// Credentials in a named vault are found when the vault is named again, and the session's
  /// collection ends with the session.
  var canBeRecorded: Bool {
    reason != .namedVault && !place.endsWithSession
  }
}
