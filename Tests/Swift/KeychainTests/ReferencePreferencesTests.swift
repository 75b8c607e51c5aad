internal import Foundation
internal import Keychain
internal import PrephirencesDurable
internal import PrephirencesSystem
internal import Synchronization
internal import Testing

@Suite("Preferences with references")
struct ReferencePreferencesTests {
  private let folder: TemporaryFolder
  private let store = InMemoryCredentialStore()
  private let durable: DurablePreferences

  init() throws {
    folder = try TemporaryFolder()
    durable = DurablePreferences(suiteName: "settings", folder: folder.path)
    try add("api", "hunter2")
    try add("api", "of another program", service: "other")
    durable["token"] = "keychain:///api"
    durable["port"] = 8080
  }

  private func add(_ account: String, _ secret: String, service: String = "mytool") throws {
    try store.set(
      Credential(.genericPassword(service: service, account: account), label: "A label"),
      secret: SecretBytes(copying: secret))
  }

  private func settings(
    _ preferences: (any PreferencesType)? = nil, keys: [String] = ["token"],
    alsoFrom others: [String] = [], accessGroups: [String] = [""]
  ) -> ReferencePreferences {
    ReferencePreferences(
      preferences ?? durable, resolving: keys, service: "mytool", alsoFrom: others,
      accessGroups: accessGroups, store: store)
  }

