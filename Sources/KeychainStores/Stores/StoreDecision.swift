public import KeychainCredentials

/// Which store a service has, and why.
public struct StoreDecision: Hashable, Sendable {
  /// Where its credentials are kept.
  public let place: StorePlace

  /// Why there.
  public let reason: Reason

  /// The reasons for a store, in the order in which they count.
  public enum Reason: Hashable, Sendable {
    /// The program or the command line said so.
    case argument

    /// `KEYCHAIN_STORE` says so.
    case environment

    /// A vault was named, by an argument or by `KEYCHAIN_VAULT`.
    case namedVault

    /// It was recorded when the first credential of the service was stored.
    case record

    /// The vault has credentials of the service, or could have some that only show when it is unlocked.
    case vaultContents

    /// A passphrase or key of the vault was given.
    case unlockSource

    /// The desktop keyring can be used.
    case keyringAvailable

    /// There is no session bus.
    case noSessionBus

    /// The desktop keyring cannot be used, and this is why.
    case keyringUnavailable(KeychainError)
  }

  /// Whether somebody chose the store for this time, whatever the service has.
  var isExplicit: Bool {
    switch reason {
    case .argument, .environment, .namedVault: true
    default: false
    }
  }

  /// Whether later calls find the store again by a record.
  ///
  /// What lies in a vault that was named is found where it is named again, and the session's collection
  /// ends with the session.
  var canBeRecorded: Bool {
    reason != .namedVault && !place.endsWithSession
  }
}
