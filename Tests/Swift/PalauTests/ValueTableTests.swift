public import Foundation
public import Palau
internal import Prephirences
internal import PrephirencesDurable
internal import SwiftyUserDefaults
internal import Testing
internal import TypedDefaults

/// Every value through every facade over every store: what comes out is what went in.
@Suite("Values through all facades")
final class ValueTableTests {
  private let home = NSTemporaryDirectory() + "table-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(
      atPath: home + "/one", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: home) }

  @Test func inMemory() throws {
    let preferences = MutableDictionaryPreferences(dictionary: [:])
    try ValueTable.check(preferences) { preferences }
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func inAFile(format: PropertyListSerialization.PropertyListFormat) throws {
    let path = home + "/a.plist"
    let plist = try Plist(openingFile: path, format: format)
    try ValueTable.check(plist) {
      try plist.writeFile()
      return try Plist(contentsOfFile: path)
    }
  }

  @Test func durable() throws {
    let (one, copy) = (home + "/one", home + "/copy")
    try ValueTable.check(DurablePreferences(suiteName: "table", folder: one)) {
      // A process has one cache for each file.
      try FileManager.default.copyItem(atPath: one, toPath: copy)
      return DurablePreferences(suiteName: "table", folder: copy)
    }
  }

  @Test func userDefaults() async {
    await #expect(processExitsWith: .success) {
      let name = "prephirences-test-\(UUID().uuidString)"
      let environment = ProcessInfo.processInfo.environment
      let folder = environment["XDG_CONFIG_HOME"] ?? (environment["HOME"] ?? "") + "/.config"
      defer { try? FileManager.default.removeItem(atPath: "\(folder)/\(name).plist") }
      try ValueTable.check(try #require(UserDefaults(suiteName: name))) {
        try #require(UserDefaults(suiteName: name))
      }
    }
  }
}

private enum ValueTable {
  /// A value in one facade: how it is set and read.
  struct Cell {
    let name: String
    let set: (UserDefaults, any MutablePreferencesType) throws -> Void
    let isKept: (UserDefaults, any MutablePreferencesType) -> Bool
  }

  /// Sets all values, and reads them again.
  static func check(
    _ preferences: any MutablePreferencesType,
    reopened: () throws -> any MutablePreferencesType
  ) throws {
    let cells = try cells()
    let first = userDefaults(over: preferences)
    for cell in cells {
      try cell.set(first, preferences)
      #expect(first.lastPreferencesError == nil, "\(cell.name) was set")
      #expect(cell.isKept(first, preferences), "\(cell.name) is read at once")
    }
    let other = try reopened()
    let second = userDefaults(over: other)
    for cell in cells {
      #expect(cell.isKept(second, other), "\(cell.name) is read again")
      #expect(second.lastPreferencesError == nil, "\(cell.name) was read")
    }
  }

  private static func userDefaults(over preferences: any MutablePreferencesType) -> UserDefaults {
    switch preferences {
    case let defaults as UserDefaults: defaults
    case let durable as DurablePreferences: DurableUserDefaults(durable)
    default: BackedUserDefaults(preferences: preferences)
    }
  }

  // MARK: Values

