internal import Prephirences

/// Values of a file that this process does not change, and what the file was like.
struct LoadedValues {
  let values: [KeyBytes: Any]
  let stamps: [FileStamp?]
  /// Why other values cannot be read.
  var unreadable: [KeyBytes: PreferencesError] = [:]
  /// Whether the file is shared with other machines.
  var isShared = false
  /// Why nothing is known of other keys.
  var importFailure: PreferencesError?

  /// Returns the value of a key; `nil` if there is none.
  ///
  /// - Throws: ``PreferencesError`` if it cannot be read.
  func value(_ key: KeyBytes) throws(PreferencesError) -> Any? {
    if let failure = unreadable[key] { throw failure }
    if let value = values[key] { return value }
    if let importFailure { throw importFailure }
    return nil
  }

  var contents: ReadablePairs {
    var contents = ReadablePairs(
      pairs: values.map { ($0.text, $1) }, unreadable: unreadable.map { ($0.text, $1) })
    contents.importFailure = importFailure
    return contents
  }
}
