#if ConfigurationSupport
import Configuration
import ConfigurationKeychain
import ConfigurationPreferences
import ConfigurationTesting
import Foundation
import KeychainVaultTesting
import PreferencesShared
import Prephirences
import PrephirencesSystem
import Testing

@Suite("References in a configuration", .timeLimit(.minutes(2)))
struct KeychainReferenceTests {
  private let vault: TestVault
  private let folder: PreferencesFolder

  init() throws {
    vault = try TestVault()
    folder = try PreferencesFolder()
    try vault.handle().put("db", "the password")
    try vault.handle().put("port", "5432")
  }

  private func resolving(
    _ values: [AbsoluteConfigKey: ConfigValue], services: [String] = ["test"]
  ) -> KeychainReferenceProvider<InMemoryProvider> {
    InMemoryProvider(values: values).resolvingKeychainReferences(
      keys: ["password", "port"], services: services, vault: vault.handle())
  }

  /// What each access returns for a key, as text.
  private func ways(
    _ provider: some ConfigProvider, _ key: AbsoluteConfigKey, _ type: ConfigType = .string
  ) async throws -> Set<String> {
    var fetched: Result<LookupResult, any Error>
    do {
      fetched = .success(try await provider.fetchValue(forKey: key, type: type))
    } catch {
      fetched = .failure(error)
    }
    let watched = try await provider.watching(key, as: type) { watched in
      try await watched.wait { !$0.isEmpty }
      return watched.all
    }
    let snapshots = try await provider.watchSnapshot { updates in
      for await snapshot in updates {
        return [told(Result { try snapshot.value(forKey: key, type: type) })]
      }
      return []
    }
    return Set(
      [
        told(Result { try provider.value(forKey: key, type: type) }), told(fetched),
        told(Result { try provider.snapshot().value(forKey: key, type: type) }),
      ] + watched + snapshots)
  }

  @Test func declaredKeysAreResolvedAndSecret() async throws {
    let provider = resolving([
      "password": "keychain://test/db", "port": "keychain://test/port",
      "other": "keychain://test/db",
    ])
    #expect(try await ways(provider, "password") == ["the password"])
    #expect(try await ways(provider, "port", .int) == ["int(5432)"])
    #expect(try await ways(provider, "other") == ["keychain://test/db"])
    #expect(try provider.value(forKey: "password", type: .string).value?.isSecret == true)
    #expect(try provider.snapshot().value(forKey: "password", type: .bytes).value?.isSecret == true)
    let dump = dumped(provider.snapshot()) + dumped(provider)
    #expect(!dump.contains("the password"))
  }

  @Test func otherValuesOfDeclaredKeysStay() async throws {
    let provider = resolving(["password": "plain", "port": 8080])
    #expect(try await ways(provider, "password") == ["plain"])
    #expect(try await ways(provider, "port", .int) == ["int(8080)"])
    #expect(try await ways(resolving([:]), "password") == ["nil"])
  }

  @Test(arguments: [
    ("keychain://test/absent", "[notFound]"), ("keychain://other/db", "[refused]"),
    ("keychain:///db", "[refused]"), ("keychain://test/db?group=g", "[refused]"),
    ("keychain://test", "[invalidArgument]"), ("KEYCHAIN:nonsense", "[invalidArgument]"),
    ("keychain+https://example.com", "[refused]"), ("keychain://test/absent?optional", ""),
  ])
  func disallowedServiceIsAnError(_ text: String, _ outcome: String) async throws {
    let provider = resolving(["password": ConfigValue(.string(text), isSecret: false)])
    #expect(try await ways(provider, "password") == [outcome])
    if outcome != "" { #expect(!(try await ways(provider, "password", .int)).contains("nil")) }
  }

  @Test func noServiceIsAllowedUnlessTheProgramSaysSo() async throws {
    let provider = resolving(["password": "keychain://test/db"], services: [])
    #expect(try await ways(provider, "password") == ["[refused]"])
  }

  @Test func anExpiredTargetIsAnError() async throws {
    let keychain = KeychainPreferences(service: "test", store: vault.handle())
    try keychain.set("old", for: "db", expires: Date(timeIntervalSinceNow: -1))
    #expect(
      try await ways(resolving(["password": "keychain://test/db"]), "password") == ["[expired]"])
  }

