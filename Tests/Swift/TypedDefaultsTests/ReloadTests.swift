internal import Foundation
internal import Prephirences
internal import PrephirencesDurable
internal import Testing
internal import TypedDefaults

/// Values in a file, read by another store.
@Suite("Files")
final class ReloadTests {
  private let home = NSTemporaryDirectory() + "typed-\(UUID().uuidString)"
  private let preferences: DurablePreferences

  init() throws {
    try FileManager.default.createDirectory(
      atPath: home + "/one", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    preferences = DurablePreferences(suiteName: "typed", folder: home + "/one")
  }

  deinit { try? FileManager.default.removeItem(atPath: home) }

  /// Returns the preferences in a copy of the file: a process has one cache for each file.
  private func reloaded() throws -> DurablePreferences {
    try FileManager.default.copyItem(atPath: home + "/one", toPath: home + "/two")
    return DurablePreferences(suiteName: "typed", folder: home + "/two")
  }

  @Test func valuesComeBackAsTheyWere() throws {
    let store = PersistentStore<Settings>(preferences: preferences)
    var settings = Settings()
    settings.address = URL(string: "b?c", relativeTo: URL(string: "https://swift.org/a/"))
    try store.save(settings)
    #expect(store.synchronize())
    let copy = try reloaded()
    #expect(try PersistentStore<Settings>(preferences: copy).load() == settings)
    #expect(copy.dictionary(forKey: "settings")?["port"] as? Int == 8080)
  }

  @Test func handWrittenTypesComeBack() throws {
    var config = try #require(CameraConfig([:] as [String: Any]))
    config.size = .small
    config.saveToCameraRoll = false
    PersistentStore<CameraConfig>(preferences: preferences).set(config)
    #expect(try PersistentStore<CameraConfig>(preferences: reloaded()).get() == config)
  }

  @Test func damagedFileIsNotAbsent() throws {
    let store = PersistentStore<CameraConfig>(preferences: preferences)
    store.set(try #require(CameraConfig([:] as [String: Any])))
    let copy = home + "/two"
    try FileManager.default.copyItem(atPath: home + "/one", toPath: copy)
    for name in try FileManager.default.contentsOfDirectory(atPath: copy)
    where name.hasSuffix(".preferences") {
      let file = try FileHandle(forWritingTo: URL(filePath: "\(copy)/\(name)"))
      try file.write(contentsOf: Data(repeating: 0xff, count: 4096))
      try file.close()
    }
    let damaged = PersistentStore<CameraConfig>(
      preferences: DurablePreferences(suiteName: "typed", folder: copy))
    #expect(throws: PreferencesError.self) { try damaged.load() }
    #expect(damaged.get() == nil)
    #expect(damaged.lastError != nil)
  }

  @Test func invalidSuiteIsReported() {
    let store = PersistentStore<CameraConfig>(suiteName: "a/b")
    #expect(store.get() == nil)
    #expect(store.lastError?.code == .invalidName)
    #expect(throws: PreferencesError.self) { try store.load() }
  }
}
