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
    try existingSession().read(.nothing, anew: true) { contents, sealing throws(KeychainError) in
      .done(
        try VaultVerification(contents: contents, sealing: sealing, progress: progress).run())
    }
  }

  /// Makes the vault's file anew from what it holds, so that what was replaced or deleted is not in it any more.
  ///
  /// It needs the keys of all items.
  ///
  /// - Throws: ``KeychainError``; the vault is as before, but for ``KeychainError/Code/outcomeUnknown``.
  public func compact() throws(KeychainError) {
    try existingSession().write(.unlockedNow) { writer throws(KeychainError) in
      writer.makesBase = true
      return .done(())
    }
  }

  /// Removes an item by the id that a verification shows, also one that is damaged.
  ///
  /// - Parameter id: the hexadecimal digits of its id, or as many of the first as tell it apart.
  /// - Returns: whether there was one.
  /// - Throws: ``KeychainError/Code/ambiguous``, ``KeychainError/Code/locked``.
  public func removeItem(id: String) throws(KeychainError) -> Bool {
    guard let session = try session() else { return false }
    return try session.write(.nothing) { writer throws(KeychainError) in
      var found: [VaultItem] = []
      try writer.contents.forEachItem(writer.keys) { visited throws(KeychainError) in
        switch visited {
        case .item(let item), .shadowed(let item):
          if item.id.data.hexadecimal.hasPrefix(id.lowercased()) { found.append(item) }
        case .damagedPage: break
        }
      }
      guard let item = found.first, !id.isEmpty else { return .done(false) }
      guard Set(found.map(\.id)).count == 1 else {
        throw KeychainError(
          .ambiguous, "\(found.count) items have an id that begins with \(id)",
          recovery: "give more of its digits, which \(.verify) shows")
      }
      guard writer.keys.satisfies(item.requirement) else { return .again(item.requirement) }
      try writer.remove(item.id)
      return .done(true)
    }
  }
}
