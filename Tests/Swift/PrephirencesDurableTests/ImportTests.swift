import Foundation
import Prephirences
import PrephirencesDurable
import Testing

@Suite struct ImportTests {
  private func propertyList(_ values: [String: Any]) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
  }

  @Test func userDefaultsAreReadAndImportedOnce() throws {
    let folder = try TestFolder()
    try folder.write(propertyList(["a": 1, "b": ["x"]]), to: "suite.plist")
    let store = folder.store()
    #expect(store["a"] as? Int == 1)
    #expect(folder.names == ["suite.plist"])
    store["a"] = 2
    #expect(store["b"] as? [String] == ["x"])
    #expect(store["a"] as? Int == 2)
    try folder.write(propertyList(["a": 3, "c": 3]), to: "suite.plist")
    try store.open()
    #expect(folder.otherStore()["a"] as? Int == 2)
    #expect(folder.otherStore()["c"] == nil)
    #expect(folder.names.contains("suite.plist"))
  }

  @Test func damagedUserDefaultsAreReportedAndTriedAgain() throws {
    let folder = try TestFolder()
    try folder.write(Data("nonsense".utf8), to: "suite.plist")
    let store = folder.store()
    #expect(throws: PreferencesError.self) { try store.fetchObject(forKey: "a") }
    try store.storeObject(1, forKey: "own")
    #expect(throws: PreferencesError.self) { try store.open() }
    try folder.write(propertyList(["a": 1, "own": 2]), to: "suite.plist")
    try store.open()
    #expect(store["a"] as? Int == 1)
    #expect(store["own"] as? Int == 1)
  }

  @Test func removedKeysAreNotImportedAgain() throws {
    let folder = try TestFolder()
    try folder.write(propertyList(["a": 1]), to: "suite.plist")
    folder.store().removeObject(forKey: "a")
    #expect(folder.store()["a"] == nil)
    #expect(folder.otherStore()["a"] == nil)
  }
}
