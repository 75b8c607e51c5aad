internal import KeychainCredentials
public import Prephirences
internal import Synchronization

extension KeychainPreferences {
  /// Takes note of a value that a transformation refused, as ``lastError``.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    let refusal = KeychainError(.invalidArgument, error.message)
    state.withLock {
      $0.lastError = refusal
      $0.lastStatus = refusal.status
    }
  }
}
