package import Prephirences

extension SharedReplica {
  // MARK: - Receiving

  /// Compares everything that the engine has, at one revision, with the shadow.
  ///
  /// Nothing happens if the identity is not that of the file; the first one is taken.
  ///
  /// - Parameters:
  ///   - snapshot: The snapshot.
  ///   - known: The state before the snapshot was read; `nil` if nothing is sent meanwhile.
  /// - Returns: The outcome.
  /// - Throws: ``PreferencesError``.
  package func apply(
    _ snapshot: SharedSnapshot, since known: SharingState? = nil
  ) throws(PreferencesError) -> SnapshotOutcome {
    try change { try $0.apply(snapshot, since: known) }
  }

  /// Applies what a watch has reported: each element is one revision.
  ///
  /// - Returns: ``SnapshotOutcome/cloned`` if one shows that another file writes with this file's
  ///   tag; that one and later ones are not applied.
  package func apply(
    _ revisions: [SharedRevision]
  ) throws(PreferencesError) -> SnapshotOutcome {
    try change { transaction in
      for revision in revisions where try !transaction.apply(revision) { return .cloned }
      return .applied
    }
  }

  // MARK: - Sending

  /// Returns the unit that was numbered and is not settled, or else numbers the next one.
  ///
  /// The file is synced then, so that the number is never used again. `nil` if nothing can be sent
  /// now.
  package func nextUnit() throws(PreferencesError) -> SharedUnit? {
    let (unit, nonce, database) = try change { transaction in
      if try !transaction.isInFlight() { try transaction.numberNextUnit() }
      let unit = try transaction.numberedUnit()
      let database = transaction.write.database
      // Another process may have been killed before its number was on the disk.
      let isSynced = unit == nil || database.syncedUnit == transaction.sync.nonce
      return (unit, isSynced ? nil : transaction.sync.nonce, database)
    }
    guard let nonce else { return unit }
    // Outside of all locks: writers don't wait for the disk.
    let engine = try preferences.engine()
    try preferences.typed {
      try engine.syncLog(database)
      try engine.locked { database.syncedUnit = nonce }
    }
    return unit
  }

  /// The engine has the unit.
  ///
  /// `apply` does the same when it meets the unit's rows. Nothing happens if the unit is settled already.
  package func acknowledge(_ unit: SharedUnit, revision: Int64) throws(PreferencesError) {
    try settle(unit) { try $0.acknowledge(revision: revision) }
  }

  /// The engine has refused the unit's compares, and can never perform it.
  ///
  /// Its changes go back into the log. Those whose key was changed since wait for a decision, once
  /// that was received.
  package func reject(_ unit: SharedUnit) throws(PreferencesError) {
    try settle(unit) { try $0.recall() }
  }

  /// The engine refuses the unit for another reason: it waits, and others go on.
  ///
  /// - Parameters:
  ///   - unit: The unit.
  ///   - keys: Which changes wait; the others go back into the log. `nil`, and those of a
  ///     transaction: all.
  ///   - reason: Why.
  ///   - message: The same in words.
  /// - Throws: ``PreferencesError``.
  package func setAside(
    _ unit: SharedUnit, keys: [PreferenceKey]?, because reason: SetAsideReason, _ message: String
  ) throws(PreferencesError) {
    let named = keys.map { Set($0.map(KeyBytes.init)) }
    try settle(unit) { transaction in
      for unit in try transaction.units(in: .inFlight) {
        let waits =
          try unit.isAtomic
          || named.map { named in
            try transaction.changes(of: unit.id).contains { named.contains($0.key) }
          } ?? true
        try transaction.set(waits ? .setAside(reason) : .waiting, of: unit.id, waits ? message : "")
      }
    }
  }

  /// Changes the unit that was numbered last, if it is this one.
  private func settle(
    _ unit: SharedUnit, _ body: (ReplicaTransaction) throws -> Void
  ) throws(PreferencesError) {
    try change { transaction in
      let sync = transaction.sync
      guard sync.writer == unit.writer, sync.newWriterRow == unit.newWriterRow,
        try transaction.isInFlight()
      else { return }
      try body(transaction)
    }
  }

  /// Lets what was set aside be sent again; of one reason, or all.
  package func retrySetAside(_ reason: SetAsideReason?) throws(PreferencesError) {
    try change { transaction in
      let (least, greatest) =
        reason.map { reason in
          (UnitState.setAside(reason).number, UnitState.setAside(reason).number)
        } ?? (10, .max)
      let count =
        try transaction.connection.integer(
          "SELECT count(*) FROM unit WHERE state >= 10") ?? 0
      guard count > 0 else { return }
      try transaction.connection.run(
        "UPDATE unit SET state = 0, message = x'' WHERE state BETWEEN ? AND ?", .integer(least),
        .integer(greatest))
      transaction.write.wakesOthers = true
    }
  }
}
