internal import Prephirences
internal import Testing

@Suite("Types with preferences of their own")
struct PrephirencableTests {
  /// The values of one test, because `parent` is static.
  @TaskLocal static var store: MutableDictionaryPreferences = [:]

  private enum Editor: Prephirencable {
    static var parent: any PreferencesType { PrephirencableTests.store }

    enum Font: Prephirencable {
      static var parent: any PreferencesType { Editor.instance }
    }

    enum ReadOnly: Prephirencable {
      static let key = "fixed/"
      static var parent: any PreferencesType { Editor.instance.immutableProxy() }
    }
  }

  @Test func theKeyIsTheNameOfTheType() {
    #expect(
      Editor.key == "editor." && Editor.Font.key == "font." && Editor.ReadOnly.key == "fixed/")
  }

  @Test func typesWithinTypesCanBeChanged() throws {
    let store: MutableDictionaryPreferences = [:]
    try Self.$store.withValue(store) {
      let font = try #require(Editor.Font.mutableInstance)
      font["size"] = 12
      #expect(store["editor.font.size"] as? Int == 12)
      #expect(Editor.Font.instance["size"] as? Int == 12)
      #expect(Editor.instance["font.size"] as? Int == 12)
      Editor.mutableInstance?["width"] = 80
      font.clearAll()
      #expect(store.dictionary() as? [String: Int] == ["editor.width": 80])
    }
  }

  @Test func immutableParentGivesNoMutableInstance() {
    Self.$store.withValue(["editor.fixed/a": 1]) {
      #expect(Editor.ReadOnly.mutableInstance == nil)
      #expect(Editor.ReadOnly.instance["a"] as? Int == 1)
    }
  }

  @Test func theParentIsTheSharedInstance() async {
    await #expect(processExitsWith: .success) {
      enum Window: Prephirencable {}
      let store: MutableDictionaryPreferences = [:]
      Prephirences.sharedInstance = store
      Window.mutableInstance?["width"] = 3
      try #require(store["window.width"] as? Int == 3)
    }
  }
}
