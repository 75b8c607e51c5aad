internal import KeychainCredentials

extension ItemFinder {
  /// Returns all items, or `nil` if the collection was locked before or after they were read.
  ///
  /// While it is, providers show none of them (KeePassXC) or not their names (gnome-keyring), which must
  /// not be taken for a change.
  func itemsIfUnlocked() throws(KeychainError) -> [ServiceItem]? {
    guard try !isLocked(operation.results(of: [lockedQuestion])) else { return nil }
    return try itemsIfUnlocked(allPaths())
  }

  /// Returns those of some items that are there, or `nil` if the collection was locked after they were
  /// read.
  func itemsIfUnlocked(_ paths: [String]) throws(KeychainError) -> [ServiceItem]? {
    let items = try items(paths)
    return try isLocked(operation.results(of: [lockedQuestion])) ? nil : items
  }
}
