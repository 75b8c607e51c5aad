internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Value transformers")
struct ValueTransformerTests {
  struct Theme: Codable, Equatable {
    var name = "dark"
    var sizes = [1, 2]
  }

  private final class Uppercasing: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? { (value as? String)?.uppercased() }
  }

  private final class Reversing: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? String).map { String($0.reversed()) }
    }
  }

  private let store: MutableDictionaryPreferences = ["text": "old"]

  @Test func aTransformerStoresAndReads() {
    store["k", Reversing()] = "abc"
    #expect(store["k"] as? String == "cba" && store["k", Reversing()] as? String == "abc")
    #expect(store["k", .valueTransformer(Reversing())] as? String == "abc")
    store["k", Reversing()] = nil
    #expect(!store.hasObject(forKey: "k"))
  }

  @Test func missingReverseOrResultChangesNothing() {
    store["text", Uppercasing()] = "new"
    store["text", Reversing()] = 5
    #expect(store["text"] as? String == "old")
    #expect(Uppercasing().reverseTransformedValue("A") == nil)
    #expect(ValueTransformer().transformedValue(1) == nil)
  }

  @Test func jsonOfCodableValues() {
    let toJSON = JSONValueTransformer<Theme>()
    store["theme", toJSON] = Theme()
    #expect(store["theme"] is Data && store["theme", toJSON] as? Theme == Theme())
    #expect(toJSON.transformedValue(5) == nil && toJSON.reverseTransformedValue(Data([1])) == nil)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let sorted = JSONValueTransformer<[String: Int]>(encoder: encoder)
    #expect(sorted.transformedValue(["b": 1, "a": 2]) as? Data == Data(#"{"a":2,"b":1}"#.utf8))
  }

  @Test func jsonOfWhatJSONHas() {
    let toJSON = JSONObjectTransformer()
    for value in ["text", 5, [1, "two"], ["a": [true]], NSNull()] as [Any] {
      let read = toJSON.reverseTransformedValue(toJSON.transformedValue(value))
      #expect(read.map { NSArray(array: [$0]) } == NSArray(array: [value]))
    }
    for value in [Double.nan, Date(), Theme(), [Theme()], [1: 2], Int?.none as Any] as [Any] {
      #expect(toJSON.transformedValue(value) == nil, "\(value)")
    }
    #expect(toJSON.reverseTransformedValue(Data("{".utf8)) == nil)
  }

  @Test func archivesOfObjects() {
    let archiving = ArchiveValueTransformer()
    store["k", archiving] = ["a": Date(timeIntervalSince1970: 1.5)]
    #expect(store["k"] is Data)
    #expect(
      store["k", archiving] as? [String: Date] == ["a": Date(timeIntervalSince1970: 1.5)])
    store["k", archiving] = Theme()
    #expect(store["k"] is Data && archiving.reverseTransformedValue(Data()) == nil)
  }

  @Test func transformersHaveNames() {
    let name = NSValueTransformerName("test-\(UUID())")
    #expect(ValueTransformer(forName: name) == nil)
    let reversing = Reversing()
    ValueTransformer.setValueTransformer(reversing, forName: name)
    #expect(ValueTransformer(forName: name) === reversing)
    #expect(Reversing(forName: name) === reversing && Uppercasing(forName: name) == nil)
    #expect(ValueTransformer.valueTransformerNames().contains(name))
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil)
  }

  @Test func foundationsTransformersAreThere() {
    let negate = ValueTransformer(forName: .negateBooleanTransformerName)
    #expect(negate?.transformedValue(true) as? Bool == false)
    #expect(negate?.reverseTransformedValue(false) as? Bool == true)
    let isNil = ValueTransformer(forName: .isNilTransformerName)
    #expect(isNil?.transformedValue(nil) as? Bool == true)
    #expect(isNil?.transformedValue(1) as? Bool == false)
    #expect(
      ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue(1) as? Bool == true)
    let unarchive = ValueTransformer(forName: .keyedUnarchiveFromDataTransformerName)
    let archive = unarchive?.reverseTransformedValue("text") as? Data
    #expect(archive != nil && unarchive?.transformedValue(archive) as? String == "text")
  }
}
