internal import Foundation
internal import Prephirences
internal import Testing

@Suite("One preference")
struct PreferenceTests {
  private let store: MutableDictionaryPreferences = ["int": 4, "text": "a"]

  @Test func readsTheValueOfItsKey() {
    let int: Preference<Int> = store.preference(forKey: "int")
    let absent: Preference<Int> = store.preference(forKey: "absent")
    let other: Preference<[Int]> = store <| "text"
    #expect(int.value == 4 && int.wrappedValue == 4 && int.hasValue && !int.isEmpty)
    #expect(absent.value == nil && !absent.hasValue && absent.isEmpty)
    #expect(other.value == nil && other.hasValue && other.isEmpty)
    #expect(int.key == "int" && int.projectedValue === int)
  }

  @Test func writesTheValueOfItsKey() {
    let int: MutablePreference<Int> = store <| "int"
    int.value = 5
    #expect(store["int"] as? Int == 5)
    int.wrappedValue = 6
    #expect(store["int"] as? Int == 6)
    int.value = nil
    #expect(!store.hasObject(forKey: "int"))
    int.value = 7
    int.clear()
    #expect(!int.hasValue)
  }

  @Test func aValueThatIsAnOptionalNilRemoves() {
    let any: MutablePreference<Any> = store <| "int"
    any.value = Int?.none as Any
    #expect(!any.hasValue)
    let optional: MutablePreference<Int?> = store <| "text"
    optional.value = .some(nil)
    #expect(!optional.hasValue)
    optional.value = 3
    #expect(store["text"] as? Int == 3 && optional.value == .some(.some(3)))
  }

  @Test func appliesAFunctionToTheValue() {
    let text: MutablePreference<String> = store <| "text"
    text.apply { $0?.uppercased() }
    #expect(store["text"] as? String == "A")
    text.apply { _ in nil }
    #expect(!text.hasValue)
  }

  @Test func transformChangesTypeOfValue() {
    let int: MutablePreference<Int> = store <| "int"
    let text: MutablePreference<String> = int.transform { value in value.map { "\($0)!" } }
    #expect(text.value == "4!" && store["int"] as? String == "4!")
    #expect(text.key == "int")
  }

  @Test func didSetReportsNewAndOldValue() {
    var told: [[Int?]] = []
    let int: MutablePreference<Int> = store <| "int"
    let silent = int.didSet { _, _ in told.append([-1]) }
    let telling = silent.didSet { told.append([$0, $1]) }
    int.value = 1
    telling.value = 2
    telling.clear()
    telling.apply { ($0 ?? 10) + 1 }
    #expect(told == [[2, 1], [nil, 2], [11, nil]])
    telling.didSetFunction = nil
    telling.value = 3
    #expect(told.count == 3)
  }

  @Test func didSetReportsTheReadValue() throws {
    var told: [[Int?]] = []
    let int: MutablePreference<Int> = store <| "int"
    let bounded = int.didSet { told.append([$0, $1]) }.ensure(when: { ($0 ?? 0) > 100 }, use: 100)
    bounded.value = 500
    bounded.value = 50
    #expect(told == [[100, 4], [50, 100]])
  }

  @Test func didSetReportsOldValueIfRefused() {
    struct Ratio: Codable, Equatable { var value: Double }
    var told: [[Double?]] = []
    let ratio = MutablePreference<Ratio>(preferences: store, key: "ratio")
      .didSet { told.append([$0?.value, $1?.value]) }
    ratio.value = Ratio(value: 1)
    ratio.value = Ratio(value: .nan)
    #expect(told == [[1, nil], [1, 1]] && ratio.value == Ratio(value: 1))
  }

  @Test func didSetMaySetAgain() {
    let int: MutablePreference<Int> = store <| "int"
    int.didSetFunction = { [unowned int] new, _ in if new == 1 { int.value = 2 } }
    int.value = 1
    #expect(int.value == 2)
  }

  @Test func whenNilAndEnsureAffectOnlyReads() {
    func isGreat(_ value: Int?) -> Bool { (value ?? 0) > 100 }
    let int: MutablePreference<Int> = store <| "absent"
    let bounded = int.whenNil(use: 5).ensure(when: isGreat, use: 100)
    #expect(bounded.value == 5 && !bounded.hasValue && !store.hasObject(forKey: "absent"))
    bounded.value = 500
    #expect(bounded.value == 100 && store["absent"] as? Int == 500 && int.value == 500)
    bounded.value = 50
    #expect(bounded.value == 50)
  }

  @Test func whenNilKeepsTransformationAndCallback() {
    var told: [String?] = []
    let text: MutablePreference<String> = store <| "archived"
    text.transformation = TransformationKey.archive
    let ensured = text.didSet { new, old in told += [new, old] }.whenNil(use: "none")
    ensured.value = "x"
    #expect(store["archived"] is Data && ensured.value == "x")
    #expect(told == ["x", "none"])
  }

  @Test func ensuredTransformationIsReadableAlone() {
    let int: MutablePreference<Int> = store <| "int"
    let ensured = int.whenNil(use: 5).transformation
    #expect(ensured.reverseTransformedValue(nil) as? Int == 5)
    #expect(ensured.reverseTransformedValue(4) as? Int == 4)
    #expect(ensured.transformedValue(6) as? Int == 6)
  }

  @Test func theTransformationHasAName() {
    let int: MutablePreference<Int> = store <| "int"
    #expect(int.transformationKey == .none)
    int.transformationKey = .archive
    #expect(int.transformation as? TransformationKey == .archive)
    int.value = 9
    #expect(store["int"] is Data && int.value == 9)
  }

  @Test func aPreferenceMayBeUsedOnSeveralThreads() {
    let int: MutablePreference<Int> = store <| "int"
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for turn in 0..<500 {
        int.value = turn
        int.transformation = thread.isMultiple(of: 2) ? TransformationKey.none : int.transformation
        int.didSetFunction = { _, _ in }
        #expect(int.value != nil)
      }
    }
    #expect(int.value == 499)
  }
}
