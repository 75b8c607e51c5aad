internal import Foundation
internal import Prephirences
internal import PrephirencesDurable

/// Performs tests that need a separate process, and prints the failures; or uses durable preferences
/// as tests of faults tell it, in a `session`.
@main
struct PreferencesTool {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    let names = Array(arguments.dropFirst())
    switch arguments.first {
    case "session": session(names)
    case "write": write(names)
    case "read": read(names)
    case "clear": clear(names)
    case "nil": literalNil(defaults(names))
    case "refuse": refuse(defaults(names))
    case "count": count(names[0], Int(names[1]) ?? 0)
    case "race": race()
    case "import": importMany()
    case "urls": urls()
    case "suites": suites()
    case "notify": notify()
    case "fuzz-archives": Fuzzing.archives()
    case "fuzz-plists": Fuzzing.propertyLists(in: names[0])
    default: fail("unknown command")
    }
  }

  static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(1)
  }

  static func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
  }

  /// The store that the arguments name: `defaults`, `suite NAME`, `durable NAME`, `backed PATH`,
  /// `xml PATH` or `binary PATH`.
  private static func store(_ names: [String]) -> any MutablePreferencesType {
    let store: (any MutablePreferencesType)? =
      switch names[0] {
      case "defaults": UserDefaults.standard
      case "suite": UserDefaults(suiteName: names[1])
      case "durable": DurableUserDefaults(suiteName: names[1])
      case "backed":
        (try? Plist(openingFile: names[1])).map { BackedUserDefaults(preferences: $0) }
      case "xml": try? Plist(openingFile: names[1])
      default: try? Plist(openingFile: names[1], format: .binary)
      }
    guard let store else { fail("no store") }
    return store
  }

  private static func defaults(_ names: [String]) -> UserDefaults {
    guard let defaults = store(names) as? UserDefaults else { fail("no user defaults") }
    return defaults
  }

  private static func write(_ names: [String]) {
    let store = store(names)
    // The previous value of the key must leave nothing behind.
    for sample in Sample.all.prefix(20) {
      store[sample.key] = Date(timeIntervalSinceReferenceDate: 0.5)
    }
    for sample in Sample.all { store[sample.key] = sample.value }
    check(store, "set")
    if let plist = store as? Plist {
      expect(plist.write(), "\(plist.lastError?.message ?? "")")
    } else if let defaults = store as? UserDefaults {
      expect(
        defaults.lastPreferencesError == nil, "\(defaults.lastPreferencesError?.message ?? "")")
      if defaults is BackedUserDefaults { expect(defaults.synchronize(), "not synchronized") }
    }
  }

  private static func read(_ names: [String]) { check(store(names), "reloaded") }

  private static func check(_ store: any MutablePreferencesType, _ what: String) {
    let dictionary = store.dictionary()
    var differences: [String] = []
    // In a dictionary, two canonically equivalent keys are the same.
    for sample in Sample.all where sample.key != "key \u{e9}" && sample.key != "key e\u{301}" {
      for (value, way) in [(store[sample.key], "key"), (dictionary[sample.key], "dictionary")]
      where !sample.isEqual(value) {
        differences.append(
          "\(what), by \(way): \(sample.key.debugDescription.prefix(50)) is \(value ?? "nil")")
      }
    }
    expect(differences.isEmpty, differences.joined(separator: "\n"))
  }

  private static func clear(_ names: [String]) {
    let store = store(names)
    store.clearAll()
    for sample in Sample.all { expect(store[sample.key] == nil, "\(sample.key) is still there") }
  }
}
