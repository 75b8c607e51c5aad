internal import Foundation

/// The properties of an object as preferences.
///
/// ```swift
/// let preferences = MutableKVCPreferences(person, [\.color, \.age])
/// preferences["color"] = "blue"   // person.color is "blue"
/// ```
///
/// Those properties of the list can be set that have a writable key path. A number is set as any type
/// that holds it; `nil` is set only where the property is optional. What cannot be set changes
/// nothing, and ``lastError`` says why.
open class MutableKVCPreferences: KVCPreferences, MutablePreferencesType, @unchecked Sendable {
  private var failure: PreferencesError?

  /// Why the last setter changed nothing; `nil` if it did.
  public final var lastError: PreferencesError? { lock.withLock { failure } }

  /// Sets a property.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` for an optional property only.
  ///   - key: The name of the property, or a path that is in the list.
  /// - Throws: ``PreferencesError``: ``PreferencesError/Code/unknownKey`` if there is no property that
  ///   can be set, ``PreferencesError/Code/typeMismatch`` if it has another type.
  open func assign(_ value: PreferenceObject?, forKey key: PreferenceKey) throws(PreferencesError) {
    let observers = observers
    defer { observers?.tellPosted() }
    lock.lock()
    defer { lock.unlock() }
    let (object, path) = try property(key)
    let oldValue = observers.flatMap { _ in self.object(forKey: key) }
    switch PropertyAssignment.assign(value, to: path, of: object) {
    case .done:
      let newValue = observers.flatMap { _ in self.object(forKey: key) }
      observers?.post([PreferenceChange(key, from: oldValue, to: newValue)])
    case .readOnly: throw PreferencesError(.unknownKey, "the property '\(key)' cannot be set")
    case .typeMismatch(let type):
      throw PreferencesError(.typeMismatch, "the property '\(key)' is of type \(type)")
    }
  }

  /// Finds a property of the object, or at the end of a path one of an object that it has.
  private func property(
    _ key: PreferenceKey
  ) throws(PreferencesError) -> (AnyObject, AnyKeyPath) {
    if type(of: target) is AnyClass, let path = table.keyPaths[key] {
      return (target as AnyObject, path)
    }
    guard let dot = key.lastIndex(of: "."),
      let owner = object(forKey: String(key[..<dot])) as? any PreferenceKeyPaths,
      let path = PropertyTable(listedBy: owner).keyPaths[String(key[key.index(after: dot)...])]
    else { throw PreferencesError(.unknownKey, "there is no property '\(key)' that can be set") }
    return (owner, path)
  }

  /// Sets a property.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    do throws(PreferencesError) {
      try assign(value, forKey: key)
      lock.withLock { failure = nil }
    } catch {
      lock.withLock { failure = error }
    }
  }

  /// Sets an optional property to `nil`.
  open func removeObject(forKey key: PreferenceKey) { set(nil as PreferenceObject?, forKey: key) }

  /// Sets all optional properties to `nil`; the others stay as they are.
  open func clearAll() {
    for key in keys() { try? assign(nil, forKey: key) }
  }
}
