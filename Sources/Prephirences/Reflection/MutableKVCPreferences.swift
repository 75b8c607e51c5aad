internal import Foundation

/// The properties of an object as preferences.
///
/// ```swift
/// let preferences = MutableKVCPreferences(person, [\.color, \.age])
/// preferences["color"] = "blue"   // person.color is "blue"
/// ```
///
/// Those properties of the list can be set that have a writable key path; ``readOnlyKeys`` are the
/// others. A number is set as any type that holds it, text as the number or truth value that it is, and a
/// raw value as the value that has it; `nil` is set only where the property is optional. What cannot
/// be set changes nothing, and ``lastError`` says why.
open class MutableKVCPreferences: KVCPreferences, MutablePreferencesType, @unchecked Sendable {
  private var failure: PreferencesError?

  /// Why the last setter changed nothing, or not all; `nil` if it did.
  public final var lastError: PreferencesError? { lock.withLock { failure } }

  /// The keys that can be read and not set: those of constants, of properties whose setter is not
  /// visible, and of computed ones that have none; without a list, all.
  public final var readOnlyKeys: [PreferenceKey] {
    guard type(of: target) is AnyClass, !table.keyPaths.isEmpty else { return keys().sorted() }
    return table.keyPaths.filter { !PropertyAssignment.canAssign(to: $0.value, of: target) }
      .map(\.key).sorted()
  }

  /// Sets a property.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` for an optional property only.
  ///   - key: The name of the property, or a path that is in the list.
  /// - Throws: ``PreferencesError``: ``PreferencesError/Code/readOnly`` if the property can be read and not
  ///   set, ``PreferencesError/Code/unknownKey`` if there is no such property,
  ///   ``PreferencesError/Code/typeMismatch`` if it has another type.
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
    case .readOnly: throw Self.readOnly(key, "its key path is not writable")
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
    else { throw unsettable(key) }
    return (owner, path)
  }

  private func unsettable(_ key: PreferenceKey) -> PreferencesError {
    guard object(forKey: key) != nil else {
      return PreferencesError(.unknownKey, "there is no property '\(key)' that can be set")
    }
    return type(of: target) is AnyClass
      ? Self.readOnly(key, "it is in no list of key paths; make the class a PreferenceKeyPaths")
      : Self.readOnly(key, "it is a property of a copied structure")
  }

  private static func readOnly(_ key: PreferenceKey, _ reason: String) -> PreferencesError {
    PreferencesError(.readOnly, "the property '\(key)' can be read and not set: \(reason)")
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

  /// Sets several properties; ``lastError`` is the first failure.
  open func set(dictionary: PreferencesDictionary) {
    var first: PreferencesError?
    for (key, value) in withoutNulls(dictionary).sorted(by: { $0.key < $1.key }) {
      do throws(PreferencesError) {
        try assign(value, forKey: key)
      } catch {
        first = first ?? error
      }
    }
    lock.withLock { failure = first }
  }

  /// Takes note of a value that a transformation refused, as ``lastError``.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    lock.withLock { failure = error }
  }

  /// Sets an optional property to `nil`.
  open func removeObject(forKey key: PreferenceKey) { set(nil as PreferenceObject?, forKey: key) }

  /// Sets all optional properties to `nil`; the others stay as they are.
  open func clearAll() {
    for key in keys() { try? assign(nil, forKey: key) }
  }
}
