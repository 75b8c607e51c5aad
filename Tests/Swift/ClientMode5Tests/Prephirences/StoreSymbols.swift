// swift-format-ignore-file
import Foundation
import Prephirences

func useDictionaryPreferences(_ others: PreferencesType, path: String) {
  let store = DictionaryPreferences(dictionary: ["a": 1])
  let _: DictionaryPreferences? = DictionaryPreferences(filePath: path)
  let _: DictionaryPreferences? = DictionaryPreferences(filename: "a", ofType: "plist")
  let _: DictionaryPreferences? = DictionaryPreferences(filename: nil, ofType: nil, bundle: .main)
  let _ = DictionaryPreferences(preferences: others)
  let _ = DictionaryPreferences(dictionaryLiteral: ("a", 1))
  let iterator: DictionaryIteratorAdapter<String, Any> = store.makeIterator()
  let _: (String, Any)? = iterator.next()
  for (key, value) in store { let _: (String, Any) = (key, value) }
  let _: Any? = store[nil as String?]
  let _: (String, Any) = store[store.dictionary().startIndex]
  let _: Bool = store.writeToFile(path)
  let _: Bool = store.writeToFile(path, atomically: false)
}

class MyDictionaryPreferences: MutableDictionaryPreferences {
  override func object(forKey key: PreferenceKey) -> PreferenceObject? { super.object(forKey: key) }
  override func string(forKey key: PreferenceKey) -> String? { super.string(forKey: key) }
  override func set(_ value: PreferenceObject?, forKey key: PreferenceKey) { super.set(value, forKey: key) }
}

func useBufferPreferences(_ buffered: MutablePreferencesType) {
  let buffer = BufferPreferences(buffered)
  let _: MutableDictionaryPreferences = buffer
  let _: Bool = buffer.commit() == ()
  let _: Bool = buffer.rollback() == ()
  let _: BufferPreferences = ["a": 1]
}

class MyPlist: Plist {
  override func write(_ atomically: Bool = true) -> Bool { super.write(atomically) }
  override func read() -> Bool { super.read() }
}

func usePlist(path: String) {
  let _: Plist? = Plist(filename: "a")
  let _: Plist? = Plist(filename: "a", bundle: .main)
  guard let plist = Plist(filePath: path) else { return }
  plist.writeImmediatly = true
  let _: Bool = plist.writeImmediatly
  let _: Bool = plist.write()
  let _: Bool = plist.write(false)
  let _: Bool = plist.read()
}

func useStoresOfFoundation(
  _ defaults: UserDefaults, _ bundle: Bundle, _ coder: NSCoder, _ cache: NSCache<NSString, NSNumber>
) {
  let _: MutablePreferencesType = defaults
  let _: PreferencesType = bundle
  let _: MutablePreferencesType = coder
  let cached = NSCachePreferences(cache: cache)
  let _: NSCache<NSString, NSNumber> = cached.cache
  cached.insertCost = 1
  let _: PreferencesAdapter & MutablePreferencesType = cached
  let _: () -> [String] = cached.keys
}

func useAdapters<C: Collection>(_ collection: C, _ object: NSObject) {
  let mapKey: CollectionPreferencesAdapter<C>.MapPreferenceKey = { "\($0)" }
  let mapValue: CollectionPreferencesAdapter<C>.MapPreferenceObject = { $0 }
  let _: PreferencesType = CollectionPreferencesAdapter(
    collection: collection, mapKey: mapKey, mapValue: mapValue)
}

class MyAdapter: CollectionPreferencesAdapter<[Int]> {}

func useComposition(_ stores: [PreferencesType], _ mutable: MutablePreferencesType) {
  let composite = CompositePreferences(stores)
  let _: [PreferencesType] = composite.array
  let _: [PreferencesType] = composite.mutableArray
  let _: [PreferencesType] = composite.immutableArray
  let _: (String) -> PreferencesType? = composite.preferences(with:)
  let _: (String) -> MutablePreferencesType? = composite.mutablePreferences(with:)
  let _: CompositePreferences = [mutable]
  let changed = MutableCompositePreferences(stores)
  changed.affectOnlyFirstMutable = false
  let _: Bool = changed.affectOnlyFirstMutable
  let _ = MutableCompositePreferences(stores, affectOnlyFirstMutable: false)
  let _: MutableCompositePreferences = [mutable]
  let _ = ProxyPreferences(preferences: mutable)
  let _ = ProxyPreferences(preferences: mutable, key: "a.")
  let _ = ProxyPreferences(preferences: mutable, key: "a", separator: ".")
  let _: ProxyPreferences = MutableProxyPreferences(preferences: mutable)
  let _ = MutableProxyPreferences(preferences: mutable, key: "a", separator: ".")
}

class MyComposite: MutableCompositePreferences {
  override var affectOnlyFirstMutable: Bool { get { false } set {} }
  override subscript(key: PreferenceKey) -> PreferenceObject? { get { nil } set {} }
}

class MyProxy: MutableProxyPreferences {}

struct Editor: Prephirencable {
  struct Font: Prephirencable { static let parent: PreferencesType = Editor.instance }
}

func usePrephirencable() {
  let _: String = Editor.Font.key
  let _: PreferencesType = Editor.parent
  let _: PreferencesType = Editor.Font.instance
  let _: MutablePreferencesType? = Editor.Font.mutableInstance
}
