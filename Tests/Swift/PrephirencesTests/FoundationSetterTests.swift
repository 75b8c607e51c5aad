internal import Foundation
internal import Prephirences
internal import Testing

/// On Linux, this module replaces setters of `UserDefaults` that stop the program.
@Suite("Setters of Foundation")
struct FoundationSetterTests {
  private let defaults: UserDefaults

  init() throws {
    defaults = try #require(UserDefaults(suiteName: "setters-\(UUID().uuidString)"))
  }

  @Test func numbersOfGeometry() {
    defer { defaults.clearAll() }
    defaults.set(CGFloat(3.5), forKey: "a")
    defaults["b"] = CGFloat(4.5)
    #expect(defaults["a"] as? Double == 3.5 && defaults["b"] as? Double == 4.5)
    let preference: Preference<CGFloat> = defaults <| "a"
    #expect(preference.value == 3.5)
  }

  @Test func textOfArgumentsIsNotANumber() {
    let arguments: DictionaryPreferences = ["port": "abc"]
    let port: Preference<Int> = arguments <| "port"
    #expect(arguments.integer(forKey: "port") == 0 && port.value == nil)
  }
}
