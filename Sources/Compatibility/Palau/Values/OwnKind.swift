internal import Foundation
internal import Prephirences

/// Values of a type that stores itself, or that nothing is known about.
///
/// A type that implements `get` and `set` for one value has no methods for arrays. Each element is
/// then written to preferences in memory by the type's own method, and what it stored is taken.
struct OwnKind<T: PalauDefaultable>: PalauKind {
  /// The key of an element in memory; arguments of the program don't have it.
  private static var elementKey: String { "PalauElement" }

  private let plain = PlainKind<T.ValueType>()

  func value(_ key: String, in defaults: NSUD) -> T.ValueType? { plain.value(key, in: defaults) }

  func set(_ value: T.ValueType, _ key: String, in defaults: NSUD) {
    plain.set(value, key, in: defaults)
  }

  func values(_ key: String, in defaults: NSUD) -> [T.ValueType]? {
    if let values = plain.values(key, in: defaults) { return values }
    guard let elements = defaults.preferenceObject(forKey: key) as? [Any] else { return nil }
    let memory = MutableDictionaryPreferences(dictionary: [:])
    let scratch = BackedUserDefaults(preferences: memory)
    var values: [T.ValueType] = []
    for element in elements {
      memory.set(element as PreferenceObject?, forKey: Self.elementKey)
      guard let value = T.get(key: Self.elementKey, from: scratch) else { return nil }
      values.append(value)
    }
    return values
  }

  func set(values: [T.ValueType], _ key: String, in defaults: NSUD) {
    if storesItself { return plain.set(values: values, key, in: defaults) }
    let memory = MutableDictionaryPreferences(dictionary: [:])
    let scratch = BackedUserDefaults(preferences: memory)
    var elements: [Any] = []
    for value in values {
      memory.clearAll()
      T.set(value: value, forKey: Self.elementKey, in: scratch)
      guard let element = memory.object(forKey: Self.elementKey), memory.dictionary().count == 1
      else {
        return defaults.didRefuse(
          PreferencesError(
            .unstorable,
            "an element of the array of the key '\(key)' is of type \(T.self), which did not store"
              + " it as one value: conform to PalauCustomDefaultable or Codable"), forKey: key)
      }
      elements.append(element)
    }
    defaults.setPreference(elements as Any?, forKey: key)
  }

  /// Whether the type is an array or a dictionary of unknown elements.
  private var storesItself: Bool {
    T.ValueType.self is any Collection.Type || T.ValueType.self == Any.self
  }
}
