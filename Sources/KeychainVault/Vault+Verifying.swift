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

  /// Copies the vault into a new file, as it is at one moment.
  ///
  /// One read transaction verifies and copies the vault. Others can read the vault meanwhile. Their changes
  /// wait for the end of the transaction, and fail with ``KeychainError/Code/busy`` if their deadline passes
  /// before it.
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
    let target = try TrustedPath(resolving: path)
    // What lies beside the copy would be believed as a part of it.
    for path in [target.path] + FilesBesideVault(target.path).paths {
      try NewFile.requireAbsent(path)
    }
    return try existingSession().read(.nothing) { rows, sealing, state throws(KeychainError) in
      var verification = VaultVerification(
        rows: rows, sealing: sealing, state: state, progress: progress)
      let verified = try verification.run().report
      try verified.requireIntact()
      let report = try backupReport(of: rows, itemCount: verified.itemCount)
      try Self.copyAll(rows, to: target)
      return .done(report)
    }
  }

  private func backupReport(
    of rows: any VaultRows, itemCount: Int
  ) throws(KeychainError) -> BackupReport {
    let slots = try describe(VaultHead(rows))
    let counts = try rows.itemCounts()
    return BackupReport(
      itemCount: itemCount,
      deviceItemCount: counts.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +), slots: slots,
      needsThisDevice: !slots.contains { $0.grant == .root && $0.kind != .device })
  }

  private static func copyAll(
    _ rows: any VaultRows, to target: TrustedPath
  ) throws(KeychainError) {
    do throws(Errno) {
      try PrivateFile.makeEmpty(target.path)
    } catch {
      guard error != .fileExists else { throw .isThere(target.path) }
      throw .system(error, "make the backup", target.path)
    }
    do throws(KeychainError) {
      try rows.copyAll(to: target.path)
      try PrivateFile.syncFolder(target.folder)
    } catch {
      for path in [target.path] + FilesBesideVault(target.path).paths { unsafe unlink(path) }
      throw error
    }
  }
}
