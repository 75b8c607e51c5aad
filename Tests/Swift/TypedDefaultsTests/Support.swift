internal import Foundation
internal import Prephirences
internal import TypedDefaults

/// The document's example.
struct CameraConfig: DefaultConvertible, Equatable {
  enum Size: Int { case large, medium, small }

  static let key = "CameraConfig"

  var saveToCameraRoll: Bool
  var size: Size

  init?(_ object: Any) {
    guard let fields = object as? [String: Any] else { return nil }
    saveToCameraRoll = fields["cameraRoll"] as? Bool ?? true
    size = (fields["size"] as? Int).flatMap(Size.init) ?? .medium
  }

  func serialize() -> Any { ["cameraRoll": saveToCameraRoll, "size": size.rawValue] }
}

struct Settings: Codable, Hashable, DefaultConvertible {
  static let key = "settings"

  var port = 8080
  var ratio = Float(0.1)
  var largest = UInt64.max
  var smallest = Int.min
  var date = Date(timeIntervalSinceReferenceDate: 1.25)
  var address = URL(string: "https://swift.org/a?b")
  var key = Data([0, 255])
  var price = Decimal(string: "0.1")
  var id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
  var names = ["a": ["b", "c\u{0}"], "e\u{301}": []]
  var missing: String?
}

/// A value that is not a dictionary.
struct Launches: Codable, Equatable, DefaultConvertible {
  static let key = "launches"
  var count: Int

  init(count: Int) { self.count = count }
  init(from decoder: any Decoder) throws {
    count = try decoder.singleValueContainer().decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(count)
  }
}

/// Serializes to an object that no property list holds.
struct Unstorable: DefaultConvertible {
  static let key = "CameraConfig"

  init() {}
  init?(_ object: Any) {}
  func serialize() -> Any { ["object": NSObject()] }
}

/// Is stored as parts of a text.
struct Host: DefaultConvertible, Equatable {
  static let key = "host"

  var name: String

  init(name: String) { self.name = name }
  init?(_ object: Any) {
    guard let name = (object as? [String: String])?["name"] else { return nil }
    self.name = name
  }
  func serialize() -> Any { ["name".prefix(4): name[...]] }
}

/// Cannot be encoded.
struct Unencodable: Codable, DefaultConvertible {
  static let key = "unencodable"

  init() {}
  init(from decoder: any Decoder) throws {}
  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self, EncodingError.Context(codingPath: [], debugDescription: "never"))
  }
}

/// What closures were called with.
final class Recorder<Value>: @unchecked Sendable {
  // Unchecked because a lock guards each use.
  private let lock = NSLock()
  private var recorded: [Value] = []

  var all: [Value] { lock.withLock { recorded } }

  func record(_ value: Value) { lock.withLock { recorded.append(value) } }
}
