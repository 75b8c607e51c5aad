internal import Synchronization

/// Preferences in memory that threads share.
///
/// Old values are handed out, so that what they do when they are destroyed is done without the lock.
/// Changes are posted to the observers; whoever makes them lets ``PreferenceObservers/tellPosted()``
/// follow once it holds no lock either.
final class SharedDictionary: Sendable {
  // Values may be of any type; whoever shares one between threads answers for it, as with any
  // store of preferences.
  private struct Unchecked<Content>: @unchecked Sendable {
    var content: Content
  }

  let observers = PreferenceObservers()

  private let values: Mutex<Unchecked<PreferencesDictionary>>

  init(_ values: PreferencesDictionary = [:]) {
    self.values = Mutex(Unchecked(content: values.droppingNil()))
  }

  /// All values by their keys.
  var all: PreferencesDictionary { values.withLock { $0 }.content }

  subscript(key: PreferenceKey) -> PreferenceObject? {
    values.withLock { Unchecked(content: $0.content[key]) }.content
  }

  /// Sets one value, or removes it.
  ///
  /// - Returns: The value before.
  @discardableResult
  func replace(_ key: PreferenceKey, with value: PreferenceObject?) -> PreferenceObject? {
    let value = Unchecked(content: unwrapped(value))
    return values.withLock { values in
      let old =
        if let value = value.content {
          values.content.updateValue(value, forKey: key)
        } else {
          values.content.removeValue(forKey: key)
        }
      if !observers.isEmpty {
        observers.post([PreferenceChange(key, from: old, to: value.content)])
      }
      return Unchecked(content: old)
    }.content
  }

  /// Changes several values at once, of the given keys or of any.
  ///
  /// - Returns: All values before.
  @discardableResult
  private func update(
    _ keys: [PreferenceKey]? = nil, _ change: @Sendable (inout PreferencesDictionary) -> Void
  ) -> PreferencesDictionary {
    values.withLock { values in
      let old = values
      change(&values.content)
      if !observers.isEmpty { post(keys, from: old.content, to: values.content) }
      return old
    }.content
  }

  private func post(
    _ keys: [PreferenceKey]?, from old: PreferencesDictionary, to new: PreferencesDictionary
  ) {
    let keys = keys ?? Array(Set(old.keys).union(new.keys))
    observers.post(keys.sorted().map { PreferenceChange($0, from: old[$0], to: new[$0]) })
  }

  /// Sets all values at once.
  ///
  /// - Returns: All values before.
  @discardableResult
  func replaceAll(with new: PreferencesDictionary) -> PreferencesDictionary {
    let new = Unchecked(content: new.droppingNil())
    return update { $0 = new.content }
  }

  /// Sets several values at once; the others stay as they are.
  ///
  /// - Returns: All values before.
  @discardableResult
  func merge(_ changes: PreferencesDictionary) -> PreferencesDictionary {
    let changes = Unchecked(content: changes)
    return update(Array(changes.content.keys)) { values in
      for (key, value) in changes.content { values[key] = unwrapped(value) }
    }
  }
}

extension PreferencesDictionary {
  /// The dictionary without the keys whose value is a `nil` that is wrapped in an `Any`.
  func droppingNil() -> PreferencesDictionary { compactMapValues { unwrapped($0) } }
}
