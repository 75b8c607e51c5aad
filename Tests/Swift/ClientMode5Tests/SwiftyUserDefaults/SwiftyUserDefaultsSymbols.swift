// swift-format-ignore-file
import Foundation
import SwiftyUserDefaults

// Every public symbol of version 5.3, with its type; see SAMPLES.md for those that are not there.

private struct Keys: DefaultsKeyStore {
  var count: DefaultsKey<Int> { .init("count", defaultValue: 0) }
  var name: DefaultsKey<String?> { .init("name") }
}

private func useKeys() {
  let _: (String, Int) -> DefaultsKey<Int> = DefaultsKey<Int>.init(_:defaultValue:)
  let _: (String) -> DefaultsKey<Int?> = DefaultsKey<Int?>.init(_:)
  let _: (String, Int?) -> DefaultsKey<Int?> = DefaultsKey<Int?>.init(_:defaultValue:)
  let key = DefaultsKey<Int>("a", defaultValue: 1)
  let _: String = key._key
  let _: Int? = key.defaultValue
  let _: DefaultsKeyStore = DefaultsKeys()
  let _: Int? = Int?.__swifty_empty
}

private func empty<T: OptionalType>(_ type: T.Type) -> T where T.Wrapped == Int { T.__swifty_empty }

private func useAdapter(_ userDefaults: UserDefaults) {
  let adapter: DefaultsAdapter<Keys> = DefaultsAdapter(defaults: userDefaults, keyStore: Keys())
  let _: UserDefaults = adapter.defaults
  let _: Keys = adapter.keyStore
  adapter[key: Keys().count] = adapter[key: Keys().count] as Int
  adapter[key: Keys().name] = adapter[key: Keys().name] as String?
  adapter[\.count] = adapter[\.count] as Int
  adapter[\.name] = adapter[\.name] as String?
  adapter.count = adapter.count as Int
  adapter.name = adapter.name as String?
  let _: (DefaultsKey<Int>) -> Bool = adapter.hasKey
  let _: (KeyPath<Keys, DefaultsKey<Int>>) -> Bool = adapter.hasKey
  let _: (DefaultsKey<Int>) -> Void = adapter.remove
  let _: (KeyPath<Keys, DefaultsKey<Int>>) -> Void = adapter.remove
  let _: () -> Void = adapter.removeAll
  Defaults = DefaultsAdapter<DefaultsKeys>(defaults: .standard, keyStore: .init())
}

private func useProviding<Providing: DefaultsProviding>(_ providing: Providing)
where Providing.KeyStore == Keys {
  providing[key: Keys().count] = providing[key: Keys().count] as Int
  providing[\.name] = providing[\.name] as String?
  providing.count += 1
}

private func useUserDefaults(_ userDefaults: UserDefaults) {
  userDefaults[Keys().count] = userDefaults[Keys().count] as Int
  userDefaults[Keys().name] = userDefaults[Keys().name] as String?
  let _: (DefaultsKey<Int>) -> Bool = userDefaults.hasKey
  let _: (DefaultsKey<Int>) -> Void = userDefaults.remove
  let _: () -> Void = userDefaults.removeAll
}

private func useBridge<Bridge: DefaultsBridge>(_ bridge: Bridge, _ userDefaults: UserDefaults) {
  let value: Bridge.T? = bridge.get(key: "a", userDefaults: userDefaults)
  bridge.save(key: "a", value: value, userDefaults: userDefaults)
  let _: Bridge.T? = bridge.deserialize("a" as Any)
}

private func useSerializable<Value: DefaultsSerializable>(_ type: Value.Type) {
  let _: Value.Bridge = Value._defaults
  let _: Value.ArrayBridge = Value._defaultsArray
  let _: Value.T.Type = Value.Bridge.T.self
}

private enum Side: String, DefaultsSerializable { case left }
private struct Point: Codable, DefaultsSerializable {}

