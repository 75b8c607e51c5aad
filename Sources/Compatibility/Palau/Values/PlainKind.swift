internal import Foundation
internal import Prephirences

/// Values that are stored as themselves, or as JSON if only that is possible.
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
