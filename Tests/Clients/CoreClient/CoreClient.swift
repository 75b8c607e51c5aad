internal import Glibc
internal import PreferencesCore

/// A program without Foundation: its numbers are Swift's, and it has no archives of objects.
///
/// It prints what is not as expected, and fails.
@main
enum CoreClient {
  static func main() throws {
    let preferences = Store(["three": 3, "half": 0.5, "text": "7 apples"])
    let three = preferences.object(forKey: "three") ?? "nothing"
    expect("number", "\(type(of: three)) \(three is Double)", "Int false")
    expect("boxed number", "\(type(of: NumberBoxing.boxed(3)))", "Int")
    expect("conversion", preferences.double(forKey: "three"), 3)
    expect("number in text", preferences.integer(forKey: "text"), 7)

    @MutablePreferenceWithDefault(preferences: preferences, key: "half", default: 1)
    var half: Double
    half *= 3
    expect("wrapper", preferences.double(forKey: "half"), 1.5)
    expect("cast", Preference<Double>(preferences: preferences, key: "three").value, 3)

    preferences.set(objectToArchive: "object", forKey: "archive")
    expect("archive", preferences.hasObject(forKey: "archive"), false)

    try preferences.set(encodable: Point(x: 1, y: 2), forKey: "point")
    expect("value", try preferences.decodable(Point.self, forKey: "point"), Point(x: 1, y: 2))
    let objects = try CodableForm.encodeObjects(Point(x: 1, y: 2), forKey: "point")
    expect("objects", (objects as? PreferencesDictionary)?["x"].map { "\(type(of: $0))" }, "Int")
  }

  private final class Store: MutablePreferencesType {
    private var values: PreferencesDictionary

    init(_ values: PreferencesDictionary) { self.values = values }

    func object(forKey key: PreferenceKey) -> PreferenceObject? { values[key] }

    func dictionary() -> PreferencesDictionary { values }

    func set(_ value: PreferenceObject?, forKey key: PreferenceKey) { values[key] = value }

    func removeObject(forKey key: PreferenceKey) { values[key] = nil }
  }

  private struct Point: Codable, Equatable {
    let x: Int
    let y: Double
  }

  private static func expect<Value: Equatable>(_ name: String, _ value: Value, _ expected: Value) {
    guard value != expected else { return }
    print("\(name): \(value) instead of \(expected)")
    exit(1)
  }
}
