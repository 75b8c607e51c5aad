internal import Foundation
package import Prephirences

/// What keeps a file of preferences in step with an engine.
///
/// It is what the engine has (the shadow), what is unsent (the log), and what came from elsewhere
/// (the journal). It knows no network.
///
/// Every process that has the file open can use it; those that send and receive hold the lock of the
/// sender. Every function is one transaction of the file, and throws ``PreferencesError``, with
/// ``PreferencesError/Code/notFound`` if the file is not shared, or otherwise than it must be.
package final class SharedReplica: Sendable {
  package let preferences: DurablePreferences

  /// How the file must be shared; `nil` if that is all the same.
  package let sharing: Sharing?

  package init(_ preferences: DurablePreferences, during sharing: Sharing? = nil) {
    self.preferences = preferences
    self.sharing = sharing
  }

  /// The path of the file of preferences.
  package func filePath() throws(PreferencesError) -> String { try preferences.suiteFile().path }

  // MARK: - Sharing

  /// Whether the file is shared; false if there is no file.
  package func isShared() throws(PreferencesError) -> Bool {
    try preferences.typed { try engine().inspect { $1.sharing > 0 } ?? false }
  }

  /// Begins to share the file, or changes the settings.
  ///
  /// Its values go into the log, based on nothing.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - clearingDecisions: Whether `programDecides` may become false; otherwise it stays true once
  ///     it is, since not every process that opens the file knows.
  /// - Throws: ``PreferencesError``.
  package func share(
    _ settings: SharingSettings, clearingDecisions: Bool = false
  ) throws(PreferencesError) {
    try preferences.typed {
      // This imports what `UserDefaults` has.
      try engine().open()
      try engine().maintain(creating: true) { write in
        if try write.database.state().sharing > 0 {
          try Self.change(settings, clearingDecisions, write)
        } else {
          try Self.begin(settings, write)
        }
      }
    }
  }

  private static func begin(
    _ settings: SharingSettings, _ write: WriteTransaction
  ) throws(PreferencesError) {
    let connection = write.database.connection
    try SharingSchema.create(connection)
    write.database.isShared = true
    let record = SyncRecord(settings: settings, writer: .random())
    try record.insert(connection)
    try connection.run("INSERT INTO writer VALUES(?, 0, 1)", .bytes(record.writer.bytes))
    try write.logAllValues()
    try write.renewRules()
  }

  private static func change(
    _ settings: SharingSettings, _ clearingDecisions: Bool, _ write: WriteTransaction
  ) throws(PreferencesError) {
    let transaction = try ReplicaTransaction(write)
    var settings = settings
    if transaction.sync.settings.programDecides, !clearingDecisions {
      settings.programDecides = true
    }
    guard settings != transaction.sync.settings else { return }
    transaction.sync.settings = settings
    if !settings.programDecides {
      for conflict in try transaction.conflicts() {
        try transaction.decideByOrder(conflict.unit.id)
      }
    }
    try transaction.close()
    try write.renewRules()
  }

  /// Ends sharing: the file is a plain one again, with the values that it has.
  ///
  /// - Parameter losesUnsent: Whether to end it also if something is unsent, in one step with looking.
  /// - Returns: How many keys are unsent; if there are any, and `losesUnsent` is false, the file is
  ///   still shared.
  /// - Throws: ``PreferencesError``.
  @discardableResult
  package func unshare(losesUnsent: Bool = true) throws(PreferencesError) -> Int {
    try preferences.typed {
      guard try isShared() else { return 0 }
      return try engine().maintain { write in
        guard try write.database.state().sharing > 0 else { return 0 }
        let connection = write.database.connection
        let unsent = Int(try connection.integer("SELECT count(DISTINCT key) FROM log") ?? 0)
        guard unsent == 0 || losesUnsent else { return unsent }
        try SharingSchema.remove(connection)
        try connection.run("UPDATE state SET sharing = 0")
        write.database.isShared = false
        write.wakesOthers = true
        return unsent
      }
    }
  }

  // MARK: - Identity

  /// Takes the identity of the store that is there now, as at the first contact: forgets the shadow,
  /// takes a new tag, and puts every value into the log, based on nothing.
  package func adopt(identity: [UInt8]) throws(PreferencesError) {
    try change { transaction in
      for table in ["log", "unit", "shadow", "writer"] {
        try transaction.connection.run("DELETE FROM \(table)")
      }
      try transaction.takeNewTag()
      transaction.sync.identity = identity
      transaction.sync.revision = 0
      transaction.sync.arrival = .accountChange
      try transaction.write.logAllValues()
      transaction.write.wakesOthers = true
    }
  }

  /// Takes a new tag, because another file writes with this one.
  ///
  /// The log stays; a unit that was numbered loses its number.
  package func renewWriter() throws(PreferencesError) {
    try change { transaction in
      try transaction.recall()
      try transaction.takeNewTag()
    }
  }

  /// Refuses changes of all processes from now on (79), or allows them again.
  package func setReadOnly(_ isReadOnly: Bool) throws(PreferencesError) {
    try change { transaction in
      guard transaction.sync.isReadOnly != isReadOnly else { return }
      transaction.sync.isReadOnly = isReadOnly
      try transaction.write.renewRules()
    }
  }

  /// Records what the engine said last, for other processes and commands.
  package func record(_ report: SharingReport) throws(PreferencesError) {
    try change { transaction in
      var report = report
      if report.lastContact == nil {
        // A process that had none doesn't undo that of others.
        try transaction.connection.run("SELECT report FROM sync") { row in
          let old = try? JSONDecoder().decode(SharingReport.self, from: Data(row.bytes(0)))
          report.lastContact = old?.lastContact
        }
      }
      let data = try JSONEncoder().encode(report)
      try transaction.connection.run("UPDATE sync SET report = ?", .bytes(Array(data)))
    }
  }

  // MARK: - Transactions

  private func engine() throws(PreferencesError) -> Engine { try preferences.engine() }

  /// Changes a shared file in one transaction.
  func change<Result>(
    _ body: (ReplicaTransaction) throws -> Result
  ) throws(PreferencesError) -> Result {
    try preferences.typed {
      try engine().maintain { write in
        guard try write.database.state().sharing > 0 else { throw self.isNotShared() }
        let transaction = try ReplicaTransaction(write)
        try self.sharing?.check(transaction.sync, transaction.connection)
        let result = try body(transaction)
        try transaction.close()
        return result
      }
    }
  }

  /// Reads a shared file in one transaction.
  func inspect<Result>(
    _ body: (OpenDatabase) throws -> Result
  ) throws(PreferencesError) -> Result {
    try preferences.typed {
      let result = try engine().inspect { database, state in
        guard state.sharing > 0 else { throw self.isNotShared() }
        if let sharing = self.sharing {
          try sharing.check(try SyncRecord.read(database.connection), database.connection)
        }
        return try body(database)
      }
      guard let result else { throw isNotShared() }
      return result
    }
  }

  private func isNotShared() -> PreferencesError {
    PreferencesError(.notFound, "the preferences are not shared: \(preferences.suiteName)")
  }
}

extension WriteTransaction {
  /// Logs all values as if they were set now; what is damaged stays on this machine.
  fileprivate func logAllValues() throws(PreferencesError) {
    try database.connection.run(
      """
      INSERT INTO log SELECT 0, key, generation, kind, value, \(SharingSchema.now), generation \
      FROM preference WHERE kind BETWEEN \(ValueKind.truth.rawValue) \
      AND \(ValueKind.dictionary.rawValue)
      """)
  }

  /// Makes all processes read the rules of sharing again.
  fileprivate func renewRules() throws(PreferencesError) {
    // The sign of their number says whether changes are logged.
    try endApplying()
    try database.connection.run("UPDATE state SET sharing = ?", .integer(generation))
    wakesOthers = true
  }
}
