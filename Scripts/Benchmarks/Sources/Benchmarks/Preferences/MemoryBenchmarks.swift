import Prephirences

/// Preferences in memory, compared with a dictionary behind a lock.
struct MemoryBenchmarks {
  let effort: Effort

  private static let limit = "a dictionary behind a lock"
  private let content: [String: Any] = Dictionary(
    uniqueKeysWithValues: (0..<100).map { number -> (String, Any) in
      ("key \(number)", number.isMultiple(of: 2) ? number : "value \(number)")
    })
  private static let keys = (0..<100).map { "key \($0)" }

  /// Preferences, and a bare dictionary, that do the same.
  private struct Pair {
    let name: String
    var target = 1.5
    let subject: (Int) -> Void
    let bare: (Int) -> Void
  }

  func run() throws -> Chart {
    let groups = try (single() + two()).map { pair in
      let samples = try Turns.measure(
        rounds: effort.shortRounds, batch: 100, [pair.subject, pair.bare])
      return BarGroup(
        heading: nil,
        bars: [Bar(pair.name, samples[0], isOurs: true, atMost: pair.target)],
        limit: .init(label: Self.limit, value: samples[1].median))
    }
    return Chart(
      name: "memory", question: "How long does a preference in memory take?",
      remark:
        "A store of 100 keys, through its protocol. \"Two\" are an empty store and this one as one.",
      reference: Self.limit, groups: groups)
  }

  /// The name of an integer.
  private func integer(_ call: Int) -> String { Self.keys[call % 50 * 2] }

  /// The name of a text.
  private func text(_ call: Int) -> String { Self.keys[call % 50 * 2 + 1] }

  private func single() -> [Pair] {
    let store: any MutablePreferencesType = MutableDictionaryPreferences(dictionary: content)
    let bare = BareDictionary(content)
    return [
      Pair(name: "get, any object") {
        keep(store.object(forKey: text($0)))
      } bare: {
        keep(bare[text($0)])
      },
      Pair(name: "get, by subscript") {
        keep(store[integer($0)])
      } bare: {
        keep(bare[integer($0)])
      },
      Pair(name: "get, integer") {
        keep(store.integer(forKey: integer($0)))
      } bare: {
        keep(bare[integer($0)] as? Int ?? 0)
      },
      Pair(name: "get, text") {
        keep(store.string(forKey: text($0)))
      } bare: {
        keep(bare[text($0)] as? String)
      },
      Pair(name: "set, integer", target: 1.2) {
        store.set($0, forKey: integer($0))
      } bare: {
        bare[integer($0)] = $0
      },
      Pair(name: "set, any object", target: 1.2) {
        store[text($0)] = "new"
      } bare: {
        bare[text($0)] = "new"
      },
    ]
  }

  /// Each is compared with the same calls of the stores, or of the dictionaries.
  private func two() -> [Pair] {
    let store: any MutablePreferencesType = MutableDictionaryPreferences(dictionary: content)
    let empty: any PreferencesType = DictionaryPreferences(dictionary: [:])
    let all: any MutablePreferencesType = MutableCompositePreferences([empty, store])
    let bare = BareDictionary(content)
    let nothing = BareDictionary([:])
    return [
      Pair(name: "two, get any object") {
        keep(all.object(forKey: text($0)))
      } bare: {
        keep(nothing[text($0)] ?? bare[text($0)])
      },
      Pair(name: "two, get integer", target: 1.3) {
        keep(all.integer(forKey: integer($0)))
      } bare: {
        keep((nothing[integer($0)] ?? bare[integer($0)]) as? Int ?? 0)
      },
      Pair(name: "two, set integer") {
        all.set($0, forKey: integer($0))
      } bare: {
        bare[integer($0)] = $0
      },
    ]
  }
}
