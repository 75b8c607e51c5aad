internal import Foundation
internal import PrephirencesSystem
internal import Synchronization

extension BackedUserDefaults {
  /// Starts posting notifications of changes that are made elsewhere: through the preferences
  /// themselves, or by another process.
  ///
  /// The first use starts it, so that a store that was only named is not opened.
  func beginNotifying() {
    guard !hasBegun.load(ordering: .relaxed),
      !hasBegun.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    let reference = WeakDefaults(self)
    let observation =
      reporting?.observeChanges { reference.defaults?.postChange() } ?? observeValues(reference)
    state.withLock { $0.observation = observation }
  }

  private func observeValues(_ reference: WeakDefaults) -> PreferenceObservation {
    preferences.addObserver(
      PreferenceObserver(keys: nil) { change in
        guard let defaults = reference.defaults,
          !defaults.state.withLock({ $0.isWriting(change.key) })
        else { return }
        defaults.postChange()
      })
  }

  func postChange() {
    postCount.add(1, ordering: .relaxed)
    NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: self)
  }

  /// Makes a change of a whole domain, which is reported once also if nothing differs, as `UserDefaults`
  /// does.
  func reportingChange(_ change: () -> Void) {
    let count = postCount.load(ordering: .relaxed)
    change()
    if postCount.load(ordering: .relaxed) == count { postChange() }
  }

  /// Makes a change without a notification for what the preferences report meanwhile.
  func withoutEcho(_ keys: [PreferenceKey]?, _ change: () throws -> Void) rethrows {
    guard reporting == nil else { return try change() }
    let keys = keys ?? Array(preferences.dictionary().keys)
    state.withLock { $0.beginWriting(keys) }
    defer { state.withLock { $0.endWriting(keys) } }
    try change()
  }

  /// Notifies an observer of changes of visible values.
  func addVisibleObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    // User defaults can be used on every thread, although their class does not say so.
    nonisolated(unsafe) let defaults = self
    return preferences.addObserver(
      PreferenceObserver(
        keys: observer.keys, initial: observer.wantsInitialValues, end: observer.notifyEnd
      ) { change in
        observer.notify(change.mapped { defaults.visibleValue($0, forKey: change.key) })
      })
  }
}

/// Refers to user defaults without retaining them.
private final class WeakDefaults: @unchecked Sendable {
  // Unchecked because user defaults can be used on every thread, although their class does not
  // say so.
  private(set) weak var defaults: BackedUserDefaults?

  init(_ defaults: BackedUserDefaults) { self.defaults = defaults }
}