  @Test func ownPreferencesAreResolved() async throws {
    let settings = folder.preferences()
    settings["password"] = "keychain://test/db"
    let provider = PreferencesProvider(settings).resolvingKeychainReferences(
      keys: ["password"], services: ["test"], vault: vault.handle())
    #expect(try await ways(provider, "password") == ["the password"])
    settings["db.password"] = "keychain://test/db"
    let prefixed = PreferencesProvider(settings).prefixKeys(with: "db").resolvingKeychainReferences(
      keys: ["password"], services: ["test"], vault: vault.handle())
    #expect(try await ways(prefixed, "password") == ["the password"])
  }

  @Test func preferencesOfOthersAreRefused() async throws {
    let environment = EnvironmentVariables(["HOME": folder.path, "XDG_CONFIG_HOME": folder.path])
    let shared = SharedPreferences(
      suiteName: "fleet", folder: folder.path, environment: environment, conflicts: nil)
    let values = ["password": "keychain://test/db", "db.password": "keychain://test/db"]
    try shared.storeObjects(values)
    let memory = DictionaryPreferences(dictionary: values)
    for provider in [PreferencesProvider(shared), PreferencesProvider(memory)] {
      let direct = provider.resolvingKeychainReferences(
        keys: ["password"], services: ["test"], vault: vault.handle())
      #expect(try await ways(direct, "password") == ["[insecure]"])
      #expect(try await ways(direct, "password", .stringArray) == ["[insecure]"])
      let mapped = provider.prefixKeys(with: "db").resolvingKeychainReferences(
        keys: ["password"], services: ["test"], vault: vault.handle())
      #expect(try await ways(mapped, "password") == ["[insecure]"])
    }
  }

  @Test func aChangeOfEitherIsSeen() async throws {
    let upstream = MutableInMemoryProvider(initialValues: ["password": "keychain://test/db"])
    let provider = upstream.resolvingKeychainReferences(
      keys: ["password"], services: ["test"], vault: vault.handle())
    let snapshots = Watched<String>()
    let task = Task {
      try await provider.watchSnapshot { updates in
        for await snapshot in updates {
          snapshots.append(told(Result { try snapshot.value(forKey: "password", type: .string) }))
        }
      }
    }
    try await snapshots.wait { $0 == ["the password"] }
    try await provider.watching("password") { watched in
      try await watched.wait { $0 == ["the password"] }
      try vault.handle().put("db", "a new one")
      try await watched.wait { $0.last == "a new one" }
      try await snapshots.wait { $0.last == "a new one" }
      upstream.setValue("keychain://test/port", forKey: "password")
      try await watched.wait { $0.last == "5432" }
      try await snapshots.wait { $0.last == "5432" }
      upstream.setValue("plain", forKey: "password")
      try await watched.wait { $0.last == "plain" }
      try vault.handle().remove(.test("port"))
      upstream.setValue("keychain://test/port", forKey: "password")
      try await watched.wait { $0.last == "[notFound]" }
      #expect(watched.all == ["the password", "a new one", "5432", "plain", "[notFound]"])
    }
    task.cancel()
    try await task.value
  }

  @Test func aURLThatIsAReferenceIsRefused() async throws {
    let url = try #require(URL(string: "keychain://test/db"))
    let memory = DictionaryPreferences(dictionary: ["password": url])
    let provider = PreferencesProvider(memory).resolvingKeychainReferences(
      keys: ["password"], services: ["test"], vault: vault.handle())
    #expect(try await ways(provider, "password") == ["[insecure]"])
    let settings = folder.preferences()
    settings["password"] = url
    let own = PreferencesProvider(settings).resolvingKeychainReferences(
      keys: ["password"], services: ["test"], vault: vault.handle())
    #expect(try await ways(own, "password") == ["the password"])
  }

  @Test func anotherContextIsAnotherReference() async throws {
    let plain = AbsoluteConfigKey(["password"])
    let staging = AbsoluteConfigKey(["password"], context: ["stage": "test"])
    let provider = resolving([plain: "keychain://test/db", staging: "keychain://test/port"])
    #expect(told(Result { try provider.value(forKey: staging, type: .string) }) == "5432")
    let snapshot = provider.snapshot()
    #expect(told(Result { try snapshot.value(forKey: plain, type: .string) }) == "the password")
    #expect(told(Result { try snapshot.value(forKey: staging, type: .string) }) == "[refused]")
  }

