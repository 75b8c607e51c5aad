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
  /// - Returns: What was found; `nil` if there is no vault or no key is at hand.
  /// - Throws: ``KeychainError`` if the vault cannot be read.
  package func glance(
    _ query: CredentialQuery, within time: Duration
  ) throws(KeychainError) -> CredentialSearchResult? {
    let own = Deadline(after: time)
    let deadline = configuration.commonDeadline.map(own.limited) ?? own
    guard let opened = try file.open() else { return nil }
    return try session(opened, deadline).glance(query)
  }
}

extension VaultSession {
  /// Searches with the keys that are at hand; what they do not open is counted.
  ///
  /// - Returns: `nil` if there are none.
  func glance(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult? {
    guard let keys = try unlocker.keysAtHand(.nothing, head) else { return nil }
    return try contents(keys).search(query, sealing(keys))
  }
}
