internal import Foundation
internal import Glibc
public import KeychainCredentials
internal import SystemPackage

extension Vault {
  /// Checks the whole vault: that no row was changed, dropped or put back, that both indexes agree,
  /// and that every item opens whose key is at hand.
  ///
  /// - Parameter progress: Is told now and then how far the check has come.
  /// - Returns: What was found; problems are listed, not thrown.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if not even the indexes can be read,
  ///   ``KeychainError/Code/rolledBack``, ``KeychainError/Code/noStore``, or
  ///   ``KeychainError/Code/damaged`` if the file is damaged so far that it cannot be checked.
  public func verify(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VerificationReport {
    try existingSession().read(.nothing) { rows, sealing, state throws(KeychainError) in
      var verification = VaultVerification(
        rows: rows, sealing: sealing, state: state, progress: progress)
      return .done(try verification.run().report)
    }
  }

  /// Copies the vault into a new file, as it is at one moment, while others may go on using it.
  ///
  /// The vault is verified first.
  ///
  /// - Parameters:
  ///   - path: Where the copy goes; there must be no file yet. It is made with mode 0600.
  ///   - progress: Is told now and then how far the verification has come.
  /// - Returns: What is in the copy and what opens it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if there is a file,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, or
  ///   ``KeychainError/Code/inputOutput``. What was begun of a copy is removed.
  public func backup(
    to path: String, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> BackupReport {
    let verified = try verify(progress: progress)
    try verified.requireIntact()
    let session = try existingSession()
    let slots = try describe(try session.readHead())
    let counts = try session.opened.storage.read(session.deadline) { rows throws(KeychainError) in
      try rows.itemCounts()
    }
    let target = try TrustedPath(resolving: path).path
    do throws(Errno) {
      let descriptor = try PrivateFile.open(target, .writeOnly, flags: O_CREAT | O_EXCL)
      try? descriptor.close()
    } catch {
      if error == .fileExists {
        throw KeychainError(
          .alreadyExists, "\(path) exists already", recovery: "name a new file")
      }
      throw .system(error, "make the backup", path)
    }
    do throws(KeychainError) {
      try session.opened.storage.backup(to: target, session.deadline)
      try PrivateFile.syncFolder(TrustedPath(resolving: target).folder)
    } catch {
      for suffix in ["", "-journal"] { unsafe unlink(target + suffix) }
      throw error
    }
    return BackupReport(
      itemCount: verified.itemCount,
      deviceItemCount: counts.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +), slots: slots,
      needsThisDevice: !slots.contains { $0.grant == .root && $0.kind != .device })
  }
}
