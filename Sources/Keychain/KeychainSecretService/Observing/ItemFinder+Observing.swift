internal import KeychainCredentials

extension ItemFinder {
  /// Returns all items, or `nil` if the collection was locked before or after they were read.
  ///
  /// While it is locked, providers show no items (KeePassXC) or hide their names (gnome-keyring),
  /// which must not look like a change.
  func itemsIfUnlocked() throws(KeychainError) -> [ServiceItem]? {
    guard try !isLocked(operation.results(of: [lockedQuestion])) else { return nil }
    return try itemsIfUnlocked(allPaths())
  }

  /// Returns the existing ones of some items, or `nil` if the collection was locked after they were
  /// read.
  func itemsIfUnlocked(_ paths: [String]) throws(KeychainError) -> [ServiceItem]? {
    let items = try items(paths)
    return try isLocked(operation.results(of: [lockedQuestion])) ? nil : items
  }
}
