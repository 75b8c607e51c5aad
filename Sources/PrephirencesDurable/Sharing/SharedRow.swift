package import Prephirences

/// A writer of shared preferences: a store file, until it is found to be a copy of another.
package struct WriterTag: Hashable, Sendable {
  /// 16 random bytes.
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package static func random() -> Self { Self((0..<16).map { _ in .random(in: 0...255) }) }
}

/// The row of a key, as the engine has it.
///
/// | bytes | mean |
/// | --- | --- |
/// | 1 | the form, 1 |
/// | 1 | the kind of the value; 0 is a removal |
/// | 16 | the tag of the writer |
/// | 8 | the number of the writer's unit, big-endian |
/// | rest | the value, as in the file |
package struct SharedRow: Hashable, Sendable {
  package let key: PreferenceKey
  /// The revision of the engine in which the row was written; 0 if it is not written yet.
  package let revision: Int64
  /// The whole row.
  package let bytes: [UInt8]

  package init(key: PreferenceKey, revision: Int64, bytes: [UInt8]) {
    self.key = key
    self.revision = revision
    self.bytes = bytes
  }

  /// Makes the row of a value; `nil` is a removal.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable``.
  package init(
    key: PreferenceKey, value: PreferenceObject?, writer: WriterTag, number: Int64
  ) throws(PreferencesError) {
    throw PreferencesError(.unstorable, "not built yet")
  }

  package enum Content {
    case value(PreferenceObject)
    case removal
    /// The form or the kind is newer than this release.
    case newer
    case damaged
  }

  package var content: Content { .damaged }
  /// `nil` if the form is newer, or the row damaged.
  package var writer: WriterTag? { nil }
  package var number: Int64? { nil }
}