  @Test func changesOfOtherTypesAreSeen() async throws {
    let settings = folder.preferences()
    settings["port"] = [1, 2]
    let provider = PreferencesProvider(settings).resolvingKeychainReferences(
      keys: ["port"], services: ["test"], vault: vault.handle())
    try await provider.watching("port", as: .intArray) { watched in
      try await watched.wait { $0 == ["intArray([1, 2])"] }
      settings["port"] = [3, 4]
      try await watched.wait { $0 == ["intArray([1, 2])", "intArray([3, 4])"] }
    }
  }

  @Test func aSnapshotOfPreferencesDoesNotChange() async throws {
    let settings = folder.preferences()
    settings["password"] = "keychain://test/db"
    let provider = PreferencesProvider(settings).resolvingKeychainReferences(
      keys: ["password"], services: ["test"], vault: vault.handle())
    let snapshot = provider.snapshot()
    let watched = try await provider.watchSnapshot { updates in
      for await snapshot in updates { return Optional(snapshot) }
      return nil
    }
    settings["password"] = "keychain://test/port"
    for snapshot in [snapshot, try #require(watched)] {
      #expect(
        told(Result { try snapshot.value(forKey: "password", type: .string) }) == "the password")
    }
    let new = provider.snapshot()
    #expect(told(Result { try new.value(forKey: "password", type: .string) }) == "5432")
  }

  @Test func oneTransactionIsOneSnapshot() async throws {
    try vault.handle().put("port", "the password")
    let provider = resolving(["password": "keychain://test/db", "port": "keychain://test/port"])
    let seen = Watched<String>()
    let task = Task {
      try await provider.watchSnapshot { updates in
        for await snapshot in updates {
          let texts = ["password", "port"].map { key in
            told(Result { try snapshot.value(forKey: AbsoluteConfigKey([key]), type: .string) })
          }
          seen.append(texts.joined(separator: " = "))
        }
      }
    }
    try await seen.wait { $0.count == 1 }
    for number in 1...20 {
      try vault.handle().withTransaction { transaction in
        for name in ["db", "port"] {
          try transaction.set(Credential(.test(name)), secret: SecretBytes(copying: "\(number)"))
        }
      }
    }
    try await seen.wait { $0.last == "20 = 20" }
    #expect(seen.all.dropFirst().allSatisfy { Set($0.components(separatedBy: " = ")).count == 1 })
    task.cancel()
    try await task.value
  }

  @Test func fulfilsTheContractOfProviders() async throws {
    let texts = compatibleTexts.merging(["bytes": "magic", "other.bytes": "magic2"]) { $1 }
    var references: [AbsoluteConfigKey: ConfigValue] = [:]
    for (key, text) in texts {
      try vault.handle().put(key, text)
      references[AbsoluteConfigKey(ConfigKey(key))] = ConfigValue(
        .string("keychain://test/\(key)"), isSecret: false)
    }
    let provider = InMemoryProvider(values: references).resolvingKeychainReferences(
      keys: Array(references.keys), services: ["test"], vault: vault.handle())
    try await ProviderCompatTest(provider: provider).runTest()
  }

  @Test func aSnapshotWithoutReferencesLeavesTheVaultAlone() throws {
    let opener = Opener()
    opener.set(.refuses)
    let provider = InMemoryProvider(values: ["password": "plain"]).resolvingKeychainReferences(
      keys: ["password"], services: ["test"], vault: opener.handle(of: vault))
    let snapshot = provider.snapshot()
    #expect(told(Result { try snapshot.value(forKey: "password", type: .string) }) == "plain")
    #expect(opener.askedCount == 0)
  }

  @Test func aSnapshotDoesNotChange() throws {
    let snapshot = resolving(["password": "keychain://test/db"]).snapshot()
    try vault.handle().put("db", "a new one")
    #expect(
      told(Result { try snapshot.value(forKey: "password", type: .string) }) == "the password")
  }
}
#endif
