public import KeychainCredentials
public import KeychainSecrets

public final class Vault: CredentialStore {
  public let configuration: Configuration
  public init(configuration: Configuration = Configuration()) { self.configuration = configuration }
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? { fatalError() }
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? { fatalError() }
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult { fatalError() }
  @discardableResult
  public func store(_ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode) throws(KeychainError) -> Credential { fatalError() }
  @discardableResult
  public func update(_ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?) throws(KeychainError) -> Credential { fatalError() }
  @discardableResult
  public func remove(_ identity: CredentialIdentity, expectedVersion: UInt64?) throws(KeychainError) -> Bool { fatalError() }
  public func observe(_ observer: @escaping @Sendable (CredentialChange) -> Void) -> CredentialObservation { fatalError() }

  /// The resolved real path of the vault.
  public func path() throws(KeychainError) -> String { fatalError() }
  /// Makes the vault. `.alreadyExists` if there is one; `.noStore` if one was seen here before and is gone, unless startingAnew.
  public func create(passphrase: borrowing SecretBytes?, keyFile: String?, device: Bool, startingAnew: Bool) throws(KeychainError) { fatalError() }
  /// Unlocks for other commands through the kernel cache; `.refused` (79) if there is no cache.
  public func unlock(timeout: Duration?) throws(KeychainError) { fatalError() }
  /// Forgets T2 (all: every tier), in the kernel cache and in this handle.
  public func lock(all: Bool) throws(KeychainError) { fatalError() }
  /// Never prompts, never resets the idle time.
  public func status() throws(KeychainError) -> VaultStatus { fatalError() }
  public func slots() throws(KeychainError) -> [VaultSlot] { fatalError() }
  /// Admin operations need a slot that grants root: explicit source, environment, prompt, or a device slot that grants root.
  @discardableResult
  public func addPassphraseSlot(_ passphrase: borrowing SecretBytes) throws(KeychainError) -> VaultSlot { fatalError() }
  @discardableResult
  public func addKeyFileSlot(path: String) throws(KeychainError) -> VaultSlot { fatalError() }
  @discardableResult
  public func addDeviceSlot() throws(KeychainError) -> VaultSlot { fatalError() }
  /// Removing the last passphrase while whenPasscodeSet items exist: `.refused` naming them unless deletingItems. Returns what was deleted with it.
  @discardableResult
  public func removeSlot(_ number: UInt32, deletingItems: Bool) throws(KeychainError) -> [Credential] { fatalError() }
  /// Items that removeSlot(_:deletingItems: true) would delete.
  public func itemsDeleted(withSlot number: UInt32) throws(KeychainError) -> [Credential] { fatalError() }
  public func verify(progress: ((VaultProgress) -> Void)?) throws(KeychainError) -> VerificationReport { fatalError() }
  public func backup(to path: String, progress: ((VaultProgress) -> Void)?) throws(KeychainError) -> BackupReport { fatalError() }
  /// `confirm` sees the differences; false throws `.cancelled`.
  public func acceptRestored(confirm: (RestoredDifferences) throws(KeychainError) -> Bool) throws(KeychainError) { fatalError() }
}
