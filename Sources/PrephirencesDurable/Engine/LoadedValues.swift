internal import Prephirences

/// Values of a file that this process does not change, and what the file was like.
struct LoadedValues {
  let values: [KeyBytes: Any]
  let stamps: [FileStamp?]
  /// Why other values cannot be read.
  var unreadable: [KeyBytes: PreferencesError] = [:]
  /// Whether the file is shared with other machines.
  var isShared = false

  /// Returns the value of a key; `nil` if there is none.
  ///
  /// - Throws: ``PreferencesError`` if it cannot be read.
  func value(_ key: KeyBytes) throws(PreferencesError) -> Any? {
    if let failure = unreadable[key] { throw failure }
    return values[key]
  }

  var contents: ReadablePairs {
    ReadablePairs(
      pairs: values.map { ($0.text, $1) }, unreadable: unreadable.map { ($0.text, $1) })
  }
}
