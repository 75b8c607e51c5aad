internal import Foundation
internal import Prephirences

/// How values are stored if their type does not say it.
///
/// One default finds out at run time what the type is. A default for each kind would be ambiguous
/// for a type of two kinds, such as an enumeration that is `RawRepresentable` and `Codable`.
enum PalauForm {
  static func value<T: PalauDefaultable>(
    of type: T.Type, _ key: String, in defaults: NSUD
  ) -> T.ValueType? {
    read(type, key, in: defaults) { kind(of: type).value(key, in: defaults) }
  }

  static func values<T: PalauDefaultable>(
    of type: T.Type, _ key: String, in defaults: NSUD
  ) -> [T.ValueType]? {
    read([T].self, key, in: defaults) { kind(of: type).values(key, in: defaults) }
  }

  /// Reads a value, and reports one that is not of this type.
  private static func read<Value>(
    _ type: Any.Type, _ key: String, in defaults: NSUD, _ body: () -> Value?
  ) -> Value? {
    if let value = body() { return value }
    // A store that cannot be read has reported that.
    if (try? defaults.fetchObject(forKey: key)) != nil {
      defaults.didRefuse(.unreadable(key, type), forKey: key)
    }
    return nil
  }

  static func set<T: PalauDefaultable>(
    _ value: T.ValueType?, of type: T.Type, _ key: String, in defaults: NSUD
  ) {
    guard let value else { return defaults.removePreference(forKey: key) }
    kind(of: type).set(value, key, in: defaults)
  }

  static func set<T: PalauDefaultable>(
    values: [T.ValueType]?, of type: T.Type, _ key: String, in defaults: NSUD
  ) {
    guard let values else { return defaults.removePreference(forKey: key) }
    kind(of: type).set(values: values, key, in: defaults)
  }

  private static func kind<T: PalauDefaultable>(of type: T.Type) -> any PalauKind<T.ValueType> {
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
