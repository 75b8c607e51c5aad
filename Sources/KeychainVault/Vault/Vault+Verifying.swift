internal import Foundation
public import KeychainCredentials
internal import KeychainVaultFormat

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
  /// - Parameter ids: the hexadecimal digits of the ids of items that go with it, or as many of the first as tell one apart, as a
  ///   verification shows them; also of items that are damaged.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/notFound`` or ``KeychainError/Code/ambiguous`` for an id; the vault is as before, but for
  ///   ``KeychainError/Code/outcomeUnknown``.
  public func compact(dropping ids: [String] = []) throws(KeychainError) {
    try existingSession().write(.unlockedNow) { writer throws(KeychainError) in
      for id in ids { try writer.remove(id: id) }
      writer.makesBase = true
    }
  }
}

extension VaultWriter {
  fileprivate mutating func remove(id digits: String) throws(KeychainError) {
    var found: Set<ItemID> = []
    try contents.forEachItem(keys) { visited throws(KeychainError) in
      switch visited {
      case .item(let item), .shadowed(let item):
        if item.id.data.hexadecimal.hasPrefix(digits.lowercased()) { found.insert(item.id) }
      case .damagedPage: break
      }
    }
    guard let id = found.first, !digits.isEmpty else {
      throw KeychainError(
        .notFound, "the vault has no item \(digits)", recovery: "see the items with \(.verify)")
    }
    guard found.count == 1 else {
      throw KeychainError(
        .ambiguous, "\(found.count) items have an id that begins with \(digits)",
        recovery: "give more of its digits")
    }
    try remove(id)
  }
}
