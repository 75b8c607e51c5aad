public import KeychainCredentials

extension Vault {
  /// Verifies the whole vault: that no row was changed, dropped or put back, that the index and the
  /// items agree, and that every item opens whose key is at hand.
  ///
  /// - Parameter progress: Called from time to time with the progress of the verification.
  /// - Returns: What was found; problems are listed, not thrown.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if not even the indexes can be
  ///   read, ``KeychainError/Code/rolledBack``, ``KeychainError/Code/noStore``, or
  ///   ``KeychainError/Code/damaged`` if the file is too damaged to be checked.
  public func verify(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VerificationReport {
    try existingSession().read(.nothing, rereads: true) {
      rows, sealing, proven throws(KeychainError) in
      var verification = VaultVerification(
        rows: rows, sealing: sealing, proven: proven, progress: progress)
      return .done(try verification.run().report.withUnlistedSlots())
    }
  }
}
