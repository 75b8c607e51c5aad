internal import Foundation
internal import Palau
internal import Prephirences

/// User defaults of one test, in memory.
func memoryDefaults(_ values: PreferencesDictionary = [:]) -> BackedUserDefaults {
  BackedUserDefaults(preferences: MutableDictionaryPreferences(dictionary: values))
}

func entry<T: PalauDefaultable>(_ key: String, _ defaults: NSUD) -> PalauDefaultsEntry<T> {
  PalauDefaults.value(key, in: defaults)
}

func entries<T: PalauDefaultable>(_ key: String, _ defaults: NSUD) -> PalauDefaultsArrayEntry<T> {
  PalauDefaults.value(key, in: defaults)
}

/// What closures were called with.
final class Recorder<Value>: @unchecked Sendable {
  // Unchecked because a lock guards each use.
  private let lock = NSLock()
  private var recorded: [Value] = []

  var all: [Value] { lock.withLock { recorded } }

  func record(_ value: Value) { lock.withLock { recorded.append(value) } }
}

enum Theme: String, PalauDefaultable { case light, dark }

enum Level: Int, Codable, PalauDefaultable { case low = 1, high = 2 }

struct Window: Codable, Hashable, PalauDefaultable {
  var width: Int
  var title: String
}

struct Colour: Equatable, PalauCustomDefaultable {
  var red: Int
  var green: Int

  static func toIntermediate(_ colour: Colour) -> [Int] { [colour.red, colour.green] }

  static func fromIntermediate(_ parts: [Int]) -> Colour? {
    parts.count == 2 ? Colour(red: parts[0], green: parts[1]) : nil
  }
}

/// Its intermediate type is not `Codable`.
struct Look: Equatable, PalauCustomDefaultable {
  var theme: Theme

  static func toIntermediate(_ look: Look) -> Theme { look.theme }

  static func fromIntermediate(_ theme: Theme) -> Look? { Look(theme: theme) }
}

/// Stores itself, as the document's `Structy`.
struct Pair: Equatable, PalauDefaultable {
  let first: String
  let second: String

  static func get(_ key: String, from defaults: NSUD) -> Pair? {
    guard let parts = defaults.object(forKey: key) as? [String: Any],
      let first = parts["1"] as? String, let second = parts["2"] as? String
    else { return nil }
    return Pair(first: first, second: second)
  }

  static func set(_ value: Pair?, forKey key: String, in defaults: NSUD) {
    guard let value else { return defaults.removeObject(forKey: key) }
    defaults.set(["1": value.first, "2": value.second], forKey: key)
  }
}

/// Stores nothing of itself.
struct Opaque: PalauDefaultable {
  let work: @Sendable () -> Void
}

final class Shape: NSObject, NSCoding, PalauDefaultable {
  typealias ValueType = Shape
  let sides: Int

  init(sides: Int) { self.sides = sides }

  required init?(coder: NSCoder) { sides = coder.decodeInteger(forKey: "sides") }

  func encode(with coder: NSCoder) { coder.encode(sides, forKey: "sides") }

  override func isEqual(_ object: Any?) -> Bool { (object as? Shape)?.sides == sides }

  override var hash: Int { sides }
}
