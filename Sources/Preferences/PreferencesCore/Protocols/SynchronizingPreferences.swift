/// Preferences that can wait until their values are on the disk.
public protocol SynchronizingPreferences: PreferencesType {
  /// Waits until all values that were set before are on the disk.
  ///
  /// - Throws: The store's own error if they could not be written.
  func synchronize() throws
}
