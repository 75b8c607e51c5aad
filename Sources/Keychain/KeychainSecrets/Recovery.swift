extension KeychainError {
  /// What to do about a failure.
  ///
  /// A recovery is text that names actions as values, so that each interface can use its own names:
  /// ``description`` uses those of the library's API, and commands use theirs. A program looks for
  /// an action:
  ///
  /// ```swift
  /// if error.recovery?.actions.contains(.unlock) == true { try vault.unlock() }
  /// ```
  ///
  /// Authors of stores write it as a string, with actions as interpolations:
  ///
  /// ```swift
  /// throw KeychainError(
  ///   .damaged, "the row is damaged", recovery: "run \(.verify), and restore a backup")
  /// ```
  ///
  /// Text without an action is advice about something outside this package, such as a command of
  /// the system.
  public struct Recovery: Hashable, Sendable {
    fileprivate enum Part: Hashable, Sendable {
      case words(String)
      case action(Action)
    }

    private let parts: [Part]

    fileprivate init(parts: [Part]) { self.parts = parts }

    /// Advice without an action: text without a capital, a full stop or a secret.
    public static func advice(_ words: String) -> Self { Self(parts: [.words(words)]) }

    /// The actions in the text, in order.
    public var actions: [Action] {
      parts.compactMap { if case .action(let action) = $0 { action } else { nil } }
    }

    /// Returns the text, without a capital and a full stop, with a name for each action.
    public func text(naming name: (Action) -> String) -> String {
      parts.map { part in
        switch part {
        case .words(let words): words
        case .action(let action): name(action)
        }
      }.joined()
    }

    /// Returns one recovery that continues with another.
    public static func + (first: Self, second: Self) -> Self {
      Self(parts: first.parts + second.parts)
    }
  }
}

extension KeychainError.Recovery: CustomStringConvertible {
  /// The text, with actions as the names of the library's API.
  public var description: String { text(naming: \.description) }
}

extension KeychainError.Recovery: ExpressibleByStringInterpolation {
  /// The recovery of a plain text.
  public init(stringLiteral text: String) { self = .advice(text) }

  /// The recovery of a text that names actions.
  public init(stringInterpolation text: StringInterpolation) { self.init(parts: text.parts) }

  /// Collects the words and the actions of a recovery.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    /// An empty text.
    public init(literalCapacity: Int, interpolationCount: Int) {
      parts.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends words.
    public mutating func appendLiteral(_ words: String) {
      if !words.isEmpty { parts.append(.words(words)) }
    }

    /// Appends an action.
    public mutating func appendInterpolation(_ action: Action) { parts.append(.action(action)) }

    /// Appends words, such as a path.
    public mutating func appendInterpolation(_ words: String) { appendLiteral(words) }

    /// Appends a number.
    public mutating func appendInterpolation(_ number: some BinaryInteger) {
      appendLiteral("\(number)")
    }
  }
}

extension Sequence<KeychainError.Recovery> {
  /// Returns the recoveries as one, with a text between them; `nil` if there are none.
  package func joined(separator: String) -> KeychainError.Recovery? {
    reduce(nil) { joined, next in joined.map { $0 + .advice(separator) + next } ?? next }
  }
}

/// Recoveries that several errors have.
extension KeychainError.Recovery {
  /// To repeat the call.
  public static var tryAgain: Self { "try again" }

  /// To restore a backup.
  public static var restoreBackup: Self { "restore a backup" }

  /// To find out whether a change has happened, before it is repeated.
  package static var lookFirst: Self {
    "look with \(.status), \(.read) or \(.listSlots) before you repeat it; keep every key, file "
      + "and code that may be needed"
  }

  /// To unlock the vault.
  public static var unlock: Self { "run \(.unlock)" }

  /// To unlock the vault, or to give its passphrase without a question to anybody.
  package static var unlockOrGivePassphrase: Self {
    "run \(.unlock), or give a passphrase by KEYCHAIN_PASSPHRASE_FILE"
  }

