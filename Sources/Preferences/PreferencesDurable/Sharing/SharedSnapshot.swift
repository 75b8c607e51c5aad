package import Prephirences

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
  /// A unit was acknowledged after everything was read: nothing was changed; read anew.
  case outdated
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
