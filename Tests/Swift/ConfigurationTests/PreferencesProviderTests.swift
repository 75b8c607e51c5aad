#if ConfigurationSupport
import Configuration
import ConfigurationPreferences
import ConfigurationTesting
import Foundation
import Prephirences
import PrephirencesSystem
import Testing

@Suite("Preferences provider", .timeLimit(.minutes(2)))
struct PreferencesProviderTests {
  private let folder: PreferencesFolder
  private let settings: DurablePreferences

  init() throws {
    folder = try PreferencesFolder()
    settings = folder.preferences()
  }

  @Test func fulfilsTheContractOfProviders() async throws {
    let values: [String: Any] = [
      "string": "Hello", "other.string": "Other Hello", "int": 42, "other.int": 24, "double": 3.14,
      "other.double": 2.72, "bool": true, "other.bool": false, "bytes": Data("magic".utf8),
      "other.bytes": Data("magic2".utf8), "stringy.array": ["Hello", "World"],
      "other.stringy.array": ["Hello", "Swift"], "inty.array": [42, 24],
      "other.inty.array": [16, 32],
      "doubly.array": [3.14, 2.72], "other.doubly.array": [0.9, 1.8], "booly.array": [true, false],
      "other.booly.array": [false, true, true],
      "byteChunky.array": [Data("magic".utf8), Data("magic2".utf8)],
      "other.byteChunky.array": [Data("magic".utf8), Data("magic2".utf8), Data("magic".utf8)],
    ]
    try settings.storeObjects(values)
    try await ProviderCompatTest(provider: PreferencesProvider(settings)).runTest()
    try await ProviderCompatTest(
      provider: PreferencesProvider(DictionaryPreferences(dictionary: values))
    ).runTest()
  }

  @Test func readsTextAsTheEnvironmentIsRead() async throws {
    let texts = compatibleTexts.merging(["bytes": "bWFnaWM=", "other.bytes": "bWFnaWMy"]) { $1 }
    try settings.storeObjects(texts)
    try await ProviderCompatTest(provider: PreferencesProvider(settings)).runTest()
  }

