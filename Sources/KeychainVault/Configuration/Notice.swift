public import KeychainCredentials

/// Something that a person should know but that is not an error.
public struct Notice: Hashable, Sendable {
  /// The kinds of notice.
  public enum Kind: Hashable, Sendable {
    /// A vault was created.
    case vaultCreated

    /// A vault or its device secret was created in memory, where it is lost at the next restart.
    case vaultInMemory

    /// A passphrase slot was created at less than the usual cost because memory is short.
    case weakPasswordHash

    /// A key file with a new slot holds only a few readable words, and key files are not stretched.
    case weakKeyFile

    /// The seen record could not be read or written.
    case seenRecordUnavailable

    /// What the device secret alone opens has changed.
    case deviceGrantChanged

    /// Changes by other handles and processes are not reported to observers.
    case observationUnavailable

    /// The vault got new keys, but remains under the old keys could not be removed from its file.
    case oldContentLeft

    /// An identity without pins opened a vault that was never seen before. Whoever could put it
    /// there could have made it.
    case firstSight

    /// A service got its store, which it keeps.
    case storeChosen

    /// A credential was written to another store than that of its service.
    case storeDiffers
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
  public var description: String {
    recovery.map { "\(message); \($0)" } ?? message
  }
}

extension VaultConfiguration {
  func report(_ kind: Notice.Kind, _ message: String, recovery: KeychainError.Recovery? = nil) {
    notice?(Notice(kind: kind, message: message, recovery: recovery))
  }
}

/// The progress of a long operation.
public struct VaultProgress: Hashable, Sendable {
  /// The number of items that are done.
  public var completed: Int

  /// The number of all items.
  public var total: Int

  package init(completed: Int, total: Int) {
    self.completed = completed
    self.total = total
  }
}
