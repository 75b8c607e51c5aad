internal import PrephirencesSystem

/// Preferences in memory that threads share.
///
/// Old values are returned, so that they are destroyed outside the lock. Changes are posted to the
/// observers; the caller must call ``PreferenceObservers/deliverPending()`` after it has released its
/// own lock.
package final class SharedDictionary: Sendable {
  package let observers = PreferenceObservers()

  // Values may be of any type; as with any store of preferences, a program that shares a value
  // between threads is responsible for it.
  private let values: PosixMutex<PreferencesDictionary>

  package init(_ values: PreferencesDictionary = [:]) {
    self.values = PosixMutex(values.droppingNil())
  }

  /// All values by their keys.
  package var all: PreferencesDictionary { values.withLock { $0 } }

  package subscript(key: PreferenceKey) -> PreferenceObject? { values.withLock { $0[key] } }

  /// Returns whether a key has a value, without a copy of it.
  func contains(_ key: PreferenceKey) -> Bool {
    values.withLock { $0.index(forKey: key) != nil }
  }

  /// Sets or removes one value.
  ///
  /// - Returns: The value before.
  @discardableResult
  package func replace(_ key: PreferenceKey, with value: PreferenceObject?) -> PreferenceObject? {
    if let value, isKnownValue(value) {
      return change(key, to: value) { $0.updateValue(value, forKey: key) }
    }
    guard let value = unwrapped(value) else {
      return change(key, to: nil) { $0.removeValue(forKey: key) }
    }
    return change(key, to: value) { $0.updateValue(value, forKey: key) }
  }

  /// Sets one value, which must not be an optional.
  func store(_ value: PreferenceObject, forKey key: PreferenceKey) {
    _ = change(key, to: value) { $0.updateValue(value, forKey: key) }
  }

  private func change(
    _ key: PreferenceKey, to new: @autoclosure () -> PreferenceObject?,
    _ change: (inout PreferencesDictionary) -> PreferenceObject?
  ) -> PreferenceObject? {
    values.withLock { values in
      let old = change(&values)
      if !observers.isEmpty { observers.post([PreferenceChange(key, from: old, to: new())]) }
      return old
    }
  }

  /// Changes several values in one step, of the given keys or of any.
  ///
  /// - Returns: All values before.
  @discardableResult
  private func update(
    _ keys: [PreferenceKey]? = nil, _ change: (inout PreferencesDictionary) -> Void
  ) -> PreferencesDictionary {
    values.withLock { values in
      let old = values
      change(&values)
      if !observers.isEmpty { post(keys, from: old, to: values) }
      return old
    }
  }

  private func post(
    _ keys: [PreferenceKey]?, from old: PreferencesDictionary, to new: PreferencesDictionary
  ) {
    let keys = keys ?? Array(Set(old.keys).union(new.keys))
    observers.post(keys.sorted().map { PreferenceChange($0, from: old[$0], to: new[$0]) })
  }

  /// Replaces all values in one step.
  ///
  /// - Returns: All values before.
  @discardableResult
  package func replaceAll(with new: PreferencesDictionary) -> PreferencesDictionary {
    let new = new.droppingNil()
    return update { $0 = new }
  }

  /// Sets several values in one step; other keys keep theirs.
  ///
  /// - Returns: All values before.
  @discardableResult
  package func merge(_ changes: PreferencesDictionary) -> PreferencesDictionary {
    update(Array(changes.keys)) { values in
      for (key, value) in changes { values[key] = unwrapped(value) }
    }
  }
}
