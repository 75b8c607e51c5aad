internal import Glibc
internal import Prephirences
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Refuses local changes of a shared file that its rules don't allow, and makes a transaction a
  /// unit.
  func admit(
    _ transaction: WriteTransaction, _ state: OpenDatabase.State
  ) throws(PreferencesError) {
    let rules: SharingRules
    if let known = self.rules, known.number == state.sharing {
      rules = known
    } else {
      rules = try SharingRules(transaction.database, number: state.sharing)
      self.rules = rules
    }
    try rules.check(transaction)
    let growth = SharedTotals.Growth(transaction.changes)
    if growth.keys > 0 || growth.bytes > 0 {
      var counted = totals?.adding(growth, of: transaction)
      if counted == nil { counted = try SharedTotals(counting: transaction) }
      if let counted { try rules.check(counted, after: growth) }
      transaction.totals = counted
    }
    if transaction.keepsUnits { try transaction.closeUnit() }
  }

  /// Changes what a file says about sharing, in one transaction.
  ///
  /// - Parameters:
  ///   - creating: Whether to create the file if it is missing.
  ///   - body: Makes the changes. Values that it applies are not logged.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, or ``PreferencesError``.
  func maintain<Result>(
    creating: Bool = false, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try ForkGuard.check()
    return try locked {
      guard ownTransaction == nil else {
        throw PreferencesError(
          .conflict, "sharing cannot be changed within a transaction; do so after it")
      }
      if !creating { _ = try presentDatabase() }
      let database = try lockedDatabase(Deadline(after: file.patience))
      defer { database.counter.unlock() }
      try file.checkSidecars()
      try database.connection.run("BEGIN IMMEDIATE")
      do {
        let state = try database.state()
        try advance(to: state, database)
        let transaction = WriteTransaction(
          database, generation: state.generation + 1, isObserved: !observers.isEmpty)
        let result = try withTransaction(transaction) { try body($0) }
        try transaction.checkFailure()
        try transaction.endApplying()
        if transaction.isEmpty {
          try database.connection.run("COMMIT")
          try? checkpointIfNeeded(database)
        } else {
          try commit(transaction)
        }
        return result
      } catch {
        database.connection.rollBack()
        throw error
      }
    }
  }

  /// Returns whether the values may have come from other machines, also if the file cannot be
  /// changed here.
  func isShared() throws -> Bool {
    try ForkGuard.check()
    return try locked {
      if let transaction = ownTransaction { return transaction.database.isShared }
      try look(forWriting: false)
      switch source {
      case .database(let database): return try read(database) { database.isShared }
      case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
        return loaded.isShared
      case .unknown: return false
      }
    }
  }

  /// Reads what a file says about sharing, in one transaction.
  ///
  /// - Returns: What the closure returns; `nil` if there is no file.
  func inspect<Result>(
    _ body: (OpenDatabase, OpenDatabase.State) throws -> Result
  ) throws -> Result? {
    try ForkGuard.check()
    return try locked {
      if let transaction = ownTransaction {
        return try body(transaction.database, transaction.database.state())
      }
      guard let database = try presentDatabase() else { return nil }
      return try read(database) { try body(database, database.state()) }
    }
  }

  private func presentDatabase() throws(PreferencesError) -> OpenDatabase? {
    try look(forWriting: false)
    switch source {
    case .database(let database): return database
    case .snapshot:
      throw PreferencesError(
        .readOnly,
        "the file cannot be changed here, and so its sharing cannot be used; "
          + "make the file and its folder writable: \(file.path)")
    case .propertyList, .left, .unknown: return nil
    }
  }
}

extension WriteTransaction {
  /// Stores a value that comes from elsewhere, and so is not logged.
  ///
  /// - Returns: Whether it is another value than before.
  func apply(_ new: StoredValue?, for key: KeyBytes) throws(PreferencesError) -> Bool {
    if !isApplying { try toggleLogging() }
    isApplying = true
    let count = changes.count
    try store(new, for: key)
    return changes.count > count
  }

  func endApplying() throws(PreferencesError) {
    guard isApplying else { return }
    try toggleLogging()
    isApplying = false
  }

  private func toggleLogging() throws(PreferencesError) {
    try database.connection.run("UPDATE state SET sharing = -sharing")
  }
}
