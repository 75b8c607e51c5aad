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
}
