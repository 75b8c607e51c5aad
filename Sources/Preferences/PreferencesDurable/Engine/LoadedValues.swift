internal import PreferencesCore
internal import PrephirencesSystem

/// Values of a file that this process does not change, and what the file was like.
struct LoadedValues {
  var values: [KeyBytes: PreferenceValue]
  let stamps: [FileStamp?]
  /// Why other values cannot be read.
  var unreadable: [KeyBytes: PreferencesError] = [:]
  /// Whether the file is shared with other machines.
  var isShared = false
  /// Why nothing is known of other keys.
  var otherKeysFailure: PreferencesError?

  /// Returns the value of a key; `nil` if there is none.
  func value(_ key: KeyBytes) throws -> PreferenceValue? {
    if let otherKeysFailure, otherKeysFailure.code == .rolledBack { throw otherKeysFailure }
    if let failure = unreadable[key] { throw failure }
    if let value = values[key] { return value }
    if let otherKeysFailure { throw otherKeysFailure }
    return nil
  }

  var contents: ReadablePairs {
    var contents = ReadablePairs(
      pairs: values.map { ($0.text, $1) }, unreadable: unreadable.map { ($0.text, $1) })
    contents.otherKeysFailure = otherKeysFailure
    return contents
  }
}
