import Foundation
import Prephirences

/// Preferences through their protocols, compared with the bare stores doing the same work.
struct PreferenceBenchmarks {
  let effort: Effort

  init(effort: Effort) { self.effort = effort }

  private let group = "Preferences"

  func run() throws -> [Figure] {
    try userDefaults() + foundation() + composed() + single()
  }

  private let content: [String: Any] = Dictionary(
    uniqueKeysWithValues: (0..<100).map { number -> (String, Any) in
      ("key \(number)", number.isMultiple(of: 2) ? number : "value \(number)")
    })
  private static let keys = (0..<100).map { "key \($0)" }

  /// The name of an integer.
  private func integer(_ call: Int) -> String { Self.keys[call % 50 * 2] }

  /// The name of a text.
  private func text(_ call: Int) -> String { Self.keys[call % 50 * 2 + 1] }

  private func figure(
    _ name: String, over reference: String, batch: Int = 100, atMost target: Double? = 1.5,
    _ subject: (Int) -> Void, _ bare: (Int) -> Void
  ) -> Figure {
    let comparison = Comparison.measure(rounds: effort.shortRounds, batch: batch, subject, bare)
    return Figure(group, name, over: reference, comparison, atMost: target)
  }

  private func userDefaults() throws -> [Figure] {
    let name = "benchmark-\(UUID().uuidString)"
    guard let bare = UserDefaults(suiteName: name) else { throw BenchmarkVaults.Failure() }
    bare.setPersistentDomain(content, forName: name)
    defer { bare.removePersistentDomain(forName: name) }
    let store: any MutablePreferencesType = bare
    // Alternates between different values, because setting an equal value saves nothing.
    let reference = "the same of `UserDefaults`"
    return [
      figure("user defaults, object", over: reference) {
        keep(store.object(forKey: text($0)))
      } _: {
        keep(bare.object(forKey: text($0)))
      },
      figure("user defaults, integer", over: reference) {
        keep(store.integer(forKey: integer($0)))
      } _: {
        keep(bare.integer(forKey: integer($0)))
      },
      figure("user defaults, string", over: reference) {
        keep(store.string(forKey: text($0)))
      } _: {
        keep(bare.string(forKey: text($0)))
      },
      figure("user defaults, set integer", over: reference + " and `synchronize`", batch: 1) {
        store.set($0, forKey: integer($0))
      } _: {
        bare.set(-1 - $0, forKey: integer($0))
        bare.synchronize()
      },
      figure("user defaults, set text", over: reference + " and `synchronize`", batch: 1) {
        store[text($0)] = "value \($0)"
      } _: {
        bare.set("other \($0)", forKey: text($0))
        bare.synchronize()
      },
    ]
  }

  private func foundation() -> [Figure] {
    let cache = NSCache<NSString, NSString>()
    for key in Self.keys { cache.setObject("value", forKey: key as NSString) }
    let caching: any MutablePreferencesType = NSCachePreferences(cache: cache)
    let bundle: any PreferencesType = Bundle.main
    return [
      figure("cache, object", over: "the same of `NSCache`") {
        keep(caching.object(forKey: text($0)))
      } _: {
        keep(cache.object(forKey: text($0) as NSString))
      },
      figure("cache, set", over: "the same of `NSCache`") {
        caching[text($0)] = "value" as NSString
      } _: {
        cache.setObject("value", forKey: text($0) as NSString)
      },
      figure("bundle, object", over: "the same of `Bundle`") {
        keep(bundle.object(forKey: text($0)))
      } _: {
        keep(Bundle.main.object(forInfoDictionaryKey: text($0)))
      },
    ]
  }

  private func composed() -> [Figure] {
    let store = MutableDictionaryPreferences(dictionary: content)
    let bare: any MutablePreferencesType = store
    let below: any MutablePreferencesType = MutableProxyPreferences(preferences: store, key: "key ")
    return [
      figure("below a prefix, integer", over: "joining and asking") {
        keep(below.integer(forKey: "\($0 % 50 * 2)"))
      } _: {
        keep(bare.integer(forKey: "key " + "\($0 % 50 * 2)"))
      },
      figure("below a prefix, set", over: "joining and setting") {
        below.set($0, forKey: "\($0 % 50 * 2)")
      } _: {
        bare.set($0, forKey: "key " + "\($0 % 50 * 2)")
      },
    ]
  }

  private func single() -> [Figure] {
    let store: any MutablePreferencesType = MutableDictionaryPreferences(dictionary: content)
    let key = integer(0)
    let preference: MutablePreference<Int> = store <| key
    return [
      figure("one preference, read", over: "asking the store and a cast", atMost: nil) { _ in
        keep(preference.value)
      } _: { _ in
        keep(store.object(forKey: key) as? Int)
      },
      figure("one preference, set", over: "setting the store", atMost: nil) {
        preference.value = $0
      } _: {
        store.set($0 as Any?, forKey: key)
      },
    ]
  }
}
