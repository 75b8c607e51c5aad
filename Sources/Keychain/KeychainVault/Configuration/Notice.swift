public import KeychainCredentials

/// Information for a person that is not an error.
public struct Notice: Hashable, Sendable {
  /// The kinds of notice.
  @nonexhaustive public enum Kind: Hashable, Sendable {
    /// A vault was created.
    case vaultCreated

    /// A vault or its device secret was created in memory, and will be lost at the next restart.
    case vaultInMemory

    /// A passphrase slot was created at less than the usual cost because memory is short.
    case weakPasswordHash

    /// A new passphrase is so short that anybody who has the vault can try all.
    case weakPassphrase

    /// A new passphrase has bytes that people do not see, such as a line break at its end.
    case oddPassphrase

    /// A key file with a new slot has only a few readable words, and key files are not stretched.
    case weakKeyFile

    /// The seen record could not be read or written.
    case seenRecordUnavailable

    /// The device secret alone opens more or less than before.
    case deviceGrantChanged

    /// Changes by other handles and processes are not reported to observers.
    case observationUnavailable

    /// The vault got new keys, but remains under the old keys could not be removed from its file.
    case oldContentLeft

    /// The file of the vault has a hard link, which the next change separates from the vault.
    case otherNames

    /// An identity without pins opened a vault that was never seen before, which is trusted on
    /// first use. It may have been made by anybody who could put it there.
    case firstSight

    /// An identity is pinned to a check that the vault had before it got a new administration key.
    case oldPin

    /// A service got its store, which it keeps.
    case storeChosen

    /// A credential was written to another store than that of its service.
    case storeDiffers

    /// A change waits for a migration between the stores.
    case waitsForMigration

    /// The program behind the desktop keyring may keep a removed item, with its secret, in a
    /// recycle bin.
    case removedItemKept
  }

  /// The kind.
  public let kind: Kind

  /// What happened, without a capital and without a full stop.
  public let message: String

  /// What a person can do about it; `nil` if nothing.
  public let recovery: KeychainError.Recovery?

  package init(kind: Kind, message: String, recovery: KeychainError.Recovery? = nil) {
    self.kind = kind
    self.message = message
    self.recovery = recovery
  }
}

extension Notice: CustomStringConvertible {
  /// The message, and what to do, with actions as names of the library's API.
  public var description: String { recovery.map { "\(message); \($0)" } ?? message }
}
