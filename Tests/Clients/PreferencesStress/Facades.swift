internal import Palau
internal import Prephirences
internal import PrephirencesDurable
internal import SwiftyUserDefaults
internal import TypedDefaults

extension DefaultsKeys {
  fileprivate var count: DefaultsKey<Int> { .init("count", defaultValue: 0) }
  fileprivate var list: DefaultsKey<[String]> { .init("list", defaultValue: []) }
}

private struct Window: Codable, DefaultConvertible {
  static let key = "window"
  var width = 0
}

private final class Settings: Sendable {
  let wrapped: SwiftyUserDefault<Int>

  init(_ adapter: DefaultsAdapter<DefaultsKeys>) {
    wrapped = SwiftyUserDefault(
      keyPath: \.count, adapter: adapter, options: [.cached, .observed])
  }
}

extension PreferencesStress {
  /// Uses the facades over one store.
  static func facades(_ folder: String) {
    let durable = DurablePreferences(suiteName: "facades", folder: folder)
    let adapter = DefaultsAdapter(preferences: durable, keyStore: DefaultsKeys())
    let settings = Settings(adapter)
    let file = PersistentStore<Window>(preferences: durable)
    let memory = InMemoryStore<Window>()
    onThreads(8) { thread in
      for round in 0..<rounds {
        adapter.count += 1
        adapter.list.append("x")
        if adapter.list.count > 9 { adapter.remove(\.list) }
        settings.wrapped.wrappedValue = round
        _ = (settings.wrapped.wrappedValue, adapter.lastPreferencesError)
        let observer = adapter.observe(\.list, options: [.initial, .new]) { _ in }
        PalauDefaults.defaults = adapter.defaults
        let entry: PalauDefaultsEntryEnsured<Int> = PalauDefaults.value("entry", whenNil: thread)
        entry.value += 1
        observer.dispose()
        for store in [AnyStore(file), AnyStore(memory)] {
          store.set(Window(width: round))
          check(store.get() != nil && store.lastError == nil, "typed")
        }
        Defaults = adapter
        _ = Defaults.count
      }
    }
  }
}
