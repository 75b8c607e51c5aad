internal import Foundation
internal import Palau
internal import Prephirences
internal import PrephirencesDurable
internal import SwiftyUserDefaults
internal import Testing
internal import TypedDefaults

extension Window: DefaultsSerializable, DefaultConvertible {
  static var key: String { "window" }
}

extension Theme: DefaultsSerializable {}

/// Values in a file, read by another store and by the other facades.
@Suite("Files")
final class ReloadTests {
  private let home = NSTemporaryDirectory() + "palau-\(UUID().uuidString)"
  private let preferences: DurablePreferences

  init() throws {
    try FileManager.default.createDirectory(
      atPath: home + "/one", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    preferences = DurablePreferences(suiteName: "palau", folder: home + "/one")
  }

  deinit { try? FileManager.default.removeItem(atPath: home) }

  /// Returns the preferences in a copy of the file: a process has one cache for each file.
  private func reloaded() throws -> DurablePreferences {
    let folder = home + "/\(UUID())"
    try FileManager.default.copyItem(atPath: home + "/one", toPath: folder)
    return DurablePreferences(suiteName: "palau", folder: folder)
  }

  private func roundTrip<T: PalauDefaultable & Equatable>(
    _ value: T, key: String = "key", _ location: SourceLocation = #_sourceLocation
  ) throws where T.ValueType == T {
    let one: PalauDefaultsEntry<T> = PalauDefaults.value(key, in: preferences)
    one.value = value
    let several: PalauDefaultsArrayEntry<T> = PalauDefaults.value(key + "s", in: preferences)
    several.value = [value]
    #expect(preferences.lastError == nil, sourceLocation: location)
    let copy = try reloaded()
    let read: PalauDefaultsEntry<T> = PalauDefaults.value(key, in: copy)
    let readSeveral: PalauDefaultsArrayEntry<T> = PalauDefaults.value(key + "s", in: copy)
    #expect(read.value == value, sourceLocation: location)
    #expect(readSeveral.value == [value], sourceLocation: location)
  }

  @Test func valuesComeBackAsTheyWere() throws {
    try roundTrip(Int.max)
    try roundTrip(UInt64.max)
    try roundTrip(Float(0.1))
    try roundTrip(Float.infinity)
    try roundTrip(Date(timeIntervalSinceReferenceDate: 1.25))
    let base = try #require(URL(string: "https://swift.org/a/"))
    try roundTrip(try #require(URL(string: "b?c", relativeTo: base)))
    try roundTrip(try #require(Decimal(string: "0.1")))
    try roundTrip("a\u{0}b", key: "nul\u{0}key")
    try roundTrip("composed", key: "\u{e9}")
    try roundTrip("decomposed", key: "e\u{301}")
    try roundTrip(Shape(sides: 3))
    try roundTrip(Window(width: 3, title: "a"))
    try roundTrip(Pair(first: "a", second: "b"))
    let composed: PalauDefaultsEntry<String> = PalauDefaults.value("\u{e9}", in: try reloaded())
    #expect(composed.value == "composed")
  }

  @Test func otherFacadesReadWhatPalauWrites() throws {
    (PalauDefaults.value("window", in: preferences) as PalauDefaultsEntry<Window>).value =
      Window(width: 3, title: "a")
    (PalauDefaults.value("theme", in: preferences) as PalauDefaultsEntry<Theme>).value = .dark
    (PalauDefaults.value("hosts", in: preferences) as PalauDefaultsArrayEntry<String>).value = ["a"]
    let copy = try reloaded()
    let adapter = DefaultsAdapter(preferences: copy, keyStore: DefaultsKeys())
    #expect(adapter[key: DefaultsKey<Window?>("window")]?.width == 3)
    #expect(adapter[key: DefaultsKey<Theme?>("theme")] == .dark)
    #expect(adapter[key: DefaultsKey<[String]?>("hosts")] == ["a"])
    #expect(PersistentStore<Window>(preferences: copy).get()?.title == "a")
    #expect(try copy.decodable(Window.self, forKey: "window")?.width == 3)
    #expect(copy.string(forKey: "theme") == "dark")
  }

  @Test func palauReadsWhatOtherFacadesWrite() throws {
    PersistentStore<Window>(preferences: preferences).set(Window(width: 3, title: "a"))
    let adapter = DefaultsAdapter(preferences: preferences, keyStore: DefaultsKeys())
    adapter[key: DefaultsKey<Theme>("theme", defaultValue: .light)] = .dark
    adapter[key: DefaultsKey<[Window]>("windows", defaultValue: [])] = [
      Window(width: 4, title: "b")
    ]
    adapter[key: DefaultsKey<[Int]>("numbers", defaultValue: [])] = [1, 2]
    let copy = try reloaded()
    #expect(
      (PalauDefaults.value("window", in: copy) as PalauDefaultsEntry<Window>).value?.width == 3)
    #expect((PalauDefaults.value("theme", in: copy) as PalauDefaultsEntry<Theme>).value == .dark)
    #expect(
      (PalauDefaults.value("windows", in: copy) as PalauDefaultsArrayEntry<Window>).value?[0].width
        == 4)
    #expect(
      (PalauDefaults.value("numbers", in: copy) as PalauDefaultsArrayEntry<Int>).value == [1, 2])
    #expect(adapter[key: DefaultsKey<Window?>("window")]?.width == 3)
  }
}
