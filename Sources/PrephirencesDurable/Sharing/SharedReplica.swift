package import Foundation
package import Prephirences

/// What keeps a file of preferences in step with an engine: what the engine has (the shadow), what
/// is unsent (the log), and what came from elsewhere (the journal). It knows no network.
///
/// Every process that has the file open can use it; those that send and receive hold the lock of the
/// sender. Every function is one transaction of the file.
package final class SharedReplica: Sendable {
  package let preferences: DurablePreferences

  package init(_ preferences: DurablePreferences) { self.preferences = preferences }

  private var notBuilt: PreferencesError { PreferencesError(.inputOutput, "not built yet") }

  // MARK: - Sharing

  /// Whether the file is shared; false if there is no file.
  package func isShared() throws(PreferencesError) -> Bool { throw notBuilt }

  /// Begins to share the file, or changes the settings. Its values go into the log, based on nothing.
  package func share(_ settings: SharingSettings) throws(PreferencesError) { throw notBuilt }

  /// Ends sharing: the file is a plain one again, with the values that it has.
  package func unshare() throws(PreferencesError) { throw notBuilt }

  package func state() throws(PreferencesError) -> SharingState { throw notBuilt }

  // MARK: - Identity

  /// Takes the identity of the store that is there now, as at the first contact: forgets the shadow,
  /// takes a new tag, and puts every value into the log, based on nothing.
  package func adopt(identity: [UInt8]) throws(PreferencesError) { throw notBuilt }

  /// Takes a new tag, because another file writes with this one. The log stays; a unit that was
  /// numbered loses its number.
  package func renewWriter() throws(PreferencesError) { throw notBuilt }

  // MARK: - Receiving

  /// Compares everything that the engine has, at one revision, with the shadow.
  ///
  /// Nothing happens if the identity is not that of the file; the first one is taken.
  package func apply(_ snapshot: SharedSnapshot) throws(PreferencesError) -> SnapshotOutcome {
    throw notBuilt
  }

  /// Applies what a watch has reported: each element is one revision.
  package func apply(
    _ revisions: [SharedRevision]
  ) throws(PreferencesError) -> SnapshotOutcome { throw notBuilt }

  // MARK: - Sending

  /// Returns the unit that was numbered and is not settled; else numbers the next one, and syncs the
  /// file, so that the number is never used again. `nil` if nothing can be sent now.
  package func nextUnit() throws(PreferencesError) -> SharedUnit? { throw notBuilt }

  /// The engine has the unit. Also called by `apply` when it meets the unit's rows.
  package func acknowledge(_ unit: SharedUnit, revision: Int64) throws(PreferencesError) {
    throw notBuilt
  }

  /// The engine has refused the unit's compares, and can never perform it: its changes go back into
  /// the log. Those whose key was changed since wait for a decision.
  package func reject(_ unit: SharedUnit) throws(PreferencesError) { throw notBuilt }

  /// The engine refuses the unit for another reason: it waits, and others go on.
  ///
  /// - Parameter keys: Which changes wait; the others go back into the log. `nil`, and those of a
  ///   transaction: all.
  package func setAside(
    _ unit: SharedUnit, keys: [PreferenceKey]?, because reason: SetAsideReason, _ message: String
  ) throws(PreferencesError) { throw notBuilt }

  /// Lets what was set aside be sent again; of one reason, or all.
  package func retrySetAside(_ reason: SetAsideReason?) throws(PreferencesError) { throw notBuilt }

  /// Refuses changes of all processes from now on (79), or allows them again.
  package func setReadOnly(_ isReadOnly: Bool) throws(PreferencesError) { throw notBuilt }

  /// Where the log ends now, for ``unsent(upTo:)``.
  package func logMark() throws(PreferencesError) -> Int64 { throw notBuilt }

  /// What the log still has of the changes that it had when its mark was taken.
  package func unsent(upTo mark: Int64) throws(PreferencesError) -> UnsentChanges {
    throw notBuilt
  }

  /// The path of the file of preferences.
  package func filePath() throws(PreferencesError) -> String { throw notBuilt }

  // MARK: - Conflicts

  /// The units that wait for a decision, the oldest first.
  package func conflicts() throws(PreferencesError) -> [ReplicaConflict] { throw notBuilt }

  /// Decides a conflict.
  ///
  /// - Returns: `false` if something has changed since; then ask again.
  package func resolve(
    _ conflict: ReplicaConflict, _ decision: ReplicaDecision
  ) throws(PreferencesError) -> Bool { throw notBuilt }

  /// Records why a conflict was not decided.
  package func postpone(
    _ conflict: ReplicaConflict, _ message: String
  ) throws(PreferencesError) { throw notBuilt }

  // MARK: - Collected removals

  /// What to remove from the engine, if it has more than `limit` removals: the keys with their rows,
  /// the oldest first, and the new floor; `nil` if there is nothing to do.
  package func removalsToCollect(
    above limit: Int
  ) throws(PreferencesError) -> (rows: [SharedRow], floor: Int64)? { throw notBuilt }

  // MARK: - Journal and report

  /// What came from elsewhere after an entry of the journal; `nil` if older entries are forgotten.
  package func journal(after entry: Int64) throws(PreferencesError) -> [JournalEntry]? {
    throw notBuilt
  }

  /// The number of the last entry.
  package func lastJournalEntry() throws(PreferencesError) -> Int64 { throw notBuilt }

  /// The last entries of the journal, the oldest first, however many older ones are forgotten.
  package func recentJournal(_ limit: Int) throws(PreferencesError) -> [JournalEntry] {
    throw notBuilt
  }

  /// The keys of the log with their last unsent change, the oldest first.
  package func unsent() throws(PreferencesError) -> [UnsentChange] { throw notBuilt }

  /// Records what the engine said last, for other processes and `prefs sync status`.
  package func record(_ report: SharingReport) throws(PreferencesError) { throw notBuilt }
}

