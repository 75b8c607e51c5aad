internal import Foundation
internal import Prephirences
internal import Synchronization

/// The failures of calls that don't throw, and who wants to know them.
///
/// Unchecked because the lock guards the properties.
final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  private var error: PreferencesError?
  private var handlers: [Int: @Sendable (PreferencesError) -> Void] = [:]
  private var count = 0

  /// Whether there is an error, so that success costs no lock.
  private let hasError = Atomic(false)

  var last: PreferencesError? { lock.withLock { error } }

  func clear() {
    guard hasError.load(ordering: .relaxed) else { return }
    lock.withLock {
      error = nil
      hasError.store(false, ordering: .relaxed)
    }
  }

  func record(_ error: PreferencesError) {
    let handlers = lock.withLock {
      self.error = error
      hasError.store(true, ordering: .relaxed)
      return Array(self.handlers.values)
    }
    for handler in handlers { handler(error) }
  }

  func observe(
    _ handler: @escaping @Sendable (PreferencesError) -> Void
  ) -> PreferenceObservation {
    let number = lock.withLock {
      count += 1
      handlers[count] = handler
      return count
    }
    return PreferenceObservation { [weak self] in
      guard let self else { return }
      _ = lock.withLock { self.handlers.removeValue(forKey: number) }
    }
  }
}
