internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Values as the types of preferences")
struct PreferenceCastTests {
  private func read<T>(_ value: Any, as type: T.Type = T.self) -> T? {
    let preference: Preference<T> = MinimalPreferences(["k": value]) <| "k"
    return preference.value
  }

  @Test func integersConvertIfTheyFit() {
    #expect(read(1, as: Double.self) == 1 && read(1, as: Float.self) == 1)
    #expect(read(1, as: CGFloat.self) == 1 && read(1, as: Decimal.self) == 1)
    #expect(read(200, as: UInt8.self) == 200 && read(300, as: UInt8.self) == nil)
    #expect(read(-1, as: UInt.self) == nil && read(UInt64.max, as: Int.self) == nil)
    #expect(read(Int64.max, as: Int.self) == .max && read(UInt64.max, as: UInt.self) == .max)
    #expect(read(Int.max, as: Double.self) == nil)
  }

  @Test func fractionsConvertIfNothingButDigitsIsLost() {
    #expect(read(3.0, as: Int.self) == 3 && read(3.7, as: Int.self) == nil)
    #expect(read(0.1, as: Float.self) == 0.1 && read(Float(0.5), as: Double.self) == 0.5)
    #expect(read(1e300, as: Float.self) == nil && read(1e300, as: Int.self) == nil)
    #expect(read(Double.infinity, as: Float.self) == .infinity)
    #expect(
      read(Double.nan, as: Float.self)?.isNaN == true && read(Double.nan, as: Int.self) == nil)
    #expect(read(CGFloat(2.5), as: Double.self) == 2.5)
    #expect(read(Double.nan, as: Decimal.self) == nil)
    #expect(read(Decimal(string: "2.75") as Any, as: Double.self) == 2.75)
  }

  @Test func truthValuesAreZeroAndOne() {
    #expect(read(true, as: Int.self) == 1 && read(false, as: Double.self) == 0)
    #expect(read(1, as: Bool.self) == true && read(0.0, as: Bool.self) == false)
    #expect(read(2, as: Bool.self) == nil && read(0.5, as: Bool.self) == nil)
  }

  @Test func numberObjectsConvertAsNumbersDo() {
    #expect(read(NSNumber(value: 3), as: Double.self) == 3)
    #expect(read(NSNumber(value: 3.5), as: Float.self) == 3.5)
    #expect(read(NSNumber(value: true), as: Int.self) == 1)
    #expect(read(NSNumber(value: 0.1), as: Float.self) == 0.1)
    #expect(read(NSNumber(value: UInt64.max), as: UInt64.self) == .max)
    #expect(read(NSNumber(value: 2), as: Decimal.self) == 2)
    #expect(read(NSDecimalNumber(string: "2.5"), as: Double.self) == 2.5)
  }

  @Test func textIsNumberOnlyAsAWhole() {
    #expect(read("80", as: Int.self) == 80 && read("80x", as: Int.self) == nil)
    #expect(read("2.5", as: Double.self) == 2.5 && read("", as: Double.self) == nil)
    #expect(read("Yes", as: Bool.self) == true && read("0", as: Bool.self) == false)
    #expect(read("abc", as: Bool.self) == nil && read("1.25", as: Decimal.self) == 1.25)
    #expect(read("12abc", as: Decimal.self) == nil)
    #expect(read("https://swift.org", as: URL.self)?.host == "swift.org")
    #expect(read("/a b/c", as: URL.self)?.path == "/a b/c" && read(1, as: URL.self) == nil)
    #expect(read(1, as: String.self) == nil)
  }

  @Test func collectionsConvertElementByElement() {
    #expect(read([1, 2], as: [Double].self) == [1, 2] && read([1, 2.5], as: [Int].self) == nil)
    #expect(read(["a": 1], as: [String: Float].self) == ["a": 1])
    #expect(read([[1], []], as: [[Double]].self) == [[1], []])
    #expect(read(["a": "b"], as: [String: Int].self) == nil)
    #expect(read([1, 2], as: [Any].self)?.count == 2)
  }

  @Test func anyIsTheValueItself() {
    #expect(read(5, as: Any.self) as? Int == 5)
    let boxed: Any? = read(Optional<Int>.some(5) as Any, as: Any.self)
    #expect(boxed.map { "\($0)" } == "5")
    #expect(read(Optional<Int>.none as Any, as: Any.self) == nil)
    #expect(read(Optional<Int>.none as Any, as: Int.self) == nil)
  }
}
