import Foundation
import Prephirences
import Testing

@testable import PreferenceCommands

@Suite("Property lists of values")
struct PropertyListTextTests {
  /// What a property list keeps of a value.
  ///
  /// It has one type for numbers with fractions, and no base of a URL.
  private func kept(_ value: PreferenceValue) -> PreferenceValue {
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
    let value = try #require(difficultValues[key].flatMap { PreferenceValue($0) })
    // XML lacks zero, which one of the keys has.
    let key = key.replacing("\0", with: "")
    let data = try PropertyListText.data(of: [key: value], exact: true)
    let read = try PropertyListText.values(of: data)
    #expect(read == [key: kept(value)])
  }

  @Test("Fractions of dates are kept by keys of our own only if that is asked for")
  func fractions() throws {
    let dates = [0, 0.25].map { PreferenceValue.date(Date(timeIntervalSinceReferenceDate: $0)) }
    let values = [("a", dates[0]), ("b", dates[1]), ("c", .array(dates)), ("d", .double(0.25))]
      .map { (key: $0, value: $1) }
    for (format, exact, keys) in [
      (FileFormat.propertyList, false, ["b", "c"]), (.propertyList, true, []), (.json, false, []),
    ] {
      let data = try format.data(of: values, exact: exact)
      #expect(format.roundedKeys(values, exact: exact) == keys)
      #expect(String(decoding: data, as: UTF8.self).contains("Prephirences") == exact)
      let read = try format.values(of: data).values
      #expect(read.map(\.key) == ["a", "b", "c", "d"])
      #expect(read[1].value == (keys.isEmpty ? dates[1] : dates[0]))
    }
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