/// How a file is shared.
package struct SharingSettings: Hashable, Sendable, Codable {
  package var quota = SharingQuota()
  /// Whether conflicts wait for a program that decides them; otherwise the engine's order wins.
  package var programDecides = false
  package init() {}
}

/// What a shared store may hold, checked when this machine writes.
package struct SharingQuota: Hashable, Sendable, Codable {
  package var keys = 1024
  /// Of all keys and values.
  package var bytes = 1 << 20
  package var valueBytes = 1 << 20
  package var keyBytes = 64
  package init() {}
}

/// Changes that were not acknowledged.
package struct UnsentChanges: Sendable {
  package var keys: [PreferenceKey]
  /// Whether one of them is in the unit that is numbered, and may have been performed.
  package var mayHaveHappened: Bool
  /// Whether all of them wait for a decision, or were set aside.
  package var areWaiting: Bool
  package init(keys: [PreferenceKey], mayHaveHappened: Bool, areWaiting: Bool) {
    self.keys = keys
    self.mayHaveHappened = mayHaveHappened
    self.areWaiting = areWaiting
  }
}

package enum SetAsideReason: Int, Hashable, Sendable, Codable {
  case permission = 1
  case newerForm = 2
  case tooLarge = 3
  case noSpace = 4
}

package struct SharingState: Sendable {
  package var settings: SharingSettings
  package var identity: [UInt8]?
  package var writer: WriterTag
  /// The row `w/<tag>` as the engine had it last; `nil` if it has none.
  package var writerRow: [UInt8]?
  /// The revision up to which the shadow is the engine's; 0 before the first contact.
  package var revision: Int64
  package var isReadOnly: Bool
  package var unsentKeys: Int
  package var unsentBytes: Int
  package var oldestUnsent: Date?
  package var report: SharingReport?
  package var setAside: [(keys: [PreferenceKey], reason: SetAsideReason, message: String)]
  /// The keys whose rows have a newer form.
  package var newerKeys: [PreferenceKey]
}

/// What the engine said last.
package struct SharingReport: Hashable, Sendable, Codable {
  package var date: Date
  /// When the file was last in step.
  package var lastContact: Date?
  /// A word for programs, such as `unreachable`; `nil` if all is well.
  package var code: String?
  package var message: String?
  package var process: Int32
  package init(
    date: Date, lastContact: Date?, code: String?, message: String?, process: Int32
  ) {
    self.date = date
    self.lastContact = lastContact
    self.code = code
    self.message = message
    self.process = process
  }
}

