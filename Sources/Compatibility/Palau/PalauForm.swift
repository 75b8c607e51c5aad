internal import Foundation
internal import Prephirences

/// How values are stored if their type does not define it.
///
/// One default implementation checks the type at run time. One for each kind would be ambiguous for
/// a type of two kinds, such as an enumeration that is `RawRepresentable` and `Codable`.
enum PalauForm {
  /// Reads a value, and reports a value of another type.
  static func read<Value>(
    _ type: Any.Type, _ key: String, in defaults: NSUD, _ body: () -> Value?
  ) -> Value? {
    if let value = body() { return value }
    // If the store cannot be read, it has reported that.
    if (try? defaults.fetchObject(forKey: key)) != nil {
      defaults.didRefuse(.unreadable(key, type), forKey: key)
    }
    return nil
  }

  static func kind<T: PalauDefaultable>(of type: T.Type) -> any PalauKind<T.ValueType> {
    if let custom = type as? any PalauCustomDefaultable.Type,
      let kind = custom.kind(for: T.ValueType.self)
    {
      return kind
    }
    if T.ValueType.self is any NSCoding.Type { return ArchivedKind<T.ValueType>() }
    if let raw = T.ValueType.self as? any RawRepresentable.Type,
      let kind = raw.kind(for: T.ValueType.self)
    {
      return kind
    }
    if T.ValueType.self is any Codable.Type { return PlainKind<T.ValueType>() }
    return OwnKind<T>()
  }
}

/// How the values of one type are stored.
protocol PalauKind<Value> {
  associatedtype Value
  func value(_ key: String, in defaults: NSUD) -> Value?
  func values(_ key: String, in defaults: NSUD) -> [Value]?
  func set(_ value: Value, _ key: String, in defaults: NSUD)
  func set(values: [Value], _ key: String, in defaults: NSUD)
}

/// Values that are stored as themselves, or as JSON if necessary.
struct PlainKind<Value>: PalauKind {
  func value(_ key: String, in defaults: NSUD) -> Value? { Self.get(key, from: defaults) }

  func values(_ key: String, in defaults: NSUD) -> [Value]? {
    PlainKind<[Value]>.get(key, from: defaults)
  }

  func set(_ value: Value, _ key: String, in defaults: NSUD) {
    Self.set(value, forKey: key, in: defaults)
  }

  func set(values: [Value], _ key: String, in defaults: NSUD) {
    PlainKind<[Value]>.set(values, forKey: key, in: defaults)
  }

  private static func get(_ key: String, from defaults: NSUD) -> Value? {
    DefaultTransformation.of(Value.self).get(key, from: defaults)
  }

  private static func set(_ value: Value, forKey key: String, in defaults: NSUD) {
    DefaultTransformation.of(Value.self).set(key, value: value, to: defaults)
  }
}

/// Objects that are stored as they are if the store can hold them, or else as archives.
///
/// Palau for Apple's systems archives all of them, so archives are read, too.
struct ArchivedKind<Value>: PalauKind {
  func value(_ key: String, in defaults: NSUD) -> Value? {
    defaults.preferenceObject(forKey: key).flatMap(Self.object)
  }

  func values(_ key: String, in defaults: NSUD) -> [Value]? {
    let stored = defaults.preferenceObject(forKey: key)
    // The whole array may be an archive, too.
    if let archive = stored as? Data {
      return PreferenceArchive.unarchive(archive) as? [Value]
    }
    return (stored as? [Any])?.compactMap(Self.object)
  }

  func set(_ value: Value, _ key: String, in defaults: NSUD) {
    guard let form = Self.form(value) else { return refuse(key, in: defaults) }
    defaults.setPreference(form, forKey: key)
  }

  func set(values: [Value], _ key: String, in defaults: NSUD) {
    let forms = values.compactMap(Self.form)
    guard forms.count == values.count else { return refuse(key, in: defaults) }
    defaults.setPreference(forms as Any?, forKey: key)
  }

  private func refuse(_ key: String, in defaults: NSUD) {
    defaults.didRefuse(
      PreferencesError(
        .unstorable,
        "the value of the key '\(key)' is of type \(Value.self), and it, or an object in it, "
          + "cannot be archived: declare its class outside other types, and not as private or "
          + "generic"),
      forKey: key)
  }

  private static func form(_ value: Value) -> Any? {
    // Store the value itself: a store may hold more types than a property list.
    (try? PropertyListForm.encode(value)) != nil ? value : PreferenceArchive.archive(value)
  }

  private static func object(_ stored: Any) -> Value? {
    if let object = (stored as AnyObject) as? Value { return object }
    return (stored as? Data).flatMap(PreferenceArchive.unarchive) as? Value
  }
}

/// Values that are stored as values of another type.
struct ConvertedKind<Value, Stored>: PalauKind {
  let stored: any PalauKind<Stored>
  let store: (Value) -> Stored
  let restore: (Stored) -> Value?

  func value(_ key: String, in defaults: NSUD) -> Value? {
    stored.value(key, in: defaults).flatMap(restore)
  }

  /// Returns the valid values; for example, the program may have removed a case.
  func values(_ key: String, in defaults: NSUD) -> [Value]? {
    stored.values(key, in: defaults)?.compactMap(restore)
  }

  func set(_ value: Value, _ key: String, in defaults: NSUD) {
    stored.set(store(value), key, in: defaults)
  }

  func set(values: [Value], _ key: String, in defaults: NSUD) {
    stored.set(values: values.map(store), key, in: defaults)
  }
}

extension PalauCustomDefaultable {
  static func kind<Value>(for type: Value.Type) -> (any PalauKind<Value>)? {
    var stored: any PalauKind<IntermediateType> = PlainKind<IntermediateType>()
    // An array of these is neither a property list nor JSON.
    if let raw = IntermediateType.self as? any RawRepresentable.Type,
      !(IntermediateType.self is any Codable.Type)
    {
      stored = raw.kind(for: IntermediateType.self) ?? stored
    }
    return ConvertedKind<Self, IntermediateType>(
      stored: stored, store: { toIntermediate($0) }, restore: { fromIntermediate($0) })
      as? any PalauKind<Value>
  }
}

extension RawRepresentable {
  static func kind<Value>(for type: Value.Type) -> (any PalauKind<Value>)? {
    ConvertedKind<Self, RawValue>(
      stored: PlainKind<RawValue>(), store: { $0.rawValue }, restore: { Self(rawValue: $0) })
      as? any PalauKind<Value>
  }
}

/// Values of a type that stores itself, or whose kind is unknown.
///
/// A type that implements `get` and `set` for one value has no methods for arrays. Its method
/// writes each element to preferences in memory, from which the stored object is taken.
struct OwnKind<T: PalauDefaultable>: PalauKind {
  /// The key of an element in memory, which program arguments don't have.
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
