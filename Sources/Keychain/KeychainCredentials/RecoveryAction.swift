extension KeychainError.Recovery {
  /// Something that a program or a person does about a failure, with an interface of this package.
  ///
  /// More may be added, so a `switch` needs a default case.
  public enum Action: Hashable, Sendable {
    /// Unlock the vault.
    case unlock

    /// Unlock the vault with a key file.
    case unlockWithKeyFile

    /// Unlock the vault with a recovery code.
    case unlockWithRecoveryCode

    /// Lock the vault, including items that are readable without an unlock after a restart.
    case lockAll

    /// Open the vault with this key in each call.
    case giveKey(Key)

    /// Accept secret files that are readable by others than their owner.
    case allowReaders(Readers)

    /// Read a credential.
    case read

    /// Change a credential, such as its accessibility.
    case update

    /// Delete a credential.
    case delete

    /// Delete this credential, which is ours or another program's.
    case deleteItem(CredentialIdentity, ofOtherProgram: Bool)

    /// Create the vault; `startingAnew` even if one existed before and is missing.
    case createVault(startingAnew: Bool)

    /// Specify the vault by its path.
    case nameVault

    /// See the vault's status.
    case status

    /// Verify the whole vault.
    case verify

    /// Accept a vault that is not the one seen before.
    case acceptRestored

    /// Accept a vault whose administration key changed, after this check was compared.
    case acceptChecked(String)

    /// Open the vault after this check was compared.
    case giveCheck(String)

    /// Make the vault's file anew, without what was replaced and deleted.
    case compact

    /// Drop the items that don't open, with the change.
    case dropDamaged

    /// Specify the accessibility.
    case nameAccessibility

    /// Give the vault new keys.
    case rekey

    /// Write an export.
    case export

    /// Replace an older backup.
    case replaceBackup

    /// See the slots of the vault.
    case listSlots

    /// Add a slot with this key to the vault; `nil` for any key.
    case addSlot(Key?)

    /// Add a passphrase file or a key file to the vault, so that nobody has to be asked.
    case addSlotForService

    /// Specify a slot by its number.
    case nameSlot

    /// Remove a slot, with the items that nobody could open any more, or without new keys for the
    /// vault.
    case removeSlot(number: UInt32?, deletingItems: Bool, withNewKeys: Bool)

    /// Create an identity.
    case createIdentity

    /// See an identity's recipient.
    case showIdentity

    /// Pin an identity to the vault with this check; `nil` for any check.
    case pinIdentity(check: String?)

    /// Specify the store to use.
    case nameStore

    /// Use the vault, whatever store is recorded.
    case useVault

    /// Specify a collection of the desktop keyring.
    case nameCollection

    /// Move credentials to another store.
    case migrate

    /// Give the services of a keyring that is gone for good another store.
    case abandonSource

    /// Replace credentials in the target of a migration.
    case overwrite
  }

  /// A key that opens a vault.
  public enum Key: Hashable, Sendable {
    /// A passphrase.
    case passphrase

    /// A key file.
    case keyFile

    /// A recovery code.
    case recoveryCode

    /// An identity, or its recipient.
    case identity

    /// This machine's device key.
    case device
  }

  /// Who may read a secret file, besides its owner.
  public enum Readers: Hashable, Sendable {
    /// The group of the file.
    case group

    /// Everybody.
    case others
  }
}

extension KeychainError.Recovery.Action: CustomStringConvertible {
  /// The library's API for the action, in backticks.
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
    case .giveCheck: "`Vault.trust(…)`"
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

  private static func argument(_ number: UInt32?) -> String {
    number.map { "\($0)" } ?? "…"
  }
}
