// swift-format-ignore-file
import Foundation
import Palau
import Prephirences
import Testing

/// Your defaults are defined as extension of PalauDefaults
extension PalauDefaults {
  /// a NSUserDefaults Entry of Type String with the key "backingName"
  public static var name: PalauDefaultsEntry<String> {
    get { return value("backingName") }
    set { }
  }
}

extension PalauDefaults {
  public static var color: PalauDefaultsEntry<UIColor> {
    /// whenNil provides a value that will be returned
    /// when the related NSUserDefaults value is nil
    /// (e.g. the 1st time, or after clear)
    get { return value("color").whenNil(use: UIColor.redColor())  }
    set { }
  }
}

/// Custom Validator Closure
private let lessThan10: (Int?) -> Bool = {
  return $0.map { $0 < 10 } ?? false
}

extension PalauDefaults {
  /// the PalauDefaultsEntry with the key "intValueMin10" has 2 rules
  /// - 1. when the value is nil - we will get or set 10
  /// - 2. when the value is less than 10 (see lessThan10 closure) - we will also get or set 10
  /// - Add as many chainable rules as you like
  public static var intValueMin10: PalauDefaultsEntry<Int> {
    get { return value("intValue")
      .whenNil(use: 10)
      .ensure(when: lessThan10, use: 10) }
    set { }
  }
}

private var printed: [String] = []

private func print(_ items: Any...) { printed.append("\(items)") }

extension PalauDefaults {
  public static var strings: PalauDefaultsEntry<[String]> {
    get { return value("strings").didSet({ print("changed to:", $0, "from:", $1) }) }
    set { }
  }
}

private typealias Defaults = PalauDefaults
private typealias Defaultable = PalauDefaultable
/// for Swift 3 even:
private typealias DefaultsEntry<T: PalauDefaultable> = PalauDefaultsEntry<T> where T.ValueType == T

@Suite("Usage")
struct PalauUsageTests {
  private let memory = SampleDefaults.memory

  @Test func setGetAndDelete() {
    PalauDefaults.name.value = "I am a great String value!"
    #expect(memory["backingName"] as? String == "I am a great String value!")
    /// name is an Optional<String>
    let name = PalauDefaults.name.value
    #expect(name == "I am a great String value!")
    PalauDefaults.name.value = nil
    #expect(memory["backingName"] == nil)
    PalauDefaults.name.value = "again"
    /// skip custom rules and delete
    PalauDefaults.name.clear()
    #expect(memory["backingName"] == nil)
  }

  @Test func providingADefaultValue() {
    /// is UIColor.redColor()
    let color: UIColor? = PalauDefaults.color.value
    #expect(color == UIColor.redColor())
    PalauDefaults.color.value = UIColor.blueColor()
    #expect(PalauDefaults.color.value == UIColor.blueColor())
    PalauDefaults.color.value = nil
    #expect(PalauDefaults.color.value == UIColor.redColor())
  }

  @Test func providingAValidator() {
    #expect(PalauDefaults.intValueMin10.value == 10)
    /// try setting the property to 8
    PalauDefaults.intValueMin10.value = 8
    /// property ensured to be >= 10
    assert(PalauDefaults.intValueMin10.value == 10)
    #expect(memory["intValue"] as? Int == 10)
    /// try setting the property to 11
    PalauDefaults.intValueMin10.value = 11
    /// property changed to 11
    assert(PalauDefaults.intValueMin10.value == 11)
  }

  @Test func didSetCallback() {
    PalauDefaults.strings.value = ["a"]
    PalauDefaults.strings.value = ["a", "b"]
    #expect(printed.count == 2)
    #expect(printed.last?.contains(#"["a", "b"]"#) == true)
  }

  @Test func otherNames() {
    let entry: DefaultsEntry<String> = Defaults.name
    #expect(entry.key == "backingName")
    #expect(String.self is any Defaultable.Type)
  }
}
