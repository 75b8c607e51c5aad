import Foundation
import Prephirences
import SwiftyUserDefaults

/// An adapter of keys over a new store in memory.
func makeAdapter() -> DefaultsAdapter<DefaultsKeys> {
  DefaultsAdapter(
    preferences: MutableDictionaryPreferences(dictionary: [:]), keyStore: DefaultsKeys())
}

struct Point: Codable, Hashable, DefaultsSerializable {
  var x: Int
  var y: Double
}

enum Side: String, DefaultsSerializable { case left, right }

/// Both `RawRepresentable` and `Codable`.
enum Level: Int, Codable, DefaultsSerializable { case low, high }

/// `NSCoding`.
final class Badge: NSObject, NSCoding, DefaultsSerializable {
  let name: String

  init(name: String) { self.name = name }

  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(forKey: "name") as? String else { return nil }
    self.name = name
  }

  func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: "name") }

  override func isEqual(_ object: Any?) -> Bool { (object as? Badge)?.name == name }
}

extension DefaultsKeys {
  var count: DefaultsKey<Int> { .init("count", defaultValue: 0) }
  var name: DefaultsKey<String?> { .init("name") }
  var list: DefaultsKey<[String]> { .init("list", defaultValue: []) }
  var volume: DefaultsKey<Double> { .init("volume", defaultValue: 0.5) }
  var isOn: DefaultsKey<Bool> { .init("isOn", defaultValue: true) }
  var point: DefaultsKey<Point?> { .init("point") }
  var points: DefaultsKey<[Point]> { .init("points", defaultValue: []) }
  var side: DefaultsKey<Side> { .init("side", defaultValue: .left) }
  var sides: DefaultsKey<[Side]> { .init("sides", defaultValue: []) }
  var level: DefaultsKey<Level?> { .init("level") }
  var levels: DefaultsKey<[Level]?> { .init("levels") }
  var badge: DefaultsKey<Badge?> { .init("badge") }
  var badges: DefaultsKey<[Badge]?> { .init("badges") }
}

/// A folder of its own, which is removed at the end.
func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try FileManager.default.createDirectory(
    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder.path)
}

/// Collects what observers receive, on any thread.
final class Received<Value>: @unchecked Sendable {
  // Unchecked because the lock guards every use of the values.
  private let lock = NSLock()
  private var values: [Value] = []

  func add(_ value: Value) { lock.withLock { values.append(value) } }

  var all: [Value] { lock.withLock { values } }
}
