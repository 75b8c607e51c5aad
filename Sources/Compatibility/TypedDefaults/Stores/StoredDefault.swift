internal import Foundation
internal import Prephirences

/// A store whose value is in preferences.
protocol PreferenceBacked {
  var backingPreferences: any PreferencesType { get }
}

/// The value of one type in preferences, with the last failure.
final class StoredDefault<Default: DefaultConvertible>: @unchecked Sendable {
  // Unchecked because preferences need not be `Sendable`: the mutable state here is behind a lock,
  // and the preferences are responsible for theirs.

  let preferences: any MutablePreferencesType
  // A lock that the thread sanitizer knows.
  private let lock = NSLock()
  private var failure: PreferencesError?

  /// Whether values are stored as a file returns them: numbers as `NSNumber`, arrays and
  /// dictionaries without the types of their elements.
  private let normalizes: Bool

  init(_ preferences: any MutablePreferencesType, normalizes: Bool = false) {
    self.preferences = preferences
    self.normalizes = normalizes
  }

  var lastError: PreferencesError? { lock.withLock { failure } }

  func get() -> Default? { recording { try load() } ?? nil }

  func set(_ value: Default) { recording { try save(value) } }

  func remove() { recording { try store(nil) } }

  func load() throws -> Default? {
    guard let object = try fetch() else { return nil }
    guard let value = Default(object) else {
      throw PreferencesError(
        .typeMismatch,
        "the value of the key '\(Default.key)' is no \(Default.self): set one, or remove the key")
    }
    return value
  }

  func save(_ value: Default) throws {
    let object = value.serialize()
    if let failed = object as? Unserializable { throw failed.error }
    // Some stores, such as those in memory, accept anything. Here each refuses the same.
    let form = try PropertyListForm.encode(object, forKey: Default.key)
    try store(normalizes ? PropertyListForm.decode(form) : object)
  }

  private func fetch() throws -> Any? {
    guard let fallible = preferences as? any FalliblePreferencesType else {
      return preferences.object(forKey: Default.key)
    }
    return try fallible.fetchObject(forKey: Default.key)
  }

  private func store(_ object: Any?) throws {
    guard let fallible = preferences as? any FalliblePreferencesType else {
      preferences[Default.key] = object
      return
    }
    try fallible.storeObject(object, forKey: Default.key)
  }

  @discardableResult
  private func recording<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      lock.withLock { failure = nil }
      return result
    } catch {
      let error = PreferencesError.converting(
        error, "the value of the key '\(Default.key)' could not be read or stored")
      lock.withLock { failure = error }
      return nil
    }
  }
}
