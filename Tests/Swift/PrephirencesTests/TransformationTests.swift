internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Transformations")
struct TransformationTests {
  enum Mode: String { case on, off }
  struct Point: Codable, Equatable {
    var x = 1
    var y = Double.pi
  }

  private let store: MutableDictionaryPreferences = ["text": "old", "int": 3]

  private static let doubled = TransformationKey.closureTuple(
    transform: { ($0 as? Int).map { $0 * 2 } }, revert: { ($0 as? Int).map { $0 / 2 } })
  private static let incremented = TransformationKey.closureTuple(
    transform: { ($0 as? Int).map { $0 + 1 } }, revert: { ($0 as? Int).map { $0 - 1 } })

  /// Joins the value with its key, and refuses empty text.
  private struct Binding: PreferenceTransformation {
    func reverseTransformedValue(_ value: PreferenceObject?) -> Any? { nil }
    func transformedValue(_ value: Any?) -> PreferenceObject? { nil }

    func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
      guard let text = preferences.string(forKey: key), text.hasPrefix(key + "=") else {
        return nil
      }
      return String(text.dropFirst(key.count + 1)) as? T
    }

    func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
      guard let text = value as? String else { return preferences.removeObject(forKey: key) }
      if !text.isEmpty { preferences.set(key + "=" + text as Any?, forKey: key) }
    }
  }

  @Test func archivesTakeTextNumbersAndObjects() {
    let values: [Any] = [
      "text", 5, 2.5, true, Date(timeIntervalSince1970: 1.25), Data([1]), [1, 2], ["a": "b"],
      UUID(), NSArray(array: [1]),
    ]
    for value in values {
      store["k", .archive] = value
      #expect(store["k"] is Data, "\(value)")
      let read = store["k", .archive].map { NSArray(array: [$0]) }
      #expect(read == NSArray(array: [value]), "\(value)")
    }
    store["k", .Archive] = nil
    #expect(!store.hasObject(forKey: "k"))
  }

  @Test func unarchivableValueChangesNothing() {
    store["text", .archive] = Point()
    #expect(store["text"] as? String == "old")
    #expect(store["text", .archive] == nil)
  }

  @Test func closuresTransformBothWays() {
    store["int", Self.doubled] = 5
    #expect(store["int"] as? Int == 10 && store["int", Self.doubled] as? Int == 5)
    store["int", .closureTuple(transform: nil, revert: { _ in "read" })] = 7
    #expect(store["int"] as? Int == 7)
    #expect(store["int", { ($0 as? Int).map { $0 + 1 } }] as? Int == 8)
    store["int", Self.doubled] = "no number, so nothing to store"
    #expect(!store.hasObject(forKey: "int"))
  }

  @Test func transformationsReadForwardAndWriteBackward() {
    let both = TransformationKey.compose(transformations: [Self.doubled, Self.incremented])
    store["int", both] = 5
    #expect(store["int"] as? Int == 12 && store["int", both] as? Int == 5)
    #expect(both.transformedValue(5) as? Int == 12)
    #expect(both.reverseTransformedValue(12) as? Int == 5)
    store["int", both] = nil
    #expect(!store.hasObject(forKey: "int"))
  }

  @Test(arguments: [
    TransformationKey.compose(transformations: []),
    .compose(transformations: [TransformationKey.none]),
    .compose(transformations: [TransformationKey.none, TransformationKey.none]), .None,
  ])
  func transformationsThatDoNothing(_ transformation: TransformationKey) {
    store["int", transformation] = 8
    #expect(store["int"] as? Int == 8 && store["int", transformation] as? Int == 8)
  }

  @Test func aTransformationKnowsItsKeyAndMayRefuse() {
    let transformations: [any PreferenceTransformation] = [
      Binding(), TransformationKey.transformation(Binding()),
      TransformationKey.compose(transformations: [Binding()]),
      TransformationKey.compose(transformations: [TransformationKey.archive, Binding()]),
      TransformationKey.compose(transformations: [TransformationKey.none, Binding()]),
    ]
    for transformation in transformations {
      store["a", transformation] = "x"
      #expect(store["a", transformation] as? String == "x")
      store["b"] = store["a"]
      #expect(store["b", transformation] == nil, "moved to another key")
      store["a", transformation] = ""
      #expect(store["a", transformation] as? String == "x", "refused")
      let preference: MutablePreference<String> = store <| "a"
      preference.transformation = transformation
      #expect(preference.value == "x")
      preference.value = "y"
      #expect(preference.value == "y")
      preference.value = nil
      #expect(!store.hasObject(forKey: "a"))
    }
  }

  @Test func codableValuesAreStoredAsJSON() throws {
    store["point", .codable(Point.self)] = Point(x: 2)
    #expect(store["point", .codable(Point.self)] as? Point == Point(x: 2))
    #expect(try store.decodable(Point.self, forKey: "point") == Point(x: 2))
    store["point", .codable(Point.self)] = "another type"
    store["point", .codable(Point.self)] = Point(x: 3, y: .nan)
    #expect(store["point", .codable(Point.self)] as? Point == Point(x: 2), "kept")
    #expect(store["text", .codable(Point.self)] == nil)
    store["point", .codable(Point.self)] = nil
    #expect(!store.hasObject(forKey: "point"))
  }

  @Test func rawValuesAreStored() {
    store["mode", Mode.preferenceTransformation] = Mode.on
    #expect(store["mode"] as? String == "on")
    #expect(store["mode", Mode.preferenceTransformation] as? Mode == .on)
    #expect(store.rawRepresentable(forKey: "mode") == Mode.on)
    store.set(rawValue: Mode.off, forKey: "mode")
    #expect(store["mode"] as? String == "off")
    store["mode", Mode.preferenceTransformation] = 3
    #expect(store["mode"] as? String == "off", "kept")
    #expect(store.rawRepresentable(forKey: "text") == Mode?.none)
    store.set(rawValue: Mode?.none, forKey: "mode")
    #expect(!store.hasObject(forKey: "mode"))
  }

  @Test func preferencesStoreWhatPropertyListsHave() {
    let mode: MutablePreference<Mode> = store <| "mode"
    mode.value = .on
    #expect(store["mode"] as? String == "on" && mode.value == .on)
    let points: MutablePreference<[Point]> = store <| "points"
    points.value = [Point(x: 5)]
    #expect(store["points"] is Data && points.value == [Point(x: 5)])
    let numbers: MutablePreference<[String: [Int]]> = store <| "numbers"
    numbers.value = ["a": [1]]
    #expect(store["numbers"] as? [String: [Int]] == ["a": [1]] && numbers.value == ["a": [1]])
    let plain = MutablePreference<Point>(
      preferences: store, key: "plain", transformation: TransformationKey.none)
    plain.value = Point()
    #expect(store["plain"] as? Point == Point())
    let read: Preference<Point> = store <| "plain"
    #expect(read.value == Point(), "a value that was stored as it is")
  }

  @Test func namesAreComparedWherePossible() {
    let transformer = ArchiveValueTransformer()
    #expect(TransformationKey.none == .None && TransformationKey.archive == .Archive)
    #expect(TransformationKey.none != .archive && Self.doubled != Self.doubled)
    #expect(TransformationKey.compose(transformations: []) == .compose(transformations: []))
    #expect(
      TransformationKey.compose(transformations: [TransformationKey.none])
        != .compose(transformations: [TransformationKey.none]))
    #expect(TransformationKey.valueTransformer(transformer) == .valueTransformer(transformer))
    #expect(
      TransformationKey.valueTransformer(transformer)
        != .valueTransformer(ArchiveValueTransformer()))
  }
}