  private func code(
    _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) -> KeychainError.Code? {
    (#expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() })?.code
  }

  @Test func aReferenceIsResolvedWhereverItIsRead() throws {
    let settings = settings()
    #expect(try settings.string(for: "token") == "hunter2")
    #expect(try settings.data(for: "token") == Data("hunter2".utf8))
    #expect(try settings.value(for: "token") as? String == "hunter2")
    #expect(try settings.secret(for: "token")?.count == 7)
    #expect(settings["token"] as? String == "hunter2")
    #expect(settings.token as? String == "hunter2")
    #expect(settings.string(forKey: "token") == "hunter2")
    #expect(settings.data(forKey: "token") == Data("hunter2".utf8))
    let wrapped: Preference<String> = settings.preference(forKey: "token")
    #expect(wrapped.value == "hunter2")
    durable["token"] = "keychain:///api?field=label"
    #expect(settings.string(forKey: "token") == "A label")
    durable["token"] = "keychain:///absent?optional"
    #expect(try settings.string(for: "token") == "")
    #expect(settings.lastError == nil)
  }

  /// Composites and proxies have no failing getters; a missing value would become a default.
  @Test func aFailureOfCombinedPreferencesIsNotAMissingValue() throws {
    let path = folder.path + "/damaged.preferences"
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: Data(repeating: 65, count: 4096), attributes: attributes))
    let damaged = DurablePreferences(suiteName: "damaged", folder: folder.path)
    let defaults = DictionaryPreferences(dictionary: ["token": "default"])
    let composite = CompositePreferences([damaged, defaults])
    for preferences: any PreferencesType in [
      composite, CompositePreferences([composite]),
      ProxyPreferences(preferences: composite, key: ""),
    ] {
      let settings = settings(preferences)
      #expect(throws: (any Error).self) { try settings.string(for: "token") }
      #expect(throws: (any Error).self) { _ = try settings.secret(for: "token") }
      #expect(throws: (any Error).self) { try settings.value(for: "token") }
      #expect(settings["token"] == nil && settings.lastError != nil)
    }
  }

  @Test func aResolvedTextIsConverted() throws {
    try add("api", "42")
    let settings = settings()
    #expect(settings.integer(forKey: "token") == 42)
    #expect(settings.double(forKey: "token") == 42)
    #expect(settings.float(forKey: "token") == 42)
    #expect(settings.bool(forKey: "token"))
    try add("api", "https://example.com/")
    #expect(settings.url(forKey: "token")?.host == "example.com")
    #expect(settings.array(forKey: "token") == nil && settings.stringArray(forKey: "token") == nil)
  }

  @Test func otherValuesAreReturnedAsTheyAre() throws {
    durable["list"] = ["keychain:///api"]
    durable["other"] = "keychain:///api"
    let settings = settings(keys: ["token", "list", "plain", "to\u{301}ken"])
    #expect(settings.integer(forKey: "port") == 8080)
    #expect(try settings.value(for: "port") as? Int == 8080)
    #expect(settings.stringArray(forKey: "list") == ["keychain:///api"])
    #expect(try settings.string(for: "other") == "keychain:///api")
    durable["plain"] = "keychainless"
    #expect(try settings.string(for: "plain") == "keychainless")
    #expect(try settings.string(for: "absent") == nil)
    #expect(settings.hasObject(forKey: "token") && !settings.hasObject(forKey: "absent"))
    // Keys are compared as bytes.
    durable["t\u{F3}ken"] = "keychain:///api"
    #expect(try settings.string(for: "t\u{F3}ken") == "keychain:///api")
  }

  @Test func aFailureIsAnErrorAndNeverAnEmptyValue() throws {
    let settings = settings()
    durable["token"] = "keychain:///absent"
    #expect(code { _ = try settings.string(for: "token") } == .notFound)
    #expect(settings.string(forKey: "token") == nil && settings["token"] == nil)
    #expect((settings.lastError as? KeychainError)?.code == .notFound)
    #expect(settings.data(forKey: "token") == nil && settings.integer(forKey: "token") == 0)
    durable["token"] = "keychain://hunter2"
    #expect(code { _ = try settings.value(for: "token") } == .invalidArgument)
    #expect(!String(reflecting: settings.lastError).contains("hunter2"))
    durable["token"] = "keychain:///api"
    store.lock()
    #expect(code { _ = try settings.secret(for: "token") } == .locked)
    store.unlock()
    #expect(settings.string(forKey: "token") == "hunter2" && settings.lastError == nil)
    let identity = CredentialIdentity.genericPassword(service: "mytool", account: "api")
    try store.update(identity, with: CredentialUpdate(expires: .set(.distantPast)))
    #expect(code { _ = try settings.data(for: "token") } == .expired)
  }

  @Test func binarySecretIsData() throws {
    let identity = CredentialIdentity.genericPassword(service: "mytool", account: "api")
    try store.set(Credential(identity), secret: SecretBytes(copying: Data([0xFF, 0]).bytes))
    let settings = settings()
    #expect(code { _ = try settings.string(for: "token") } == .undecodable)
    #expect(settings.string(forKey: "token") == nil && settings.lastError != nil)
    #expect(settings["token"] as? Data == Data([0xFF, 0]))
    #expect(settings.data(forKey: "token") == Data([0xFF, 0]))
  }

  @Test func onlyDeclaredServicesAndGroupsAreResolved() throws {
    durable["token"] = "keychain://other/api"
    #expect(code { _ = try settings().string(for: "token") } == .refused)
    #expect(try settings(alsoFrom: ["other"]).string(for: "token") == "of another program")
    durable["token"] = "keychain+https://host"
    #expect(code { _ = try settings().string(for: "token") } == .refused)
    #expect(code { _ = try settings(alsoFrom: ["HOST"]).string(for: "token") } == .notFound)
    durable["token"] = "keychain:///api?group=team"
    #expect(code { _ = try settings().string(for: "token") } == .refused)
    #expect(
      code { _ = try settings(accessGroups: ["team"]).string(for: "token") } == .notFound)
    durable["token"] = "keychain:///api"
    #expect(code { _ = try settings(accessGroups: ["team"]).string(for: "token") } == .refused)
    durable["token"] = "keychain://mytool/api"
    #expect(try settings().string(for: "token") == "hunter2")
  }

  @Test func onlyTheUsersOwnValuesAreResolved() throws {
    let text = "keychain:///api"
    let foreign: [any PreferencesType] = [
      MutableDictionaryPreferences(dictionary: ["token": text]),
      DictionaryPreferences(dictionary: ["token": text]),
      ArgumentPreferences(["--token=\(text)"]),
      Plist(["token": text], filePath: nil),
    ]
    for preferences in foreign {
      for combined in [
        preferences, CompositePreferences([preferences, durable]),
        MutableCompositePreferences([preferences, durable]),
        ProxyPreferences(preferences: preferences),
        CompositePreferences([CompositePreferences([preferences]), durable]),
      ] {
        let settings = settings(combined)
        #expect(code { _ = try settings.string(for: "token") } == .refused)
        #expect(settings["token"] == nil, "\(type(of: preferences))")
        #expect((settings.lastError as? KeychainError)?.code == .refused)
      }
      // A value that hides nothing doesn't matter.
      let behind = settings(CompositePreferences([durable, preferences]))
      #expect(try behind.string(for: "token") == "hunter2")
    }
    // Plain values may come from anywhere.
    let plain = DictionaryPreferences(dictionary: ["token": "plain"])
    #expect(try settings(CompositePreferences([plain, durable])).string(for: "token") == "plain")
  }

  @Test func valuesOfASharedFileAreNotOwn() throws {
    #expect(try settings().string(for: "token") == "hunter2")
    try SharedReplica(durable).share(SharingSettings())
    // Another process, with a connection of its own, opens it as a plain file.
    let other = DurablePreferences(
      suiteName: "settings", folder: folder.path, timeout: .seconds(11))
    for preferences in [durable, other] {
      #expect(code { _ = try settings(preferences).string(for: "token") } == .refused)
    }
    #expect(durable.integer(forKey: "port") == 8080)
  }

  @Test func proxiesAndCompositesOfOwnValuesAreResolved() throws {
    durable["server.token"] = "keychain:///api"
    let proxy = MutableProxyPreferences(preferences: durable, key: "server", separator: ".")
    #expect(try settings(proxy).string(for: "token") == "hunter2")
    let nothing = MutableDictionaryPreferences()
    #expect(
      try settings(MutableCompositePreferences([nothing, durable])).string(for: "token")
        == "hunter2")
    let own: OwnDictionary = ["token": "keychain:///api"]
    #expect(try settings(own).string(for: "token") == "hunter2")
    // Inside a composite, other members are not resolved at all.
    let inside = CompositePreferences([
      DictionaryPreferences(dictionary: ["x": "keychain:///api"]), settings(),
    ])
    #expect(inside.string(forKey: "token") == "hunter2")
    #expect(inside.string(forKey: "x") == "keychain:///api")
  }

  @Test func noSecretGetsIntoThePreferences() throws {
    let settings = settings()
    settings["token"] = "hunter3"
    #expect((settings.lastError as? KeychainError)?.code == .refused)
    #expect(durable["token"] as? String == "keychain:///api")
    settings.set(3, forKey: "token")
    settings.set(objectToArchive: "hunter3", forKey: "token")
    settings.set(dictionary: ["token": "hunter3", "port": 1])
    settings.token = settings.token
    #expect(
      code {
        try settings.storeObjects([("port", 1), ("token", Data("hunter3".utf8))])
      } == .refused)
    #expect(durable["token"] as? String == "keychain:///api")
    #expect(durable.integer(forKey: "port") == 8080)
    #expect(!String(reflecting: settings.lastError).contains("hunter3"))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    for file in files {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + file))
      #expect(bytes.range(of: Data("hunter".utf8)) == nil)
    }
  }

  @Test func aReferenceCanBeWrittenAndRemoved() throws {
    try add("second", "two")
    let settings = settings()
    settings["token"] = "keychain:///second"
    #expect(settings.lastError == nil && settings.string(forKey: "token") == "two")
    settings["port"] = 1
    #expect(durable.integer(forKey: "port") == 1)
    settings["token"] = "keychain://other/api"
    #expect((settings.lastError as? KeychainError)?.code == .refused)
    settings["token"] = nil
    #expect(settings["token"] == nil && settings.lastError == nil && durable["token"] == nil)
    try settings.removeAllObjects()
    #expect(durable.dictionary().isEmpty)
    #expect(try store.search(CredentialQuery()).credentials.count == 3)
    let readOnly = self.settings(DictionaryPreferences(dictionary: [:]))
    readOnly["port"] = 1
    #expect((readOnly.lastError as? KeychainError)?.code == .refused)
  }

  @Test func listsAndObserversShowTheReference() async throws {
    let settings = settings()
    #expect(settings.dictionary()["token"] as? String == "keychain:///api")
    #expect(try settings.fetchDictionary()["token"] as? String == "keychain:///api")
    let seen = Mutex<[String?]>([])
    let observation = settings.observe(forKey: "token", initial: true) { change in
      seen.withLock { $0.append(change.newValue as? String) }
    }
    settings["token"] = "keychain:///other"
    observation.cancel()
    #expect(seen.withLock(\.self) == ["keychain:///api", "keychain:///other"])
  }

  @Test func theErrorOfThePreferencesIsPassedOn() throws {
    let broken = DurablePreferences(suiteName: "../x")
    let settings = settings(broken)
    #expect(throws: PreferencesError.self) { try settings.string(for: "token") }
    #expect(settings["token"] == nil && settings.lastError is PreferencesError)
  }

  @Test func manyThreadsCanUseIt() async throws {
    let settings = settings()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<50 {
            settings["token"] = round % 2 == 0 ? "keychain:///api" : "keychain:///api?field=label"
            #expect(["hunter2", "A label", nil].contains(settings.string(forKey: "token")))
            settings["k\(task)"] = round
            #expect(settings.integer(forKey: "k\(task)") == round)
          }
        }
      }
    }
  }
}

/// A store whose program trusts it.
private final class OwnDictionary: MutableDictionaryPreferences, OwnValuePreferences,
  @unchecked Sendable
{}

/// A folder that is removed with its test.
private final class TemporaryFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/references-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