/// Everything that the engine has of a store, at one revision.
package struct SharedSnapshot: Sendable {
  package var revision: Int64
  package var identity: [UInt8]?
  package var floor: Int64
  /// The rows `w/<tag>`.
  package var writers: [WriterTag: [UInt8]]
  package var rows: [SharedRow]
  package init(
    revision: Int64, identity: [UInt8]?, floor: Int64, writers: [WriterTag: [UInt8]],
    rows: [SharedRow]
  ) {
    self.revision = revision
    self.identity = identity
    self.floor = floor
    self.writers = writers
    self.rows = rows
  }
}

package enum SnapshotOutcome: Hashable, Sendable {
  case applied
  /// The identity is missing, or another; nothing was changed.
  case foreign
  /// Another file writes with this file's tag: call `renewWriter()`, and read anew.
  case cloned
}

/// The changes of one revision.
package struct SharedRevision: Sendable {
  package enum Change: Sendable {
    case row(SharedRow)
    /// The row was removed: a removal was collected, or somebody has removed it with other tools.
    case removed(PreferenceKey)
    case writer(WriterTag, [UInt8]?)
    case floor(Int64)
  }

  package var revision: Int64
  package var changes: [Change]
  package init(revision: Int64, changes: [Change]) {
    self.revision = revision
    self.changes = changes
  }
}

/// Changes that are sent in one transaction of the engine.
package struct SharedUnit: Sendable {
  /// What the row of a key must be, when the unit is performed.
  package enum Base: Hashable, Sendable {
    case absent
    case row(SharedRow)
  }

  package struct Change: Sendable {
    package let row: SharedRow
    package let base: Base
    package init(row: SharedRow, base: Base) {
      self.row = row
      self.base = base
    }
  }

  package let writer: WriterTag
  package let number: Int64
  package let changes: [Change]
  /// The row `w/<tag>` before, and with this unit: the form 1, the number (8 bytes, big-endian) and
  /// 16 random bytes.
  package let oldWriterRow: [UInt8]?
  package let newWriterRow: [UInt8]
  /// Whether it was numbered before this process began to send: it may have been performed.
  package let isTransaction: Bool

  package static let greatestKeys = 120
  package static let greatestBytes = 1 << 20

  package init(
    writer: WriterTag, number: Int64, changes: [Change], oldWriterRow: [UInt8]?,
    newWriterRow: [UInt8], isTransaction: Bool
  ) {
    self.writer = writer
    self.number = number
    self.changes = changes
    self.oldWriterRow = oldWriterRow
    self.newWriterRow = newWriterRow
    self.isTransaction = isTransaction
  }
}

package struct ReplicaConflict: Sendable {
  package struct Value: @unchecked Sendable {
    package let key: PreferenceKey
    package let local: PreferenceObject?
    package let shared: PreferenceObject?
  }

  package let values: [Value]
  package let isTransaction: Bool
  /// Why an earlier decision failed.
  package let message: String?
  /// What `resolve` compares.
  package let token: [UInt8]
}

package enum ReplicaDecision: @unchecked Sendable {
  case takeShared
  case keepLocal
  /// New values; a key that is not listed takes the shared value.
  case set([(key: PreferenceKey, value: PreferenceObject?)])
}

/// A change of the file that did not come from a local writer.
package struct JournalEntry: @unchecked Sendable {
  package enum Reason: Int, Sendable {
    case serverChange = 0
    case initialSync = 1
    case quotaViolation = 2
    case accountChange = 3
  }

  package let number: Int64
  package let date: Date
  package let reason: Reason
  package let key: PreferenceKey
  /// Before and after; a conflict that was lost has the local value in `old`.
  package let old: PreferenceObject?
  package let new: PreferenceObject?
  package let isConflict: Bool
  package let writer: WriterTag?
}

/// The last unsent change of a key, for `prefs sync log`.
package struct UnsentChange: Sendable {
  package let key: PreferenceKey
  package let isRemoval: Bool
  package let date: Date
  /// Whether it waits for a decision, or was set aside.
  package let waits: Bool

  package init(key: PreferenceKey, isRemoval: Bool, date: Date, waits: Bool) {
    self.key = key
    self.isRemoval = isRemoval
    self.date = date
    self.waits = waits
  }
}
