internal import KeychainCredentials

// What a run finds of an earlier one that did not finish.
extension MigrationRun {
  /// Returns the unchanged copies of earlier runs whose original is gone and whose service has not
  /// changed over.
  ///
  /// After a change-over, programs use the target, and what the source lacks was moved.
  ///
  /// - Parameter listed: The credentials of the source.
  /// - Returns: The copies in the target.
  /// - Throws: ``KeychainError`` of one of the stores.
  func copiesWithoutOriginal(_ listed: [Credential]) throws(KeychainError) -> [Credential] {
    guard !migration.isOverwriting else { return [] }
    let names = Set(listed.map(\.identity))
    var found: [Credential] = []
    for copy in earlierCopies where !names.contains(copy.identity) {
      if try migration.isChosen?(copy.identity.service) ?? true { continue }
      // A search shows an item of another program under only one of its names.
      guard try source.credential(for: copy.identity) == nil,
        try target.credential(for: copy.identity)?.version == copy.version
      else { continue }
      found.append(copy)
    }
    return found
  }

  /// Forgets the copies of services that have changed over.
  func forgetCopies() throws(KeychainError) {
    guard let notes = migration.notes else { return }
    let complete = Set(report.completeServices)
    let copies = noted + earlierCopies
    if migration.service == nil, migration.server == nil, migration.accessGroup == nil {
      try notes.forget(allBut: copies.filter { !complete.contains($0.identity.service) })
    } else {
      try notes.forget(copies.filter { complete.contains($0.identity.service) })
    }
  }
}
