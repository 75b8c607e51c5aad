internal import Foundation
internal import PrephirencesSystem
internal import Synchronization

extension BackedUserDefaults {
  var arguments: PreferencesDictionary {
    get { state.withLock(\.arguments) }
    set {
      state.withLock { $0.arguments = newValue }
      hasArguments.store(!newValue.isEmpty, ordering: .sequentiallyConsistent)
    }
  }

  /// Returns the visible value of a key.
  func fetch(_ key: PreferenceKey) throws -> Any? {
    beginNotifying()
    if let argument = argument(key) { return argument }
    // A failure is not an absent value, so it hides the suites and registered defaults.
    let own =
      try fallible.map { try $0.fetchObject(forKey: key) } ?? preferences.object(forKey: key)
    if let own { return readsCastableNumbers ? own : withCastableNumbers(own) }
    return valueBehind(key)
  }

  private func argument(_ key: PreferenceKey) -> Any? {
    guard hasArguments.load(ordering: .relaxed) else { return nil }
    return state.withLock { $0.arguments[key] }
  }

  /// Returns the value of a key that ``preferences`` do not have.
  func valueBehind(_ key: PreferenceKey) -> Any? {
    for suite in state.withLock(\.suites) {
      if let value = suite.preferences.object(forKey: key) { return withCastableNumbers(value) }
    }
    return fallback(key).map { withCastableNumbers($0) }
  }

  /// Returns what observers see for a value of ``preferences``.
  func visibleValue(_ value: Any?, forKey key: PreferenceKey) -> Any? {
    argument(key) ?? value.map { withCastableNumbers($0) } ?? valueBehind(key)
  }

  func read(_ key: PreferenceKey) -> Any? {
    do {
      let value = try fetch(key)
      forgetReadFailure()
      return value
    } catch {
      recordReadFailure(error, forKey: key)
      return nil
    }
  }

  // An adapter, such as a keychain, may know the text or the bytes of a value of another type.

  func readString(_ key: PreferenceKey) -> String? {
    let value = object(forKey: key)
    if let text = PreferenceConversion(value).string { return text }
    guard value != nil, preferences is any PreferencesAdapter else { return nil }
    return preferences.string(forKey: key)
  }

  func readData(_ key: PreferenceKey) -> Data? {
    let value = object(forKey: key)
    if let data = value as? Data { return data }
    guard value != nil, preferences is any PreferencesAdapter else { return nil }
    return preferences.data(forKey: key)
  }

  func visibleValues(over registered: [String: Any]) -> [String: Any] {
    beginNotifying()
    var values = registered.mapValues { withCastableNumbers($0) }
    for suite in state.withLock(\.suites).reversed() {
      values.merge(suite.preferences.dictionary()) { $1 }
    }
    do {
      let own = try fallible?.fetchDictionary() ?? preferences.dictionary()
      values.merge(readsCastableNumbers ? own : own.mapValues { withCastableNumbers($0) }) { $1 }
      forgetReadFailure()
    } catch {
      record(.converting(error, "the values could not be read"))
    }
    return values.merging(arguments) { $1 }
  }

  func ownDomain() -> [String: Any]? {
    let own = preferences.dictionary()
    return own.isEmpty ? nil : own
  }
}
