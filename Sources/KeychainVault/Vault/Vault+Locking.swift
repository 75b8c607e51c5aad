internal import Foundation
public import KeychainCredentials
internal import PrephirencesFiles

extension Vault {
  /// Unlocks the vault for later commands and programs of the user.
  ///
  /// The keys are put into the kernel's user keyring, where they stay for as long as the vault is
  /// used within each idle time (``VaultConfiguration/idleTime``), and 12 hours at most; the
  /// keys of items that are readable after the first unlock stay until the next boot. A vault that the
  /// device secret opens is open to later commands also where the kernel keeps no keys.
  ///
  /// - Parameter timeout: How long the vault stays unlocked, used or not, 12 hours at most; `nil` for
  ///   the idle time.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` if the passphrase or key is
  ///   wrong, ``KeychainError/Code/locked`` if there is none to be had, ``KeychainError/Code/noStore`` if
  ///   there is no vault, ``KeychainError/Code/rolledBack`` if it is not the one that was seen here, or
  ///   ``KeychainError/Code/refused`` if the kernel keeps no keys here.
  public func unlock(timeout: Duration? = nil) throws(KeychainError) {
    let session = try existingSession()
    let head = try session.readHead()
    let keys = try unlocker.allKeys(head, path: session.opened.path, session.deadline)
    // What is cached must be found again by what was seen, when the file is gone.
    try session.recordSight(keys)
    do throws(KeychainError) {
      try unlocker.cache.put(keys, fixedTime: timeout)
    } catch {
      // What the device key opens needs no cache to be open for later commands.
      guard try unlocker.device.keys(head)?.readable == .unlockedNow else { throw error }
    }
  }

  /// Locks the vault, for this handle and for all programs that took its keys from the kernel.
  ///
  /// A program that was given the passphrase itself stays unlocked until it locks, or for its idle
  /// time. A vault that the device secret opens stays open to it.
  ///
  /// The keys are forgotten of the vault that was seen here last, and of the one that lies there now.
  ///
  /// - Parameter all: Whether items that are readable after the first unlock are locked as well.
  /// - Throws: ``KeychainError`` if the vault cannot be read, or with
  ///   ``KeychainError/Code/insecurePermissions`` if others could replace it; the keys of the one that was
  ///   seen last are forgotten all the same. That there is none is no error, unless what was seen of one that is gone
  ///   cannot be read either.
  public func lock(all: Bool = false) throws(KeychainError) {
    unlocker.forgetHeldKeys()
    if let head = knownHead.value { unlocker.lock(head.row.checks.open, all: all) }
    // The file may be gone, or its row changed, so that it does not lead to the keys.
    let seen = file.seenForLocking()
    for check in seen.record?.checks ?? [] { unlocker.lock(check, all: all) }
    do throws(KeychainError) {
      guard let session = try session() else { return }
      unlocker.lock(try session.readHead().row.checks.open, all: all)
    } catch {
      guard error.code == .noStore, seen.record != nil else { throw error }
    }
  }
}
