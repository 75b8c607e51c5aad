internal import KeychainCredentials

// What a run finds of an earlier one that did not come to its end.
extension MigrationRun {
  /// The copies of earlier runs whose original is gone, as long as they are as they were and their service has
  /// not changed over: afterwards the target is what programs use, and what the source lacks was moved.
  ///
  /// - Parameter listed: What the source has.
  /// - Returns: The copies, as the target has them.
  /// - Throws: ``KeychainError`` of one of the stores.
  func copiesWithoutOriginal(_ listed: [Credential]) throws(KeychainError) -> [Credential] {
    guard !migration.isOverwriting else { return [] }
    let names = Set(listed.map(\.identity))
    var found: [Credential] = []
    for copy in earlierCopies where !names.contains(copy.identity) {
      if try migration.isChosen?(copy.identity.service) ?? true { continue }
      // A search shows an item of another program under one of its names only.
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
