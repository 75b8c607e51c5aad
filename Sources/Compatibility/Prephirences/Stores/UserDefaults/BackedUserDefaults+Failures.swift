internal import Foundation
internal import PrephirencesSystem
internal import Synchronization

extension BackedUserDefaults {
  /// The failure of the last change, or of a read after it.
  var failure: PreferencesError? { state.withLock(\.failure) }

  func record(_ error: PreferencesError?) {
    hasReadFailure.store(false, ordering: .sequentiallyConsistent)
    state.withLock { $0.failure = error }
  }

  func recordReadFailure(_ error: any Error, forKey key: PreferenceKey) {
    record(.converting(error, "the value of the key '\(key)' could not be read"))
    hasReadFailure.store(true, ordering: .sequentiallyConsistent)
  }

  /// Forgets the failure of an earlier read, but not that of a change.
  func forgetReadFailure() {
    guard hasReadFailure.load(ordering: .relaxed) else { return }
    record(nil)
  }
}
