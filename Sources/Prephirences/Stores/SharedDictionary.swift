internal import Synchronization

/// Preferences in memory that threads share.
///
/// Old values are handed out, so that what they do when they are destroyed is done without the lock.
final class SharedDictionary: Sendable {
  // Values may be of any type; whoever shares one between threads answers for it, as with any
  // store of preferences.
  private struct Unchecked<Content>: @unchecked Sendable {
    var content: Content
  }

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
      guard let value = value.content else {
        return Unchecked(content: values.content.removeValue(forKey: key))
      }
      return Unchecked(content: values.content.updateValue(value, forKey: key))
    }.content
  }

  /// Changes several values at once.
  ///
  /// - Returns: All values before.
  @discardableResult
  func update(_ change: @Sendable (inout PreferencesDictionary) -> Void) -> PreferencesDictionary {
    values.withLock { values in
      let old = values
      change(&values.content)
      return old
    }.content
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
    return update { values in
      for (key, value) in changes.content { values[key] = unwrapped(value) }
    }
  }
}

extension PreferencesDictionary {
  /// The dictionary without the keys whose value is a `nil` that is wrapped in an `Any`.
  func droppingNil() -> PreferencesDictionary { compactMapValues { unwrapped($0) } }
}
