import Foundation
import Prephirences
import SwiftyUserDefaults
import Testing

@Suite struct ReadingTests {
  @Test func missingValuesReadAsDefaults() {
    let defaults = makeAdapter()
    #expect(defaults.count == 0)
    #expect(defaults[\.volume] == 0.5)
    #expect(defaults[key: DefaultsKey<Bool>("isOn", defaultValue: true)])
    #expect(defaults.name == nil)
    #expect(defaults.defaults.dictionaryRepresentation()["count"] == nil)
    #expect(defaults[key: DefaultsKey<String?>("a", defaultValue: "b")] == "b")
  }

  @Test func valuesChangeInPlace() {
    let defaults = makeAdapter()
    defaults.count += 1
    defaults[\.count] += 1
    defaults.defaults[DefaultsKeys().count] += 1
    defaults.list.append("a")
    defaults.list[0] += "b"
    #expect(defaults.count == 3)
    #expect(defaults.list == ["ab"])
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func nilRemovesTheKey() {
    let defaults = makeAdapter()
    #expect(!defaults.hasKey(\.name))
    defaults.name = "joe"
    #expect(defaults.hasKey(\.name))
    #expect(defaults.hasKey(DefaultsKeys().name))
    defaults.name = nil
    #expect(!defaults.hasKey(\.name))
  }

  @Test func removing() {
    let defaults = makeAdapter()
    defaults.count = 3
    defaults.name = "joe"
    defaults.remove(\.count)
    #expect(defaults.count == 0)
    defaults.removeAll()
    #expect(defaults.name == nil)
    #expect(defaults.defaults.preferenceObject(forKey: "name") == nil)
  }

  @Test func codableValues() {
    let defaults = makeAdapter()
    defaults.point = Point(x: 1, y: 2.5)
    defaults.point?.x = 2
    defaults.points = [Point(x: 1, y: 1)]
    #expect(defaults.point == Point(x: 2, y: 2.5))
    #expect(defaults.points == [Point(x: 1, y: 1)])
    #expect(defaults.defaults.preferenceObject(forKey: "point") is Data)
  }

  @Test func rawRepresentableValues() {
    let defaults = makeAdapter()
    defaults.side = .right
    defaults.sides = [.right, .left]
    defaults.level = .high
    defaults.levels = [.low, .high]
    #expect(defaults.side == .right)
    #expect(defaults.sides == [.right, .left])
    #expect(defaults.level == .high)
    #expect(defaults.levels == [.low, .high])
    #expect(defaults.defaults.preferenceObject(forKey: "side") as? String == "right")
    #expect(defaults.defaults.preferenceObject(forKey: "levels") as? [Int] == [0, 1])
  }

  @Test func rawAndCodableReadsJSON() throws {
    let defaults = makeAdapter()
    defaults.defaults.setPreference(try JSONEncoder().encode(Level.high), forKey: "level")
    defaults.defaults.setPreference(try JSONEncoder().encode([Level.high]), forKey: "levels")
    #expect(defaults.level == .high)
    #expect(defaults.levels == [.high])
  }

  @Test func archivedObjects() {
    let defaults = makeAdapter()
    defaults.badge = Badge(name: "a")
    defaults.badges = [Badge(name: "a"), Badge(name: "b")]
    #expect(defaults.badge == Badge(name: "a"))
    #expect(defaults.badges == [Badge(name: "a"), Badge(name: "b")])
  }

  @Test func arraysOfURLsOfTheOriginalAreRead() throws {
    let defaults = makeAdapter()
    let url = try #require(URL(string: "https://swift.org/a?b"))
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: NSArray(array: [url as NSURL, url as NSURL]), requiringSecureCoding: false)
    defaults.defaults.setPreference(archive, forKey: "urls")
    let urls = DefaultsKey<[URL]>("urls", defaultValue: [])
    #expect(defaults[key: urls] == [url, url])
    #expect(defaults[key: DefaultsKey<[URL]?>("urls")] == [url, url])
    defaults[key: urls].append(url)
    #expect(defaults[key: urls] == [url, url, url] && defaults.lastPreferencesError == nil)
  }

  @Test func arraysOfOtherRawValuesAreUnreadable() {
    let defaults = makeAdapter()
    let sides = DefaultsKey<[Side]>("sides", defaultValue: [.right])
    for other in [[1, 2], [Data()], ["left", 1]] as [[Any]] {
      defaults.defaults.setPreference(other as Any?, forKey: "sides")
      #expect(defaults[key: sides] == [.right])
      #expect(defaults.lastPreferencesError?.code == .typeMismatch)
    }
    defaults.defaults.setPreference(["left", "removed"] as Any?, forKey: "sides")
    #expect(defaults[key: sides] == [.left] && defaults.lastPreferencesError == nil)
  }

  @Test(arguments: [true, 1, 1.5, "1.5", "true"] as [any Sendable])
  func datesAreNotReadFromOtherTypes(object: any Sendable) {
    let defaults = makeAdapter()
    defaults.defaults.setPreference(object as Any?, forKey: "date")
    #expect(defaults[key: DefaultsKey<Date?>("date")] == nil)
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
    defaults.defaults.setPreference([object] as Any?, forKey: "dates")
    #expect(defaults[key: DefaultsKey<[Date]?>("dates")] == nil)
  }
}
