internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem

extension Engine {
  /// Refuses local changes of a shared file that its rules don't allow, and makes a transaction a
  /// batch.
  func admit(_ transaction: WriteTransaction, _ state: OpenDatabase.State) throws {
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
    if transaction.keepsBatches { try transaction.closeBatch() }
  }

  /// Changes the state of sharing in a file, in one transaction.
  func maintain<Result>(
    creating: Bool = false, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try locked {
      guard ownTransaction == nil else {
        throw PreferencesError(
          .conflict, "sharing cannot be changed within a transaction; do so after it")
      }
      if !creating { _ = try presentDatabase() }
      return try changing { database, state in
        let transaction = WriteTransaction(
          database, generation: state.generation + 1, isObserved: !observers.isEmpty)
        let result = try withTransaction(transaction, body)
        try transaction.checkFailure()
        try transaction.endApplying()
        if transaction.isEmpty {
          try database.connection.run("COMMIT")
          noteUncopiedChanges(of: database)
          try? checkpointIfNeeded(database)
        } else {
          try commit(transaction)
        }
        return result
      }
    }
  }

  /// Whether the values may come from other machines, also if the file cannot be changed here.
  func isShared() throws -> Bool {
    try locked {
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

  /// Reads the state of sharing in one transaction, or returns `nil` if there is no file.
  func inspect<Result>(
    _ body: (OpenDatabase, OpenDatabase.State) throws -> Result
  ) throws -> Result? {
    try locked {
      if let transaction = ownTransaction {
        return try body(transaction.database, transaction.database.state())
      }
      guard let database = try presentDatabase() else { return nil }
      return try read(database) { try body(database, database.state()) }
    }
  }

  private func presentDatabase() throws -> OpenDatabase? {
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
