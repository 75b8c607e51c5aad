import Foundation
import Testing

@testable import PreferenceCommands

@Suite("Values")
struct StoredValueTests {
  @Test("A value keeps its type", arguments: difficultValues.keys.sorted())
  func typesStay(key: String) throws {
    let value = try #require(difficultValues[key].flatMap(StoredValue.init))
    #expect(StoredValue(value.object)?.fingerprint == value.fingerprint)
  }

  @Test("Number objects keep their type")
  func numberObjects() {
    let numbers: [(NSNumber, ValueKind)] = [
      (NSNumber(value: true), .bool), (NSNumber(value: 1), .int),
      (NSNumber(value: UInt64.max), .int),
      (NSNumber(value: Float(1)), .float), (NSNumber(value: 1.0), .double),
      (NSNumber(value: Int8(1)), .int),
    ]
    for (number, kind) in numbers { #expect(StoredValue(number)?.kind == kind) }
  }

  @Test("Other types are no values")
  func otherTypes() {
    #expect(StoredValue(NSObject()) == nil)
    #expect(StoredValue([1, NSObject()]) == nil)
    #expect(StoredValue(["a": NSObject()]) == nil)
    #expect(StoredValue(Int?.none as Any) == nil)
  }

  @Test("Only exact numbers are converted")
  func exactConversion() throws {
    #expect(StoredValue.integer(3).converted(to: .double)?.fingerprint.hasPrefix("double") == true)
    #expect(StoredValue.integer(Int64.max).converted(to: .double) == nil)
    #expect(StoredValue.double(2).converted(to: .int)?.text == "2")
    #expect(StoredValue.double(2.5).converted(to: .int) == nil)
    #expect(StoredValue.double(0.1).converted(to: .float) == nil)
    #expect(StoredValue.unsigned(UInt64.max).converted(to: .int)?.text == "18446744073709551615")
    #expect(StoredValue.string("1").converted(to: .int) == nil)
    #expect(StoredValue.bool(true).converted(to: .int) == nil)
  }
}
