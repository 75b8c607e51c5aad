internal import Foundation

/// Values that are stored as values of another type.
struct ConvertedKind<Value, Stored>: PalauKind {
  let stored: any PalauKind<Stored>
  let store: (Value) -> Stored
  let restore: (Stored) -> Value?

  func value(_ key: String, in defaults: NSUD) -> Value? {
    stored.value(key, in: defaults).flatMap(restore)
  }

  /// Returns the valid values, such as those that are still cases of an enumeration.
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
