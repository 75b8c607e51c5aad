internal import PreferencesDurable
internal import Prephirences
internal import SystemPackage

extension SharedReplica {
  /// Returns the same file with a connection of its own, as another process has.
  ///
  /// What is read on the first connection meanwhile does not wait.
  func onOwnConnection() throws(PreferencesError) -> SharedReplica {
    // Connections are shared by those who are equally patient.
    let other = DurablePreferences(
      suiteName: preferences.suiteName,
      folder: FilePath(try filePath()).removingLastComponent().string,
      patience: .milliseconds(10_500))
    return SharedReplica(other, during: sharing)
  }
}