  @Test func convertsExactlyOrNotAtAll() throws {
    let id = UUID()
    try settings.storeObjects([
      "number": 3, "fraction": 3.7, "truth": true, "url": URL(string: "https://example.com/a")!,
      "id": id, "date": Date(), "text": "x", "array": [1, "x"] as [Any],
    ])
    let provider = PreferencesProvider(settings)
    func read(_ key: String, _ type: ConfigType) -> String {
      told(Result { try provider.value(forKey: AbsoluteConfigKey([key]), type: type) })
    }
    #expect(read("number", .string) == "3" && read("fraction", .string) == "3.7")
    #expect(read("truth", .string) == "true" && read("id", .string) == id.uuidString)
    #expect(read("url", .string) == "https://example.com/a")
    #expect(read("number", .double) == "double(3.0)" && read("fraction", .int) == "[typeMismatch]")
    for key in ["date", "array"] { #expect(read(key, .string) == "[typeMismatch]") }
    #expect(
      read("array", .intArray) == "[typeMismatch]" && read("number", .intArray) == "[typeMismatch]")
    try settings.storeObjects(["list": "1,,2", "names": " a , b,", "none": ""])
    #expect(
      read("list", .intArray) == "[typeMismatch]"
        && read("list", .stringArray) == #"stringArray(["1", "", "2"])"#)
    #expect(read("names", .stringArray) == #"stringArray(["a", "b", ""])"#)
    #expect(read("none", .stringArray) == #"stringArray([""])"#)
    #expect(read("text", .bytes) == "[typeMismatch]" && read("absent", .bytes) == "nil")
    let error = #expect(throws: PreferencesError.self) {
      try provider.value(forKey: "text", type: .intArray)
    }
    #expect(
      error?.message.contains("'text'") == true && error?.message.contains("intArray") == true)
  }

  @Test func changesOfAllWritersArrive() async throws {
    try await PreferencesProvider(settings).watching("http.port", as: .int) { watched in
      try await watched.wait { $0 == ["nil"] }
      settings["http.port"] = 1
      try await watched.wait { $0.last == "int(1)" }
      let other = folder.preferences()
      other["http.port"] = "2"
      try await watched.wait { $0.last == "int(2)" }
      other["http.port"] = 2
      other["other"] = 1
      other["http.port"] = "x"
      try await watched.wait { $0.last == "[typeMismatch]" }
      #expect(watched.all == ["nil", "int(1)", "int(2)", "[typeMismatch]"])
    }
  }

  @Test func oneTransactionIsOneSnapshot() async throws {
    try settings.storeObjects(["user": 0, "password": 0])
    let provider = PreferencesProvider(settings)
    let watched = Watched<String>()
    let task = Task {
      try await provider.watchSnapshot { updates in
        for await snapshot in updates {
          watched.append(
            ["user", "password"].map { key in
              told(Result { try snapshot.value(forKey: AbsoluteConfigKey([key]), type: .string) })
            }.joined(separator: " "))
        }
      }
    }
    try await watched.wait { $0 == ["0 0"] }
    let other = folder.preferences()
    for number in 1...20 {
      try other.transaction { transaction in
        try transaction.set(number, forKey: "user")
        try transaction.set(number, forKey: "password")
      }
    }
    try await watched.wait { $0.last == "20 20" }
    let seen = watched.all.map { $0.split(separator: " ") }
    #expect(seen.allSatisfy { $0.count == 2 && $0[0] == $0[1] })
    #expect(Set(watched.all).count == watched.all.count, "each once")
    task.cancel()
    try await task.value
  }

  @Test func aSnapshotDoesNotChange() throws {
    settings["key"] = 1
    let snapshot = PreferencesProvider(settings).snapshot()
    settings["key"] = 2
    settings["new"] = 1
    #expect(try snapshot.value(forKey: "key", type: .int).value?.content == .int(1))
    #expect(try snapshot.value(forKey: "new", type: .int).value == nil)
  }

  @Test func aFileThatCannotBeReadIsAnError() throws {
    try Data("no database".utf8).write(to: URL(filePath: folder.path + "/test.preferences"))
    let provider = PreferencesProvider(settings)
    #expect(throws: PreferencesError.self) { try provider.value(forKey: "key", type: .int) }
    #expect(throws: PreferencesError.self) {
      try provider.snapshot().value(forKey: "key", type: .int)
    }
    #expect(throws: PreferencesError.self) {
      try ConfigReader(provider: provider).requiredInt(forKey: "key")
    }
  }

  @Test func specifierMarksSecrets() throws {
    settings["public"] = "seen"
    settings["private"] = "ypsilon"
    let specific = PreferencesProvider(settings, secretsSpecifier: .specific(["private"]))
    let dynamic = PreferencesProvider(
      settings, secretsSpecifier: .dynamic { key, value in value == .string("ypsilon") })
    for provider in [specific, dynamic] {
      #expect(try provider.value(forKey: "private", type: .string).value?.isSecret == true)
      #expect(try provider.value(forKey: "public", type: .string).value?.isSecret == false)
      let reports = Reports()
      let config = ConfigReader(provider: provider, accessReporter: reports)
      _ = config.string(forKey: "private")
      _ = config.snapshot().string(forKey: "private")
      _ = config.string(forKey: "public")
      #expect(reports.all.count == 3 && reports.all.filter { $0.contains("ypsilon") } == [])
      #expect(reports.all.contains { $0.contains("seen") })
    }
  }

  @Test func theNameIsThatOfTheSuite() {
    #expect(PreferencesProvider(settings).providerName == "PreferencesProvider[test]")
    #expect(PreferencesProvider(settings, name: "file").providerName == "PreferencesProvider[file]")
  }
}

/// A folder for preferences, which is removed with this object.
final class PreferencesFolder: Sendable {
  let path = NSTemporaryDirectory() + "configuration-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Returns new preferences, like those of another program.
  func preferences(_ suite: String = "test") -> DurablePreferences {
    DurablePreferences(suiteName: suite, folder: path)
  }
}
#endif
