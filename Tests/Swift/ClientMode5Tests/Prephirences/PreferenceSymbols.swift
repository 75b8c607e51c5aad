// swift-format-ignore-file
import Foundation
import Prephirences

func usePreference(_ preferences: PreferencesType) {
  let _ = Preference<Int>(key: "a")
  let preference = Preference<Int>(
    preferences: preferences, key: "a", transformation: TransformationKey.none)
  let _: String = preference.key
  preference.transformation = TransformationKey.archive
  let _: PreferenceTransformation = preference.transformation
  preference.transformationKey = .none
  let _: TransformationKey = preference.transformationKey
  let _: Int? = preference.value
  let _: Int? = preference.wrappedValue
  let _: Bool = preference.hasValue
  let _: Bool = preference.isEmpty
  let _: Preference<Int> = preferences.preference(forKey: "a")
  let _: Preference<Int> = preferences <| "a"
}

func useMutablePreference(_ preferences: MutablePreferencesType) {
  let _ = MutablePreference<Int>(key: "a")
  let preference = MutablePreference<Int>(
    preferences: preferences, key: "a", transformation: TransformationKey.none)
  let _: Preference<Int> = preference
  let callback: MutablePreference<Int>.DidSetFunction = { (newValue: Int?, oldValue: Int?) in }
  preference.didSetFunction = callback
  preference.value = 1
  preference.wrappedValue = 1
  preference.clear()
  let _: MutablePreference<Int> = preference.didSet(callback)
  preference.apply { ($0 ?? 0) + 1 }
  let _: MutablePreference<String> = preference.transform { $0.map(String.init) }
  let _: MutablePreference<Int> = preference.ensure(when: { ($0 ?? 0) > 100 }, use: 100)
  let _: MutablePreference<Int> = preference.whenNil(use: 1)
  let _: MutablePreference<Int> = preferences.preference(forKey: "a")
  let _: MutablePreference<Int> = preferences <| "a"
  let _: Int? = preferences.operation(on: "a", with: 1) { (left: Int, right: Int) in left + right }
}

class MyPreference<T>: MutablePreference<T> {
  override var value: T? { get { super.value } set { super.value = newValue } }
  override var wrappedValue: T? { get { value } set { value = newValue } }
  override var hasValue: Bool { super.hasValue }
  override var isEmpty: Bool { super.isEmpty }
  override func clear() { super.clear() }
  override func apply(_ change: (T?) -> T?) { super.apply(change) }
}

struct Wrapped {
  @Preference(key: "a") var a: Int?
  @MutablePreference(key: "a") var b: Int?
  @UserDefaultsPreference(userDefaults: .standard, key: "a", transformation: TransformationKey.none)
  var c: Int?
  @BundlePreference(key: "CFBundleName") var d: String?
  @BundlePreference(bundle: .main, key: "CFBundleName") var e: String?
  @BundlePreference(bundle: .main, coreFoundationKeys: .CFBundleName) var f: String?
}

struct MyTransformationOfAll: PreferenceTransformation {
  func reverseTransformedValue(_ value: PreferenceObject?) -> Any? { value }
  func transformedValue(_ value: Any?) -> PreferenceObject? { value }
}

func useTransformations(
  _ preferences: PreferencesType, _ mutable: MutablePreferencesType, _ transformer: ValueTransformer
) {
  enum Side: String { case left }
  let transformation: PreferenceTransformation = MyTransformationOfAll()
  let _: [TransformationKey] = [
    .none, .archive, .closureTuple(transform: nil, revert: { $0 }),
    .closureTuple(transform: { $0 }, revert: { $0 }), .compose(transformations: [transformation]),
    .valueTransformer(transformer),
  ]
  let _: Bool = TransformationKey.none == .archive
  let _: Int? = transformation.get("a", from: preferences)
  transformation.set("a", value: 1, to: mutable)
  let _: Any? = preferences["a", { $0 }]
  let _: Any? = preferences["a", TransformationKey.archive]
  let _: Any? = preferences["a", transformation]
  let _: PreferenceObject? = preferences["a", transformer]
  var mutable = mutable
  mutable["a", TransformationKey.archive] = 1
  mutable["a", transformation] = 1
  mutable["a", transformer] = 1
  let _: PreferenceTransformation = Side.preferenceTransformation
  let _: Side? = preferences.rawRepresentable(forKey: "a")
  mutable.set(rawValue: Side.left, forKey: "a")
}
