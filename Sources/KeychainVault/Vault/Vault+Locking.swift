public import KeychainCredentials
public import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Trusts the vault for this handle, if it has this check, which a person compared with what its administrator shows.
  ///
  /// It is needed for a vault that was never seen here, and whose administration key changed since the secret that opens it was last
  /// given in a change of what opens the vault.
  ///
  /// - Parameter check: the check; a vault with another one is then refused.
  public func trust(_ check: VaultCheck) { unlocker.trust.check = check }

  /// Unlocks the vault for later commands and programs of the user.
  ///
  /// The kernel's user keyring keeps the keys as long as the vault is used at least once within
  /// each idle time (``VaultConfiguration/idleTime``), but at most 12 hours. The keys of items that
  /// are readable after the first unlock stay until the next boot. A vault that the device secret
  /// opens is open to later commands even if the kernel keeps no keys.
  ///
  /// - Parameter timeout: How long the vault stays unlocked, used or not; at most 12 hours. `nil`
  ///   uses the idle time.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` if the passphrase or
  ///   key is wrong, ``KeychainError/Code/locked`` if no secret is available,
  ///   ``KeychainError/Code/noStore`` if there is no vault, ``KeychainError/Code/rolledBack`` if it
  ///   is not the one that was seen here, or ``KeychainError/Code/refused`` if the kernel keeps no
  ///   keys here.
  public func unlock(timeout: Duration? = nil) throws(KeychainError) {
    let session = try existingSession()
    let head = session.head
    try session.requireKnownHead()
    let keys = try unlocker.allKeys(head, path: session.path, session.deadline)
    // When the file is gone, cached keys are found by the seen record.
    _ = try session.contents(keys)
    do throws(KeychainError) {
      try unlocker.cache.put(keys, of: head.id, fixedTime: timeout)
    } catch {
      // A vault that the device key opens is open for later commands without a cache.
      guard try unlocker.device.keys(head)?.readable == .unlockedNow else { throw error }
    }
  }

  /// Locks the vault, for this handle and for all programs that took its keys from the kernel.
  ///
  /// A program that was given the passphrase itself stays unlocked until it locks or its idle time
  /// ends. A vault that the device secret opens stays open to it.
  ///
  /// Removes the keys of the vault that was seen here last, also if a link has taken its place, and
  /// of the vault at its path now.
  ///
  /// - Parameter all: Whether to lock items that are readable after the first unlock, too.
  /// - Throws: ``KeychainError`` if the vault cannot be read, with
  ///   ``KeychainError/Code/insecurePermissions`` if others could replace it, with
  ///   ``KeychainError/Code/damaged`` if the record of what was seen cannot be read, so that keys may
  ///   stay, or with ``KeychainError/Code/inputOutput`` if the kernel keeps a key. All other keys are
  ///   removed in any case. A missing vault is not an error, unless its record cannot be read.
  public func lock(all: Bool = false) throws(KeychainError) { _ = try lockWhatWasSeen(all: all) }

  /// Locks the vault as ``lock(all:)`` does, and returns whether there was a vault, or the record of
  /// one.
  package func lockWhatWasSeen(all: Bool) throws(KeychainError) -> Bool {
    unlocker.held.forget()
    var seen: Set<VaultID> = []
    var unreadable: SeenRecordFile?
    if let head = file.knownHead { seen.insert(head.id) }
    // The file may be gone, or be of another vault.
    for file in file.seenForLocking() {
      switch file.read() {
      case .none: break
      case .unreadable: unreadable = unreadable ?? file
      case .record(let record): seen.insert(record.id)
      }
    }
    // Every key goes before the first failure is reported.
    var isOpen = !unlocker.lock(seen, all: all)
    var isThere = false
    do throws(KeychainError) {
      if let session = try session() {
        isThere = true
        isOpen = !unlocker.lock([session.head.id], all: all) || isOpen
      }
    } catch {
      guard error.code == .noStore, !seen.isEmpty else {
        throw seen.isEmpty || isOpen || unreadable != nil ? error : error.afterForgettingKeys
      }
    }
    guard !isOpen else { throw .keyStays }
    // Another vault may lie here than the one that was seen.
    if let unreadable { throw .unknownKeysMayStay(unreadable.path) }
    return isThere || !seen.isEmpty
  }
}
