import Foundation
import Prephirences
import Testing

@Suite("Creating")
struct CreatingTests {
  @Test func fromDictionary() {
    let myDictionary: [String: Any] = ["myKey": 1]

    // From Dictionary
    var fromDico = DictionaryPreferences(myDictionary)
    // or literal
    var fromDicoLiteral: DictionaryPreferences = ["myKey": "myValue", "bool": true]

    #expect(fromDico.dictionary() as? [String: Int] == ["myKey": 1])
    #expect(fromDicoLiteral["myKey"] as? String == "myValue")
    #expect(fromDicoLiteral["bool"] as? Bool == true)
    #expect(fromDicoLiteral.dictionary().count == 2)
  }

  @Test func fromFile() throws {
    // From filepath
    if let fromFile = DictionaryPreferences(filePath: "/my/file/path") {
      Issue.record("there is no such file, and it has \(fromFile.dictionary())")
    }
    // ...in main bundle ##
    if let fromFile = DictionaryPreferences(filename: "prefs", ofType: "plist") {
      Issue.record("there is no such file, and it has \(fromFile.dictionary())")
    }

    let folder = try TemporaryFolder()
    let written = try PropertyListEncoder().encode(["myKey": "myValue"])
    try written.write(to: URL(fileURLWithPath: folder.path("prefs.plist")))
    let fromFile = try #require(DictionaryPreferences(filePath: folder.path("prefs.plist")))
    #expect(fromFile.dictionary() as? [String: String] == ["myKey": "myValue"])
    let bundle = try #require(Bundle(path: folder.url.path))
    let fromBundle = try #require(
      DictionaryPreferences(filename: "prefs", ofType: "plist", bundle: bundle))
    #expect(fromBundle["myKey"] as? String == "myValue")
  }
}
