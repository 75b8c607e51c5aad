// swift-format-ignore-file
import Foundation
import Palau
import Prephirences
import Testing

/// Extension for RawRepresentable types aka enums
extension PalauDefaultable where ValueType: RawRepresentable {

  public static func get(key: String, from defaults: NSUD) -> ValueType? {
    guard let val = defaults.objectForKey(key) as? ValueType.RawValue else { return nil }
    return ValueType(rawValue: val)
  }

  public static func set(value: ValueType?, forKey key: String, in defaults: NSUD) -> Void {
    guard let value = value?.rawValue as? AnyObject else { return defaults.removeObjectForKey(key) }
    defaults.setObject(value, forKey: key)
  }
}

/// Make UIColor PalauDefaultable
extension UIColor: PalauDefaultable {
  public typealias ValueType = UIColor
}

// example Struct called Structy for demonstrating we can save a Struct with Palau
public struct Structy {
  let tuple: (String, String)
}

// our Structy PalauDefaultable extension allowing the mapping between PalauDefaults and the Type
// here we just map the two values to two keys named "1" and "2"
extension Structy: PalauDefaultable {
  public static func get(key: String, from defaults: NSUD) -> Structy? {
    guard let d = defaults.objectForKey(key) as? [String: AnyObject] ,
      let t1 = d["1"] as? String,
      let t2 = d["2"] as? String else { return nil }
    return Structy(tuple: (t1, t2))
  }

  public static func set(value: Structy?, forKey key: String, in defaults: NSUD) -> Void {
    guard let value = value else { return defaults.setObject(nil, forKey: key) }
    defaults.setObject(["1": value.tuple.0, "2": value.tuple.1], forKey: key)
  }
}

// now create a property on PalauDefaults
extension PalauDefaults {
  public static var structWithTuple: PalauDefaultsEntry<Structy> {
    get { return value("structy") }
    set { }
  }

  static var structs: PalauDefaultsArrayEntry<Structy> { value("structs") }
  static var suit: PalauDefaultsEntry<Suit> { value("suit") }
  static var newSuit: PalauDefaultsEntry<NewSuit> { value("newSuit") }
}

enum Suit: String, PalauDefaultable { case clubs, hearts }

/// Reads and writes itself with the labels of Swift 3 and later.
struct NewSuit: PalauDefaultable {
  var name: String

  static func get(_ key: String, from defaults: NSUD) -> NewSuit? {
    defaults.string(forKey: key).map(NewSuit.init)
  }

  static func set(_ value: NewSuit?, forKey key: String, in defaults: NSUD) {
    defaults.set(value?.name, forKey: key)
  }
}

@Suite("Custom types")
struct CustomTypesTests {
  private let memory = SampleDefaults.memory

  @Test func rawRepresentable() {
    PalauDefaults.suit.value = .hearts
    #expect(memory["suit"] as? String == "hearts")
    #expect(PalauDefaults.suit.value == .hearts)
    PalauDefaults.suit.value = nil
    #expect(memory["suit"] == nil)
  }

  @Test func structWithOldLabels() {
    PalauDefaults.structWithTuple.value = Structy(tuple: ("a", "b"))
    #expect(memory.dictionary(forKey: "structy") as? [String: String] == ["1": "a", "2": "b"])
    #expect(PalauDefaults.structWithTuple.value?.tuple.1 == "b")
    PalauDefaults.structWithTuple.value = nil
    #expect(memory["structy"] == nil)
  }

  @Test func arrayOfStructsWithOldLabels() {
    PalauDefaults.structs.value = [Structy(tuple: ("a", "b")), Structy(tuple: ("c", "d"))]
    #expect(PalauDefaults.structs.value?.map(\.tuple.0) == ["a", "c"])
    #expect(memory.array(forKey: "structs")?.count == 2)
  }

  @Test func structWithNewLabels() {
    PalauDefaults.newSuit.value = NewSuit(name: "a")
    #expect(memory["newSuit"] as? String == "a")
    #expect(PalauDefaults.newSuit.value?.name == "a")
    PalauDefaults.newSuit.value = nil
    #expect(memory["newSuit"] == nil)
  }
}
