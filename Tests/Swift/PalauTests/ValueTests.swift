internal import Foundation
internal import Palau
internal import Prephirences
internal import Testing

@Suite("Types of values")
struct ValueTests {
  private let defaults = memoryDefaults()

  private func roundTrip<T: PalauDefaultable & Equatable>(
    _ value: T, _ location: SourceLocation = #_sourceLocation
  ) where T.ValueType == T {
    let one: PalauDefaultsEntry<T> = entry("one", defaults)
    one.value = value
    #expect(one.value == value, sourceLocation: location)
    let several: PalauDefaultsArrayEntry<T> = entries("several", defaults)
    several.value = [value, value]
    #expect(several.value == [value, value], sourceLocation: location)
    several.value = []
    #expect(several.value == [], sourceLocation: location)
    #expect(defaults.lastPreferencesError == nil, sourceLocation: location)
  }

  @Test func typesOfSwift() {
    roundTrip(true)
    roundTrip(Int.max)
    roundTrip(UInt.max)
    roundTrip(Int8.min)
    roundTrip(Int64.min)
    roundTrip(UInt64.max)
    roundTrip(Float(0.1))
    roundTrip(Float.infinity)
    roundTrip(0.1)
    roundTrip(CGFloat(1.5))
    roundTrip("text\u{0}")
    roundTrip(["a", "b"])
    roundTrip([[1], [2, 3]])
    roundTrip(["a": 1])
  }

  @Test func typesOfFoundation() throws {
    roundTrip(Date(timeIntervalSinceReferenceDate: 1.25))
    roundTrip(Data([0, 255]))
    roundTrip(Decimal(string: "0.1") ?? 0)
    roundTrip(UUID())
    let base = try #require(URL(string: "https://swift.org/a/"))
    let relative = try #require(URL(string: "b?c", relativeTo: base))
    roundTrip(relative)
    roundTrip(NSNumber(value: 1.5))
    roundTrip(NSString("text"))
    roundTrip(NSArray(array: ["a", 1]))
    roundTrip(NSDictionary(dictionary: ["a": 1]))
    roundTrip(NSDate(timeIntervalSinceReferenceDate: 1.25))
    roundTrip(NSData(data: Data([1, 2])))
  }

  @Test func ownTypes() {
    roundTrip(Theme.dark)
    roundTrip(Level.high)
    roundTrip(Window(width: 3, title: "a"))
    roundTrip([Window(width: 3, title: "a")])
    roundTrip(Colour(red: 1, green: 2))
    roundTrip(Look(theme: .dark))
    roundTrip(Pair(first: "a", second: "b"))
    roundTrip(Shape(sides: 3))
  }

  @Test func foundationObjectsAreStoredAsPlainValues() {
    let text: PalauDefaultsEntry<NSString> = entry("text", defaults)
    text.value = "a"
    #expect(defaults.string(forKey: "text") == "a")
    let number: PalauDefaultsEntry<NSNumber> = entry("number", defaults)
    number.value = 3
    #expect(defaults.integer(forKey: "number") == 3)
  }

  @Test func archivesOfApplesSystemsAreRead() throws {
    for (key, object) in [
      ("text", NSString("a")), ("number", NSNumber(value: 3)), ("list", NSArray(array: ["a"])),
    ] as [(String, NSObject)] {
      let archive = try NSKeyedArchiver.archivedData(
        withRootObject: object, requiringSecureCoding: false)
      defaults.set(archive, forKey: key)
      defaults.set([archive, archive] as Any?, forKey: key + "s")
    }
    #expect((entry("text", defaults) as PalauDefaultsEntry<NSString>).value == "a")
    #expect((entry("number", defaults) as PalauDefaultsEntry<NSNumber>).value == 3)
    #expect((entry("list", defaults) as PalauDefaultsEntry<NSArray>).value == ["a"])
    #expect((entries("numbers", defaults) as PalauDefaultsArrayEntry<NSNumber>).value == [3, 3])
  }

  @Test func garbageReadsAsNil() {
    defaults.set(Data("garbage".utf8), forKey: "a")
    #expect((entry("a", defaults) as PalauDefaultsEntry<Shape>).value == nil)
    #expect((entry("a", defaults) as PalauDefaultsEntry<NSString>).value == nil)
    #expect((entry("a", defaults) as PalauDefaultsEntry<Window>).value == nil)
    #expect((entries("a", defaults) as PalauDefaultsArrayEntry<Shape>).value == nil)
    defaults.set(["other"], forKey: "b")
    defaults.set([1, 2], forKey: "c")
    #expect((entries("c", defaults) as PalauDefaultsArrayEntry<Theme>).value == nil)
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
    #expect((entries("b", defaults) as PalauDefaultsArrayEntry<Pair>).value == nil)
    #expect((entry("b", defaults) as PalauDefaultsEntry<Colour>).value == nil)
  }

  @Test func casesThatWereRemovedStay() {
    defaults.set(["dark", "sepia"], forKey: "themes")
    let themes: PalauDefaultsArrayEntry<Theme> = entries("themes", defaults)
    #expect(themes.value == [.dark] && defaults.lastPreferencesError == nil)
    themes.value?.append(.light)
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
    let ensured: PalauDefaultsArrayEntryEnsured<Theme> =
      PalauDefaults.value("themes", whenNil: [], in: defaults)
    ensured.value.append(.light)
    #expect(defaults.stringArray(forKey: "themes") == ["dark", "sepia"])
    themes.value = [.light]
    #expect(defaults.stringArray(forKey: "themes") == ["light"])
    themes.value?.append(.dark)
    #expect(defaults.stringArray(forKey: "themes") == ["light", "dark"])
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func valuesOfOtherTypesStay() {
    defaults.set("text", forKey: "themes")
    let themes: PalauDefaultsArrayEntry<Theme> = entries("themes", defaults)
    themes.value?.append(.light)
    #expect(defaults.string(forKey: "themes") == "text")
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
  }

  @Test func objectsThatCannotBeArchivedAreReported() {
    let list: PalauDefaultsEntry<NSArray> = entry("list", defaults)
    list.value = [NSNull()]
    #expect(list.value == [NSNull()] && defaults.lastPreferencesError == nil)
    // Foundation's archiver stops the process on a decimal number, and no store has a null.
    list.value = [NSNull(), NSDecimalNumber(string: "0.1")]
    #expect(defaults.lastPreferencesError?.code == .unstorable && list.value == [NSNull()])
  }

  @Test func storedFormsAreThoseOfPropertyLists() {
    (entry("theme", defaults) as PalauDefaultsEntry<Theme>).value = .dark
    #expect(defaults.string(forKey: "theme") == "dark")
    (entry("level", defaults) as PalauDefaultsEntry<Level>).value = .high
    #expect(defaults.integer(forKey: "level") == 2)
    (entries("themes", defaults) as PalauDefaultsArrayEntry<Theme>).value = [.dark]
    #expect(defaults.stringArray(forKey: "themes") == ["dark"])
    (entry("colour", defaults) as PalauDefaultsEntry<Colour>).value = Colour(red: 1, green: 2)
    #expect(defaults.array(forKey: "colour") as? [Int] == [1, 2])
    (entry("window", defaults) as PalauDefaultsEntry<Window>).value = Window(width: 1, title: "")
    #expect(defaults.data(forKey: "window") != nil)
  }
}
