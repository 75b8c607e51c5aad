internal import Foundation
internal import Prephirences

extension PreferencesTool {
  /// Sets separate keys one by one while other processes do the same.
  static func count(_ name: String, _ number: Int) {
    for index in 0..<number { UserDefaults.standard["\(name).\(index)"] = index }
    let error = UserDefaults.standard.lastPreferencesError
    expect(error == nil, error?.message ?? "")
  }

  /// Several processes set keys at the same time; then all keys must be there.
  static func race() {
    let (names, number) = (["a", "b", "c", "d"], 100)
    let processes = names.map { name in
      let process = Process()
      process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = ["count", name, "\(number)"]
      do { try process.run() } catch { fail("\(error)") }
      return process
    }
    for process in processes {
      process.waitUntilExit()
      expect(process.terminationStatus == 0, "a process failed")
    }
    for name in names {
      for index in 0..<number {
        let value = UserDefaults.standard["\(name).\(index)"] as? Int
        expect(value == index, "\(name).\(index) is lost")
      }
    }
  }

  /// Sets a thousand values together, which must not take many times as long as in Foundation.
  static func importMany() {
    let defaults = UserDefaults.standard
    let keys = (0..<1000).map { "key\($0)" }
    // The first pair warms up.
    var times: [(plain: Duration, ours: Duration)] = []
    for round in 0..<4 {
      let values = Dictionary(uniqueKeysWithValues: keys.map { ($0, "\(round) of \($0)") })
      let plain = ContinuousClock().measure {
        for (key, value) in values { defaults.set(value, forKey: key) }
        defaults.synchronize()
      }
      let ours = ContinuousClock().measure {
        defaults.set(dictionary: values.mapValues { $0 + "!" })
      }
      times.append((plain, ours))
      expect(defaults["key7"] as? String == "\(round) of key7!", "round \(round) is not there")
    }
    let ratio = times.dropFirst().map { $0.ours / $0.plain }.min() ?? 0
    expect(ratio < 5, "many values take \(ratio) times as long as one by one")
  }

  /// Sets URLs in every possible way.
  static func urls() {
    guard let url = URL(string: "https://example.org/a?b#c") else { fail("no URL") }
    let defaults = UserDefaults.standard
    let preferences: any MutablePreferencesType = defaults
    let setters: [() -> Void] = [
      { defaults.set(url, forKey: "k") }, { defaults["k"] = url }, { defaults.k = url },
      { defaults.setValue(url, forKey: "k") }, { preferences.set(url, forKey: "k") },
      { preferences.set(url as URL?, forKey: "k") }, { defaults.setValuesForKeys(["k": url]) },
    ]
    for (number, set) in setters.enumerated() {
      defaults["k"] = nil
      set()
      expect(defaults.url(forKey: "k") == url, "setter \(number), read by UserDefaults")
      expect(preferences.url(forKey: "k") == url, "setter \(number)")
      expect(defaults.value(forKey: "k") as? URL == url, "setter \(number), by key-value coding")
      let preference: Preference<URL> = defaults <| "k"
      expect(preference.value == url, "setter \(number), as a preference")
    }
    let values = defaults.dictionaryWithValues(forKeys: ["k", "absent"])
    expect(values.count == 1 && values["k"] as? URL == url, "several keys")
  }
}
