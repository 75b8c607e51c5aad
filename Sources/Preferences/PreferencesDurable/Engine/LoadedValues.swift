internal import PreferencesCore
internal import PrephirencesSystem

/// Values of a file that this process does not change, and the state of the file.
struct LoadedValues {
  var values: [KeyBytes: PreferenceValue]
  let stamps: [FileStamp?]
  /// Why other values cannot be read.
  var unreadable: [KeyBytes: PreferencesError] = [:]
  var isShared = false
  /// Why other keys are unknown.
  var otherKeysFailure: PreferencesError?

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
