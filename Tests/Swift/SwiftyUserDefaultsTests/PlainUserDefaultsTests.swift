import Foundation
import Prephirences
import SwiftyUserDefaults
import Testing

private struct NoteBridge: DefaultsBridge {
  func get(key: String, userDefaults: UserDefaults) -> Note? {
    userDefaults.string(forKey: key).map(Note.init)
  }

  func save(key: String, value: Note?, userDefaults: UserDefaults) {
    userDefaults.set(value?.text, forKey: key)
  }

  func deserialize(_ object: Any) -> Note? { (object as? String).map(Note.init) }
}

private struct Note: DefaultsSerializable, Equatable {
  let text: String

  static var _defaults: NoteBridge { NoteBridge() }
  static var _defaultsArray: DefaultsNestedArrayBridge<Note> { DefaultsNestedArrayBridge() }
}

/// Passes its work on to a bridge of the library.
private struct RatioBridge: DefaultsBridge {
  private let bridge = DefaultsCodableBridge<[Double]>()

  func get(key: String, userDefaults: UserDefaults) -> Ratio? {
    bridge.get(key: key, userDefaults: userDefaults).map(Ratio.init)
  }

  func save(key: String, value: Ratio?, userDefaults: UserDefaults) {
    bridge.save(key: key, value: value?.parts, userDefaults: userDefaults)
  }

  func deserialize(_ object: Any) -> Ratio? { bridge.deserialize(object).map(Ratio.init) }
}

private struct Ratio: DefaultsSerializable, Equatable {
  let parts: [Double]

  static var _defaults: RatioBridge { RatioBridge() }
  static var _defaultsArray: DefaultsNestedArrayBridge<Ratio> { DefaultsNestedArrayBridge() }
}

/// The folder in which Foundation stores user defaults.
private var userDefaultsFolder: String {
  let environment = ProcessInfo.processInfo.environment
  return environment["XDG_CONFIG_HOME"] ?? (environment["HOME"] ?? "") + "/.config"
}

/// Each in a process of its own, with a suite of its own.
@Suite struct PlainUserDefaultsTests {
  @Test func eachWriteIsSaved() async throws {
    let name = "prephirences-test-\(UUID().uuidString)"
    let file = URL(fileURLWithPath: userDefaultsFolder).appendingPathComponent("\(name).plist")
    defer { try? FileManager.default.removeItem(at: file) }
    await #expect(processExitsWith: .success) { [name = name as String] in
      let plain = try #require(UserDefaults(suiteName: name))
      let defaults = DefaultsAdapter(defaults: plain, keyStore: DefaultsKeys())
      let seen = Received<Note?>()
      let note = DefaultsKey<Note?>("note")
      let observer = defaults.observe(note) { seen.add($0.newValue ?? nil) }
      defaults.count += 2
      defaults.list = ["a"]
      defaults[key: DefaultsKey<URL?>("url")] = URL(string: "https://swift.org/x")
      defaults[key: note] = Note(text: "b")
      precondition(seen.all == [Note(text: "b")])
      precondition(defaults[key: DefaultsKey<URL?>("url")]?.scheme == "https")
      precondition(defaults.lastPreferencesError == nil)
      observer.dispose()
      let ratio = DefaultsKey<Ratio?>("ratio")
      defaults[key: ratio] = Ratio(parts: [1, 2])
      precondition(defaults.lastPreferencesError == nil)
      // JSON has only finite numbers. Saving the rest must not hide the refusal.
      defaults[key: ratio] = Ratio(parts: [.infinity])
      precondition(defaults.lastPreferencesError?.code == .unstorable)
      precondition(defaults[key: ratio] == Ratio(parts: [1, 2]))
      // Without what Foundation would save at the end of the process.
      _exit(0)
    }
    let data = try Data(contentsOf: file)
    let saved = try #require(
      try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    #expect(saved["count"] as? Int == 2)
    #expect(saved["list"] as? [String] == ["a"])
    #expect(saved["note"] as? String == "b")
    #expect(saved["url"] is Data)
  }
}
