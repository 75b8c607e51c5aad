// swift-format-ignore-file
import Foundation
import Palau

// Every public symbol of Palau, with its type. A change here breaks somebody's program.

private struct Point: PalauCustomDefaultable {
  typealias ValueType = Point
  typealias IntermediateType = [Int]
  static func toIntermediate(_ value: Point) -> [Int] { [] }
  static func fromIntermediate(_ intermediate: [Int]) -> Point? { nil }
}

private enum Side: Int, PalauDefaultable {
  typealias ValueType = Side
  case left
}

private struct OwnEntry: PalauEntry {
  typealias ValueType = Int
  typealias ReturnType = Int
  let key: String
  let defaults: NSUD
  let didSet: ((_ newValue: Int?, _ oldValue: Int?) -> Void)?
  let ensure: (Int?) -> Int?
  var value: Int? { get { nil } set {} }
  init(key: String, defaults: NSUD, didSet: ((Int?, Int?) -> Void)?, ensure: @escaping (Int?) -> Int?) {
    (self.key, self.defaults, self.didSet, self.ensure) = (key, defaults, didSet, ensure)
  }
}

private func usePalauDefaults() {
  let _: NSUD = PalauDefaults.defaults
  let _: UserDefaults.Type = NSUD.self
  let _: (Int) -> Int = PalauDefaults.pure
  let _: (Int?) -> Bool = PalauDefaults.isEmpty
  let _: (String) -> PalauDefaultsEntry<Int> = PalauDefaults.value(_:)
  let _: (String) -> PalauDefaultsArrayEntry<Int> = PalauDefaults.value(_:)
}

private func useEntry<Entry: PalauEntry>(_ entry: Entry) where Entry.ReturnType == Int {
  let _: Entry.ValueType.Type = Entry.ValueType.self
  let _: String = entry.key
  let _: NSUD = entry.defaults
  let _: (Int?) -> Int? = entry.ensure
  let _: ((_ newValue: Int?, _ oldValue: Int?) -> Void)? = entry.didSet
  var entry = entry
  entry.value = entry.value
  let _: () -> Void = entry.clear
  let _: (@escaping (Int?) -> Bool, Int) -> Entry = entry.ensure(when:use:)
  let _: (Int) -> Entry = entry.whenNil(use:)
  let _: (@escaping (Int?, Int?) -> Void) -> Entry = entry.didSet(_:)
  let _ = Entry(key: "a", defaults: .standard, didSet: nil, ensure: { $0 })
}

private func useEntries(_ defaults: UserDefaults) {
  let didSet: PalauDefaultsEntry<Int>.PalauDidSetFunction = { (_: Int?, _: Int?) in }
  let ensure: PalauDefaultsEntry<Int>.PalauEnsureFunction = { $0 }
  useEntry(PalauDefaultsEntry<Int>(key: "a", defaults: defaults, didSet: didSet, ensure: ensure))
  useEntry(PalauDefaultsEntry<Int>(key: "a", defaults: defaults, ensure: ensure))
  let didSetArray: PalauDefaultsArrayEntry<Int>.PalauDidSetArrayFunction = { (_: [Int]?, _: [Int]?) in }
  let ensureArray: PalauDefaultsArrayEntry<Int>.PalauEnsureArrayFunction = { $0 }
  let entry = PalauDefaultsArrayEntry<Int>(key: "a", defaults: defaults, didSet: didSetArray, ensure: ensureArray)
  let _ = PalauDefaultsArrayEntry<Int>(key: "a", defaults: defaults, ensure: ensureArray)
  let _: [Int]? = entry.value
  let _: PalauDefaultsArrayEntry<Int>.ReturnType = [1]
  useEntry(OwnEntry(key: "a", defaults: defaults, didSet: nil, ensure: { $0 }))
}

private func useDefaultable<T: PalauDefaultable>(_ type: T.Type) where T.ValueType == T {
  let _: (String, NSUD) -> T? = T.get(_:from:)
  let _: (String, NSUD) -> [T]? = T.get(_:from:)
  let _: (T?, String, NSUD) -> Void = T.set(_:forKey:in:)
  let _: ([T]?, String, NSUD) -> Void = T.set(_:forKey:in:)
}

private func usePalauTypes() {
  useDefaultable(Point.self)
  useDefaultable(Side.self)
  useDefaultable(Bool.self)
  useDefaultable(Int.self)
  useDefaultable(UInt.self)
  useDefaultable(Float.self)
  useDefaultable(Double.self)
  useDefaultable(NSNumber.self)
  useDefaultable(String.self)
  useDefaultable(NSString.self)
  useDefaultable([Any].self)
  useDefaultable(NSArray.self)
  useDefaultable([String: Any].self)
  useDefaultable(NSDictionary.self)
  useDefaultable(Date.self)
  useDefaultable(Data.self)
  // Not here: UIColor and NSColor, which Foundation on Linux does not have.
}
