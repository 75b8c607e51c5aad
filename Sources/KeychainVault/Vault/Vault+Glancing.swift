internal import Foundation
package import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// A missing vault, and how much of its path exists.
package struct VaultAbsence: Hashable, Sendable {
  /// The real path at which the vault is missing.
  package let path: String

  /// The folder in which it would be.
  package let folder: String

  /// Whether that folder exists.
  package let hasFolder: Bool
}

// What a vault shows without asking, hashing or extending its unlocked time.
extension Vault {
  /// Returns what exists of the path of a missing vault.
  ///
  /// - Returns: What exists; `nil` if there is a vault.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/noStore`` if there was a vault and it
  ///   is gone.
  package func absence() throws(KeychainError) -> VaultAbsence? {
    guard try !isThere() else { return nil }
    let path = try file.path()
    let folder = try? Stat(FilePath(path.folder))
    return VaultAbsence(
      path: path.path, folder: path.folder, hasFolder: folder?.type == .directory)
  }

  /// Searches with the keys that are at hand.
  ///
  /// - Parameters:
  ///   - query: The conditions.
  ///   - time: How long to wait for another process.
  /// - Returns: What was found; `nil` if there is no vault or no key at hand opens its indexes.
  /// - Throws: ``KeychainError`` if the vault cannot be read.
  package func glance(
    _ query: CredentialQuery, within time: Duration
  ) throws(KeychainError) -> CredentialSearchResult? {
    try glancing(within: time) { search throws(KeychainError) in try search.run(query) }
  }

  /// Searches with the keys that are at hand, in one index only, which is as fast in a large vault.
  ///
  /// A damaged index can hide items, so use this for hints only.
  ///
  /// - Parameters:
  ///   - query: The conditions, at least one.
  ///   - limit: The largest number of items to examine.
  ///   - time: How long to wait for another process.
  /// - Returns: As ``glance(_:within:)``.
  /// - Throws: ``KeychainError`` if the vault cannot be read.
  package func quickGlance(
    _ query: CredentialQuery, limit: Int, within time: Duration
  ) throws(KeychainError) -> CredentialSearchResult? {
    try glancing(within: time) { search throws(KeychainError) in
      try search.runByIndex(query, limit: limit)
    }
  }

  private func glancing(
    within time: Duration,
    _ body: (inout VaultSearch) throws(KeychainError) -> CredentialSearchResult
  ) throws(KeychainError) -> CredentialSearchResult? {
    let own = Deadline(after: time)
    let deadline = configuration.commonDeadline.map(own.limited) ?? own
    guard let session = try file.open(deadline).map({ session($0, deadline) }) else { return nil }
    let head = try session.readHead()
    guard let keys = try unlocker.keysAtHand(.nothing, head) else { return nil }
    let device = try unlocker.device.find()?.inVault(head.row.id)
    let sealing = ItemSealing(keys: keys, device: device)
    return try session.opened.storage.read(deadline) {
      rows throws(KeychainError) -> CredentialSearchResult? in
      guard try rows.headRow().owns(keys) else { return nil }
      var search = VaultSearch(rows: rows, sealing: sealing, proven: try session.proven(rows, keys))
      return try body(&search)
    }
  }
}