  /// To see what is damaged, and restore it.
  public static var verify: Self { "run \(.verify), and restore a backup" }

  package static var listSlots: Self { "see the slots with \(.listSlots)" }
  package static var listWhatOpens: Self { "see what opens it with \(.listSlots)" }

  package static var createVault: Self {
    "make the vault with \(.createVault(startingAnew: false))"
  }

  /// To add a passphrase to the vault.
  public static var addPassphrase: Self { "add one with \(.addSlot(.passphrase))" }

  /// To choose a store if the recorded choice cannot be read.
  public static var nameStore: Self {
    "say which store is meant with \(.nameStore) or KEYCHAIN_STORE"
  }

  /// To choose a store, and remove the file that recorded it.
  package static var nameStoreAndRemoveRecord: Self {
    nameStore + ", look there, and remove the file"
  }

  /// To choose a store if the record cannot be read without the device key.
  package static var nameStoreOrRestoreDeviceKey: Self {
    "put device.key back from a backup, or " + nameStore
  }

  /// To look at an existing vault, or add a slot to it.
  package static var showOrAddSlot: Self {
    "see it with \(.status), or let more open it with \(.addSlot(nil))"
  }

  package static var nameNewFile: Self { "name a new file" }

  /// To choose another name, or remove the file that has this one.
  package static var nameNewFileOrRemoveThis: Self {
    nameNewFile + ", or remove this one if it is no longer needed"
  }

  /// To open the vault in each call if it cannot stay unlocked.
  package static var giveKeyEachTime: Self {
    "give what unlocks the vault each time: a key file, which needs neither time nor memory, by "
      + "KEYCHAIN_KEY_FILE, or a passphrase by KEYCHAIN_PASSPHRASE_FILE"
  }

  /// An action of a program or a person after a failure, in this package's interfaces.
  @nonexhaustive public enum Action: Hashable, Sendable {
    /// Unlock the vault: with any secret, with a key file, or with a recovery code.
    case unlock, unlockWithKeyFile, unlockWithRecoveryCode

    /// Lock the vault, including items that are readable without an unlock after a restart.
    case lockAll

    /// Open the vault with this key in each call.
    case giveKey(Key)

    /// Accept secret files that users other than their owner can read.
    case allowReaders(Readers)

    /// Read, change or delete a credential.
    case read, update, delete

    /// Delete this credential, which is ours or another program's.
    case deleteItem(CredentialIdentity, ofOtherProgram: Bool)

    /// Create the vault; `startingAnew` even if one existed before and is missing.
    case createVault(startingAnew: Bool)

    /// Specify the vault by its path.
    case nameVault

    /// See the vault's status, verify all of it, or accept one that is not the one seen before.
    case status, verify, acceptRestored

    /// Accept a vault whose administration key changed, after this check was compared.
    case acceptChecked(String)

    /// Open the vault after this check was compared.
    case giveCheck(String)

    /// Write the vault's file again, without replaced and deleted secrets.
    case compact

    /// Drop the items that don't open, with the change.
    case dropDamaged

    /// Specify the accessibility.
    case nameAccessibility

    /// Give the vault new keys, write an export, or replace an older backup.
    case rekey, export, replaceBackup

    /// See the slots of the vault.
    case listSlots

    /// Add a slot with this key to the vault; `nil` for any key.
    case addSlot(Key?)

    /// Add a passphrase file or a key file to the vault, so that nobody has to be asked.
    case addSlotForService

    /// Specify a slot by its number.
    case nameSlot

    /// Remove a slot, with the items that nobody could then open, or without new keys for the
    /// vault.
    case removeSlot(number: UInt32?, deletingItems: Bool, withNewKeys: Bool)

    /// Create an identity, or see its recipient.
    case createIdentity, showIdentity

    /// Pin an identity to the vault with this check; `nil` for any check.
    case pinIdentity(check: String?)

    /// Specify the store to use, the vault whatever store is recorded, or a collection of the
    /// keyring.
    case nameStore, useVault, nameCollection

    /// Move credentials to another store.
    case migrate

