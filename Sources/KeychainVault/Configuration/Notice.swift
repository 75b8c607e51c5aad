public import KeychainCredentials

/// Something a person should know, that is not an error.
public struct Notice: Hashable, Sendable {
  /// The kinds of notice.
  public enum Kind: Hashable, Sendable {
    /// A vault was made.
    case vaultCreated

    /// A vault was made in memory, or its device secret was, where it will not stay.
    case vaultInMemory

    /// A passphrase slot was made with less than the usual cost, because memory is short.
    case weakPasswordHash

    /// A key file that opens the vault from now on holds a few readable words, and key files are not
    /// stretched.
    case weakKeyFile

    /// The record of the newest state seen could not be read or written.
    case seenRecordUnavailable

    /// What the device secret alone opens has changed.
    case deviceGrantChanged

    /// What other handles and processes change is not told to observers.
    case observationUnavailable

    /// The vault got new keys, and its file could not be cleared of what is left under the old ones.
    case oldContentLeft

    /// An identity that names no vaults opened one that was never seen here: whoever could put it there
    /// could have made it.
    case firstSight

    /// A service got its store, in which it stays.
    case storeChosen

    /// A credential was written to another store than the one its service has.
    case storeDiffers
  }

  /// The kind.
  public let kind: Kind

  /// What happened, without a capital and without a full stop.
  public let message: String

  /// What can be done about it, if anything.
  public let recovery: KeychainError.Recovery?

  package init(kind: Kind, message: String, recovery: KeychainError.Recovery? = nil) {
    self.kind = kind
    self.message = message
    self.recovery = recovery
  }
}

extension Notice: CustomStringConvertible {
  /// The message, and what can be done, with actions as the names of the library's API.
  public var description: String {
    recovery.map { "\(message); \($0)" } ?? message
  }
}
