internal import Prephirences

/// A file as it is shared from ``SharedReplica/share(_:clearingDecisions:)`` or
/// ``SharedReplica/adopt(identity:)`` on, at one place.
///
/// What a session knows of an engine says nothing about another sharing of the same file.
package struct Sharing: Hashable, Sendable {
  /// A tag that the file has taken in it.
  let tag: WriterTag

  /// Where it is shared, as ``SharingSettings/place``.
  package let place: String?

  init(_ record: SyncRecord) {
    tag = record.writer
    place = record.settings.place
  }

  /// Fails unless the file is still shared so.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/notFound``.
  func check(_ record: SyncRecord, _ connection: SQLiteConnection) throws(PreferencesError) {
    var isKnown = false
    try connection.run("SELECT 1 FROM writer WHERE tag = ? AND own = 1", .bytes(tag.bytes)) { _ in
      isKnown = true
    }
    guard isKnown, record.settings.place == place else {
      throw PreferencesError(
        .notFound, "the preferences are shared otherwise than before: \(connection.path)")
    }
  }
}

extension SharedReplica {
  /// Returns how the file is shared now; `nil` if it is not.
  package func currentSharing() throws(PreferencesError) -> Sharing? {
    guard try isShared() else { return nil }
    do throws(PreferencesError) {
      return try inspect { Sharing(try SyncRecord.read($0.connection)) }
    } catch {
      // It has ended meanwhile.
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  /// Returns the same file, all of whose functions fail once it is shared otherwise.
  package func during(_ sharing: Sharing) -> SharedReplica {
    SharedReplica(preferences, during: sharing)
  }

  /// Fails if the file is shared otherwise than ``during(_:)`` was told.
  package func checkSharing() throws(PreferencesError) { try inspect { _ in } }
}
