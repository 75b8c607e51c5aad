internal import Prephirences
internal import Testing

@Suite("Operators on one preference")
struct PreferenceOperatorTests {
  private let store: MutableDictionaryPreferences = [
    "int": 7, "double": 1.5, "text": "a", "array": [1], "bool": true,
  ]

  @Test func integersCalculate() {
    let int: MutablePreference<Int> = store <| "int"
    int += 30
    #expect(store["int"] as? Int == 37)
    int -= 30
    int *= 20
    int %= 9
    #expect(int.value == 5)
    int /= 2
    #expect(int.value == 2)
    int |= 5
    int &= 6
    int ^= 1
    #expect(int.value == 7)
  }

  @Test func incrementsAndDecrements() {
    var int: MutablePreference<Int> = store <| "int"
    #expect(int++ == 7 && ++int == 9 && int-- == 9 && --int == 7)
    int = store <| "absent"
    int++
    #expect(store["absent"] as? Int == 1)
    let double: MutablePreference<Double> = store <| "double"
    double--
    #expect(double.value == 0.5)
  }

  @Test func operatorsBeginWithTheEmptyValue() {
    let int: MutablePreference<Int> = store <| "x"
    int -= 30
    #expect(int.value == -30)
    let text: MutablePreference<String> = store <| "y"
    text += "a"
    text += "b"
    #expect(text.value == "ab")
    let array: MutablePreference<[Int]> = store <| "array"
    array += [2]
    #expect(array.value == [1, 2])
    let double: MutablePreference<Double> = store <| "double"
    double += 0.5
    double *= 3
    double /= 4
    #expect(double.value == 1.5)
  }

  @Test func onlyMissingValuesAreSet() {
    let int: MutablePreference<Int> = store <| "int"
    func fails() throws -> Int { throw CancellationError() }
    #expect(throws: Never.self) { try int ?= fails() }
    #expect(int.value == 7)
    int.clear()
    #expect(throws: CancellationError.self) { try int ?= fails() }
    int ?= 3
    #expect(int.value == 3)
  }

  @Test func resultsAreThoseOfTheValues() {
    let int: Preference<Int> = store <| "int"
    let none: Preference<Int> = store <| "absent"
    #expect(int + 1 == 8 && 10 - int == 3 && int * int == 49 && int / 2 == 3 && int % 4 == 3)
    #expect(int & 3 == 3 && int | 8 == 15 && int ^ 1 == 6)
    #expect(none + int == 7 && int - none == 7 && none * 3 == 3 && none + none == nil)
    let text: Preference<String> = store <| "text"
    #expect(text + "b" == "ab" && "b" + text == "ba" && text + text == "aa")
    let double: Preference<Double> = store <| "double"
    #expect(double / 3 == 0.5 && double + 1 == 2.5)
  }

  @Test func patternsMatchTheValue() {
    func word(_ preference: Preference<Int>) -> String {
      switch preference {
      case 1: "one"
      case 2...10: "some"
      case 11..<20: "more"
      case 20...: "many"
      default: "unknown"
      }
    }
    let int: MutablePreference<Int> = store <| "int"
    let words = [1, 7, 11, 20, -5, nil].map { value in
      int.value = value
      return word(int)
    }
    #expect(words == ["one", "some", "more", "many", "unknown", "unknown"])
    int.value = 4
    #expect(int ~= 4 && 4 ~= int && int ~= 1...5 && !(5...6 ~= int))
    var flipped = int
    flipped ~= 4
    #expect(int.value == ~4)
    flipped = int
  }

  @Test func valuesCompare() {
    let int: Preference<Int> = store <| "int"
    let none: Preference<Int> = store <| "absent"
    #expect(int == 7 && 7 == int && int == int && int != 8 && 8 != int && int != none)
    #expect(none == nil && int != nil && none == none)
    #expect(int < 8 && int > 6 && 6 < int && 8 > int && !(int < int))
    #expect(none < int && !(int < none) && none < 0 && !(none > 0) && !(none < nil))
    let object: Preference<any Error> = store <| "int"
    #expect(object == nil && !(object != nil))
  }

  @Test func truthValuesCombine() {
    var bool: MutablePreference<Bool> = store <| "bool"
    bool &= false
    #expect(store["bool"] as? Bool == false)
    bool |= true
    bool |= false
    #expect(bool.value == true)
    bool != true
    #expect(bool.value == false, "a statement sets")
    let differs: Bool = bool != true
    #expect(differs && bool.value == false, "where a truth value is expected, it compares")
    if bool != false { Issue.record("compares in a condition, too") }
    bool ||= true
    bool &&= true
    #expect(bool.value == true && (bool && true) && (bool || false) && !(bool && false))
    bool = store <| "absent"
    bool |= false
    #expect(store["absent"] as? Bool == false)
  }

  @Test func secondOperandIsReadOnlyIfNeeded() {
    func fail() -> Bool {
      Issue.record("not needed")
      return false
    }
    let bool: MutablePreference<Bool> = store <| "bool"
    #expect(bool || fail())
    bool ||= fail()
    var plain = false
    plain &&= fail()
    #expect(!plain)
    plain ||= true
    plain &&= true
    #expect(plain)
  }
}
