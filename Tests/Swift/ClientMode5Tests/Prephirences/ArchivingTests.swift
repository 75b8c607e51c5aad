import Foundation
import Prephirences
import Testing

@Suite("Archiving")
struct ArchivingTests {
  private let temporary: TemporaryDefaults
  private let userDefaults: UserDefaults

  init() throws {
    temporary = try TemporaryDefaults()
    userDefaults = temporary.defaults
  }

  @Test func methods() {
    userDefaults.set(objectToArchive: UIColor.blueColor(), forKey: "colorKey")

    var found: UIColor?
    if let color = userDefaults.unarchiveObject(forKey: "colorKey") as? UIColor { found = color }
    #expect(found == .blue)
    #expect(userDefaults["colorKey"] is Data)
  }

  @Test func subscripts() {
    userDefaults["colorKey", .Archive] = UIColor.blueColor()

    var found: UIColor?
    if let color = userDefaults["colorKey", .Archive] as? UIColor { found = color }
    #expect(found == .blue)
    #expect(userDefaults["colorKey"] is Data)
  }

  @Test func onePreference() {
    var found: UIColor?

    var colorPref: MutablePreference<UIColor> = userDefaults <| "colorKey"
    colorPref.transformation = TransformationKey.Archive
    colorPref.value = UIColor.redColor()
    if let color = colorPref.value as? UIColor { found = color }

    #expect(found == .red)
    #expect(userDefaults.unarchiveObject(forKey: "colorKey") as? UIColor == .red)
  }

  @Test func valueTransformer() {
    struct Shape: Codable, Equatable { var name: String, sides: [Int] }
    let myValueTransformerToJson = JSONValueTransformer<Shape>()
    let myComplexObject = Shape(name: "square", sides: [1, 1, 1, 1])
    var found: Shape?

    userDefaults["colorKey", myValueTransformerToJson] = myComplexObject
    if let object = userDefaults["colorKey", myValueTransformerToJson] { found = object as? Shape }

    #expect(found == myComplexObject)
    #expect(userDefaults.data(forKey: "colorKey")?.first == UInt8(ascii: "{"))
  }

  @Test func rawRepresentable() {
    enum PrefEnum: String {
      case One, Two, Three
    }
    let preferences = userDefaults

    var pref: MutablePreference<PrefEnum> = preferences <| "enumKey"
    pref.transformation = PrefEnum.preferenceTransformation
    pref.value = PrefEnum.Two

    #expect(userDefaults["enumKey"] as? String == "Two")
    #expect(pref.value == .Two)
  }
}
