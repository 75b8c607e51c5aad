internal import KeychainCredentials
public import Prephirences
internal import Synchronization

extension KeychainPreferences {
  /// Records as ``lastError`` that a transformation refused a value.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    let refusal = KeychainError(.invalidArgument, error.message)
    state.withLock {
      $0.lastError = refusal
      $0.lastStatus = refusal.status
    }
  }
}