    /// Move the services of a keyring that is permanently gone to another store.
    case abandonSource

    /// Replace credentials in the target of a migration.
    case overwrite
  }

  /// A key that opens a vault.
  @nonexhaustive public enum Key: Hashable, Sendable {
    /// A passphrase, a key file, a recovery code, an identity (or its recipient), or this machine's
    /// device key.
    case passphrase, keyFile, recoveryCode, identity, device
  }

  /// The users, besides its owner, who may read a secret file.
  @frozen public enum Readers: Hashable, Sendable {
    /// The group of the file, or everybody.
    case group, others
  }
}

extension KeychainError.Recovery.Action: CustomStringConvertible {
  /// The name of the action in the library's API, in backticks.
  public var description: String {
    switch self {
    case .unlock, .unlockWithKeyFile, .unlockWithRecoveryCode: "`Vault.unlock(…)`"
    case .lockAll: "`Vault.lock(all: true)`"
    case .giveKey: "`Vault.Configuration.unlock`"
    case .allowReaders: "`Vault.Configuration.secretFileReaders`"
    case .read: "`CredentialStore.secret(…)`"
    case .update: "`CredentialStore.update(…)`"
    case .delete, .deleteItem(_, ofOtherProgram: false): "`CredentialStore.remove(…)`"
    case .deleteItem(_, ofOtherProgram: true):
      "`CredentialStore.remove(…, includingOtherPrograms: true)`"
    case .createVault(startingAnew: false): "`Vault.create(…)`"
    case .createVault(startingAnew: true): "`Vault.create(startingAnew: true)`"
    case .nameVault: "`Vault.Configuration.path`"
    case .status: "`Vault.status()`"
    case .verify: "`Vault.verify(…)`"
    case .acceptRestored, .acceptChecked: "`Vault.acceptRestored(…)`"
    case .giveCheck: "`Vault.trusting(…)`"
    case .compact: "`Vault.compact()`"
    case .dropDamaged: "`droppingDamaged: true`"
    case .nameAccessibility: "`Credential.accessibility`"
    case .rekey: "`Vault.rekey(…)`"
    case .export: "`Vault.export(…)`"
    case .replaceBackup: "`replacing: true` of `Vault.backup(…)`"
    case .listSlots: "`Vault.slots()`"
    case .addSlot(let key): Self.adding(key)
    case .addSlotForService: "`Vault.addPassphraseSlot(…)` or `Vault.addKeyFileSlot(…)`"
    case .nameSlot: "`slot:`"
    case .removeSlot(let number, let deletingItems, let withNewKeys):
      "`Vault.removeSlot(\(Self.argument(number))\(withNewKeys ? "" : ", keepingKeys: true")"
        + "\(deletingItems ? ", deletingItems: true" : ""))`"
    case .createIdentity: "`Vault.createIdentity(…)`"
    case .showIdentity: "`Vault.identity(…)`"
    case .pinIdentity: "`Vault.pinIdentity(…)`"
    case .nameStore: "`AutomaticStore.Configuration.choice`"
    case .useVault: "the choice `.vault`"
    case .nameCollection: "`SecretServiceStore.Configuration.collection`"
    case .migrate: "`AutomaticStore.migration(…)`"
    case .abandonSource: "`AutomaticStore.abandonKeyring(…)`"
    case .overwrite: "`CredentialMigration.isOverwriting`"
    }
  }

  private static func adding(_ key: KeychainError.Recovery.Key?) -> String {
    switch key {
    case .none: "`Vault.addPassphraseSlot(…)` or `Vault.addKeyFileSlot(…)`"
    case .passphrase: "`Vault.addPassphraseSlot(…)`"
    case .keyFile: "`Vault.addKeyFileSlot(…)`"
    case .recoveryCode: "`Vault.addRecoveryCodeSlot(…)`"
    case .identity: "`Vault.addRecipientSlot(…)`"
    case .device: "`Vault.addDeviceSlot(…)`"
    }
  }

  private static func argument(_ number: UInt32?) -> String { number.map { "\($0)" } ?? "…" }
}