private func useBridges(_ userDefaults: UserDefaults) {
  useBridge(DefaultsObjectBridge<Date>(), userDefaults)
  useBridge(DefaultsArrayBridge<[Int]>(), userDefaults)
  useBridge(DefaultsStringBridge(), userDefaults)
  useBridge(DefaultsIntBridge(), userDefaults)
  useBridge(DefaultsDoubleBridge(), userDefaults)
  useBridge(DefaultsBoolBridge(), userDefaults)
  useBridge(DefaultsDataBridge(), userDefaults)
  useBridge(DefaultsUrlBridge(), userDefaults)
  useBridge(DefaultsCodableBridge<Point>(), userDefaults)
  useBridge(DefaultsKeyedArchiverBridge<NSColor>(), userDefaults)
  useBridge(DefaultsRawRepresentableBridge<Side>(), userDefaults)
  useBridge(DefaultsRawRepresentableArrayBridge<[Side]>(), userDefaults)
  let _: DefaultsOptionalBridge<DefaultsIntBridge> = Int?._defaults
  let _: DefaultsOptionalArrayBridge<DefaultsArrayBridge<[Int]>> = Int?._defaultsArray
}

private func useConformances() {
  useSerializable(Date.self)
  useSerializable(String.self)
  useSerializable(Int.self)
  useSerializable(Double.self)
  useSerializable(Bool.self)
  useSerializable(Data.self)
  useSerializable(URL.self)
  useSerializable([String: Any].self)
  useSerializable([Int].self)
  useSerializable(Int?.self)
  let _: DefaultsObjectBridge<Date> = Date._defaults
  let _: DefaultsStringBridge = String._defaults
  let _: DefaultsIntBridge = Int._defaults
  let _: DefaultsDoubleBridge = Double._defaults
  let _: DefaultsBoolBridge = Bool._defaults
  let _: DefaultsDataBridge = Data._defaults
  let _: DefaultsUrlBridge = URL._defaults
  let _: DefaultsObjectBridge<[String: Any]> = [String: Any]._defaults
  let _: DefaultsArrayBridge<[[String: Any]]> = [String: Any]._defaultsArray
  let _: DefaultsArrayBridge<[Int]> = [Int]._defaults
  let _: DefaultsCodableBridge<Point> = Point._defaults
  let _: DefaultsCodableBridge<[Point]> = Point._defaultsArray
  let _: DefaultsRawRepresentableBridge<Side> = Side._defaults
  let _: DefaultsRawRepresentableArrayBridge<[Side]> = Side._defaultsArray
  let _: DefaultsKeyedArchiverBridge<NSColor> = NSColor._defaults
  let _: DefaultsKeyedArchiverBridge<[NSColor]> = NSColor._defaultsArray
}

private func useObserving(_ adapter: DefaultsAdapter<Keys>) {
  let handler: (DefaultsObserver<Int>.Update) -> Void = { update in
    let _: NSKeyValueChange = update.kind
    let _: IndexSet? = update.indexes
    let _: Bool = update.isPrior
    let _: Int? = update.newValue
    let _: Int? = update.oldValue
  }
  let all: NSKeyValueObservingOptions = [.old, .new, .initial, .prior]
  let disposable: DefaultsDisposable = adapter.observe(Keys().count, options: all, handler: handler)
  disposable.dispose()
  let _: DefaultsDisposable = adapter.observe(\.count, handler: handler)
  let _: DefaultsDisposable = adapter.defaults.observe(Keys().count, handler: handler)
  let _: (DefaultsObserver<Int>) -> () -> Void = { ($0 as NSObject & DefaultsDisposable).dispose }
}

private func useWrapper(_ adapter: DefaultsAdapter<Keys>) {
  let wrapper = SwiftyUserDefault(keyPath: \.count, adapter: adapter, options: [.cached, .observed])
  let _: DefaultsKey<Int> = wrapper.key
  let _: SwiftyUserDefaultOptions = wrapper.options
  wrapper.wrappedValue = wrapper.wrappedValue as Int
  let _ = SwiftyUserDefault(keyPath: \DefaultsKeys.launchCount)
  let _ = SwiftyUserDefaultOptions(rawValue: 1 << 0 | 1 << 2) == [.cached, .observed]
}
