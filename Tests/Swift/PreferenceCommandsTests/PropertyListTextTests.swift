import Foundation
import Prephirences
import Testing

@testable import PreferenceCommands

@Suite("Property lists of values")
struct PropertyListTextTests {
  /// What a property list keeps of a value.
  ///
  /// It has one type for numbers with fractions, and no base of a URL.
  private func kept(_ value: StoredValue) -> StoredValue {
    switch value {
    case .url(let url): .url(url.absoluteURL)
    case .float(let number): .double(Double(number))
    case .array(let values): .array(values.map(kept))
    case .dictionary(let values): .dictionary(values.mapValues(kept))
    default: value
    }
  }

  @Test("Property lists read back", arguments: difficultValues.keys.sorted())
  func readsBack(key: String) throws {
    let value = try #require(difficultValues[key].flatMap(StoredValue.init))
    // XML lacks zero, which one of the keys has.
    let key = key.replacing("\0", with: "")
    let data = try PropertyListText.data(of: [key: value])
    let read = try PropertyListText.values(of: data)
    #expect(read.mapValues(\.fingerprint) == [key: kept(value).fingerprint])
  }

  @Test("Binary property lists are read")
  func binary() throws {
    let data = try PropertyListSerialization.data(
      fromPropertyList: ["a": 1, "b": Data([1])], format: .binary, options: 0)
    let values = try PropertyListText.values(of: data)
    #expect(values.mapValues(\.text) == ["a": "1", "b": "01"])
  }

  @Test("Other files are refused", arguments: ["", "{", "<plist><array/></plist>", "bplist00"])
  func otherFiles(text: String) {
    let error = #expect(throws: PreferencesError.self) {
      try PropertyListText.values(of: Data(text.utf8))
    }
    #expect(error?.code == .damaged)
  }

  @Test("A single value has a property list")
  func singleValue() throws {
    let data = try PropertyListText.data(of: .array([.integer(1)]), forKey: "key")
    #expect(try PropertyListText.value(of: data).text == "[\n  1\n]")
  }
}
