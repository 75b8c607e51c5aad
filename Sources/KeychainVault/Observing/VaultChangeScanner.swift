internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import Synchronization

/// Finds changes of a vault since the last scan.
///
/// It asks and unlocks nothing, and does not extend the unlocked time. As all readers do, it makes
/// what it finds durable before it relies on it.
final class VaultChangeScanner: Sendable {
  private struct Known {
    /// What the file was when it was looked at last; it was understood, or refused.
    var status: DiskStatus?

    /// What was found last; `nil` if that was nothing.
    var vault: ObservedVault?

    /// Whether what is there was found: otherwise no changes since then are known.
    var isBegun = false
  }

  private let file: VaultFile
  private let unlocker: Unlocker
  private let timeout: Duration

  /// `nil` if there are no observers.
  private let known = Mutex<Known?>(nil)

  init(file: VaultFile, unlocker: Unlocker, timeout: Duration) {
    self.file = file
    self.unlocker = unlocker
    self.timeout = timeout
  }

  /// Begins with nothing; the first scan only finds what is there.
  func begin() {
    known.withLock { $0 = Known() }
    file.own.keep(true)
    _ = changes()
  }

  func end() {
    known.withLock { $0 = nil }
    file.own.keep(false)
  }

  /// Returns what has changed since the last scan.
  ///
  /// - Returns: The changes, or `nil` if another process held the vault for too long. A vault that
  ///   is missing, damaged or not trusted, or of which no key is at hand, counts as unchanged for that
  ///   time: without T0, nothing shows what a change is.
  func changes() -> [CredentialChange]? {
    do throws(KeychainError) {
      guard let opened = try file.open() else {
        // Whatever is there later was added.
        known.withLock { $0?.isBegun = true }
        return []
      }
      do throws(KeychainError) {
        return try changes(opened)
      } catch {
        guard error.code != .busy, error.code != .timedOut else { throw error }
        // Looking again may touch the file, and would be noticed.
        known.withLock { $0?.status = opened.status }
        return []
      }
    } catch {
      return error.code == .busy || error.code == .timedOut ? nil : []
    }
  }

  private func changes(
    _ opened: VaultFile.Opened
  ) throws(KeychainError) -> [CredentialChange] {
    guard let old = known.withLock({ $0 }), old.status != opened.status,
      let keys = try unlocker.keysAtHand(.nothing, opened.head)
    else { return [] }
    // Before anything is made durable, which writes to the file, and would be noticed.
    if let vault = old.vault,
      try file.contents(opened, keys).newest.digest == vault.contents.newest.digest
    {
      known.withLock { $0?.status = opened.status }
      return []
    }
    let session = VaultSession(
      file: file, opened: opened, unlocker: unlocker, deadline: Deadline(after: timeout),
      notice: nil)
    let new = ObservedVault(try session.contents(keys), keys)
    let own = file.own.take(through: new.contents.newest.n)
    known.withLock { known in
      guard known != nil else { return }
      known = Known(status: opened.status, vault: new, isBegun: true)
    }
    guard old.isBegun else { return [] }
    let changes = try ItemChanges(from: old.vault, own: own, to: new)
    let sealing = try session.sealing(keys)
    // Removed items were sealed under the keys of their time.
    let isSameEpoch = old.vault.map { $0.keys.binding == keys.binding } ?? true
    let oldSealing = isSameEpoch ? sealing : try session.sealing(old.vault?.keys ?? keys)
    return changes.removed.map { CredentialChange(oldSealing.identity(of: $0), .removed) }
      + changes.added.map { CredentialChange(sealing.identity(of: $0), .added) }
      + changes.updated.map { CredentialChange(sealing.identity(of: $0), .updated) }
  }
}

extension ItemSealing {
  /// Returns the identity of an item; `nil` if the keys at hand do not open it.
  fileprivate func identity(of item: VaultItem?) -> CredentialIdentity? {
    guard let item else { return nil }
    return try? credential(of: item, name: item.name).identity
  }
}