  private static func cells() throws -> [Cell] {
    let base = try #require(URL(string: "https://swift.org/a/"))
    let price = try #require(Decimal(string: "1234567890.12345678901234567890123456789"))
    let early = Date(timeIntervalSinceReferenceDate: -1e12)
    let late = Date(timeIntervalSinceReferenceDate: 1e15 + 0.25)
    let objects = NSArray(array: [
      NSDecimalNumber(decimal: price), NSUUID(), early as NSDate, base as NSURL, 1.5 as NSNumber,
      "text" as NSString, true as NSNumber,
    ])
    let nested = NSDictionary(dictionary: ["list": objects, "late": late as NSDate])
    var cells: [Cell] = []
    cells += values(true)
    cells += values(Int.min)
    cells += values(Int.max)
    cells += values(UInt64.max)
    cells += values(Int8.min)
    cells += values(Float(0.1))
    cells += values(Float.infinity)
    cells += values(0.1)
    cells += values(Double.infinity)
    cells += values(CGFloat(0.1))
    cells += values(price)
    cells += values("")
    cells += values("\u{FEFF}a\0\r\n\u{1F600}e\u{301}")
    cells += values(Date(timeIntervalSinceReferenceDate: 700_000_000.123))
    cells += values(early)
    cells += values(late)
    cells += values(Data())
    cells += values(Data("bplist00".utf8))
    cells += values(base)
    cells += values(UUID())
    cells += values(["a", ""])
    cells += values([1, .max])
    cells += values([early, late])
    cells += values([price])
    cells += values(["a": 1])
    cells += values(["a": price])
    cells += self.objects(NSNumber(value: 0.1))
    cells += self.objects(NSNumber(value: true))
    cells += self.objects(NSNumber(value: UInt64.max))
    cells += self.objects(NSNumber(value: Float(0.1)))
    cells += self.objects(NSDecimalNumber(decimal: price) as NSNumber)
    cells += self.objects(NSString("text"))
    cells += self.objects(NSData(data: Data([1])))
    cells += self.objects(early as NSDate)
    cells += self.objects(NSUUID())
    cells += self.objects(objects)
    cells += self.objects(nested)
    return cells
  }

  /// The cells of a value that all facades have.
  private static func values<
    T: PalauDefaultable & DefaultsSerializable & Equatable & SendableMetatype
  >(_ value: T) -> [Cell] where T.ValueType == T, T.T == T {
    let key = key(value)
    let one = DefaultsKey<T?>(key + " Swifty")
    return objects(value) + [
      Cell(
        name: "SwiftyUserDefaults: \(key)",
        set: { defaults, _ in adapter(defaults)[key: one] = value },
        isKept: { defaults, _ in adapter(defaults)[key: one] == value }),
      preference(value, key), preference([value, value], key + "s"),
    ]
  }

  /// The cells of an object.
  private static func objects<T: PalauDefaultable & Equatable>(_ value: T) -> [Cell]
  where T.ValueType == T {
    let key = key(value)
    return [
      Cell(
        name: "Palau: \(key)",
        set: { defaults, _ in
          (entry(key + " Palau", defaults) as PalauDefaultsEntry<T>).value = value
          (entries(key + " Palaus", defaults) as PalauDefaultsArrayEntry<T>).value = [value, value]
        },
        isKept: { defaults, _ in
          (entry(key + " Palau", defaults) as PalauDefaultsEntry<T>).value == value
            && (entries(key + " Palaus", defaults) as PalauDefaultsArrayEntry<T>).value
              == [value, value]
        }),
      Cell(
        name: "TypedDefaults: \(key)",
        set: { _, preferences in
          let store = PersistentStore<Box<T>>(preferences: preferences)
          store.set(Box(value: value))
          #expect(store.lastError == nil && store.get()?.value == value, "\(key)")
          store.remove()
        }, isKept: { _, _ in true }),
      preference(value, key),
    ]
  }

  private static func preference<T: Equatable>(_ value: T, _ key: String) -> Cell {
    Cell(
      name: "Prephirences: \(key)",
      set: { _, preferences in
        MutablePreference<T>(preferences: preferences, key: key).value = value
      },
      isKept: { _, preferences in
        Preference<T>(preferences: preferences, key: key).value == value
      })
  }

  private static func adapter(_ defaults: UserDefaults) -> DefaultsAdapter<DefaultsKeys> {
    DefaultsAdapter(defaults: defaults, keyStore: DefaultsKeys())
  }

  /// Returns a new key, whose name says what the value is.
  private static func key<T>(_ value: T) -> String {
    let text = "\(value)".unicodeScalars.filter { $0.isASCII && $0.value >= 0x20 }
    return "\(T.self) \(String(String.UnicodeScalarView(text.prefix(30)))) \(UUID())"
  }
}

/// A value of its own, for TypedDefaults.
private struct Box<Value>: DefaultConvertible {
  static var key: String { "box of \(Value.self)" }

  let value: Value

  init(value: Value) { self.value = value }

  init?(_ object: Any) {
    guard let value: Value = PreferenceCast.cast(object) else { return nil }
    self.value = value
  }

  func serialize() -> Any { value }
}

extension NSUUID: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSUUID
}
