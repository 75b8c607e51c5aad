#if ConfigurationSupport
import Configuration
import ConfigurationKeychain
import ConfigurationTesting
import Foundation
import KeychainVaultTesting
import Testing

@Suite("Keychain provider", .timeLimit(.minutes(2)))
struct KeychainProviderTests {
  private let vault: TestVault

  init() throws { vault = try TestVault() }

  private func provider(
    _ keys: [AbsoluteConfigKey] = ["api.token"], of handle: Vault? = nil,
    allowingExpired: Bool = false
  ) async throws -> KeychainProvider {
    try await KeychainProvider(
      service: "test", keys: keys, vault: handle ?? vault.handle(), allowingExpired: allowingExpired
    )
  }

  private func code(_ body: () throws -> Void) -> KeychainError.Code? {
    do { try body() } catch { return (error as? KeychainError)?.code }
    return nil
  }

  @Test func fulfilsTheContractOfProviders() async throws {
    let texts = compatibleTexts.merging(["bytes": "magic", "other.bytes": "magic2"]) { $1 }
    for (key, text) in texts { try vault.handle().put(key, text) }
    let provider = try await provider(texts.keys.map { AbsoluteConfigKey(ConfigKey($0)) })
    try await ProviderCompatTest(provider: provider).runTest()
  }

  @Test func collectionsOfKeychainPreferencesAreArrays() async throws {
    let keychain = KeychainPreferences(service: "test", store: vault.handle())
    try keychain.set(["a, b", "c"], for: "names")
    try keychain.set([1, 2], for: "numbers")
    try keychain.set([Data([1]), Data([2, 3])], for: "chunks")
    try keychain.set(Data([0xFF, 0]), for: "data")
    try keychain.set(8080, for: "port")
    let provider = try await provider(["names", "numbers", "chunks", "data", "port"])
    let value = { (key: AbsoluteConfigKey, type: ConfigType) in
      try provider.value(forKey: key, type: type).value?.content
    }
    #expect(try value("names", .stringArray) == .stringArray(["a, b", "c"]))
    #expect(try value("numbers", .intArray) == .intArray([1, 2]))
    #expect(try value("chunks", .byteChunkArray) == .byteChunkArray([[1], [2, 3]]))
    #expect(try value("data", .bytes) == .bytes([0xFF, 0]))
    #expect(code { _ = try value("data", .string) } == .undecodable)
    #expect(try value("port", .int) == .int(8080))
    #expect(try value("port", .double) == .double(8080))
    #expect(try value("port", .string) == .string("8080"))
  }

  @Test func theEncodedKeyIsTheReferenceOfTheSecret() async throws {
    let provider = try await provider([["a b", "c/d"]])
    let result = try provider.value(forKey: ["a b", "c/d"], type: .string)
    #expect(result.encodedKey == "keychain://test/a%20b.c%2Fd" && result.value == nil)
    let reference = try CredentialReference(result.encodedKey)
    #expect(reference == CredentialReference(.test("a b.c/d")))
  }

  @Test func everyValueIsSecret() async throws {
    try vault.handle().put("api.token", "42")
    let provider = try await provider()
    for type in [ConfigType.string, .int, .double, .bytes, .stringArray] {
      #expect(try provider.value(forKey: "api.token", type: type).value?.isSecret == true)
      #expect(
        try provider.snapshot().value(forKey: "api.token", type: type).value?.isSecret == true)
      #expect(
        try await provider.fetchValue(forKey: "api.token", type: type).value?.isSecret == true)
    }
  }

  @Test func noPrintedFormHasTheSecret() async throws {
    try vault.handle(passphrase: "zet-passphrase").put("api.token", "ypsilon-secret")
    let provider = try await provider(of: vault.handle(passphrase: "zet-passphrase"))
    let reports = Reports()
    let config = ConfigReader(provider: provider, accessReporter: reports)
    #expect(config.string(forKey: "api.token") == "ypsilon-secret")
    #expect(config.int(forKey: "api.token") == nil)
    #expect(config.snapshot().string(forKey: "api.token") == "ypsilon-secret")
    #expect(try await config.fetchString(forKey: "api.token") == "ypsilon-secret")
    let snapshot = provider.snapshot()
    var printed = reports.all + [dumped(provider), dumped(snapshot)]
    for value in [provider, snapshot, try snapshot.value(forKey: "api.token", type: .string)]
      as [Any]
    {
      printed += ["\(value)", String(reflecting: value)]
    }
    for type in [ConfigType.int, .double, .bool, .byteChunkArray, .intArray] {
      do {
        _ = try provider.value(forKey: "api.token", type: type)
        Issue.record("no error for \(type)")
      } catch {
        printed += [
          "\(error)", String(reflecting: error), error.localizedDescription, dumped(error),
        ]
        #expect("\(error)".contains("api.token") && "\(error)".contains(type.rawValue))
      }
    }
    #expect(reports.all.count == 4)
    #expect(printed.filter { $0.contains("ypsilon") || $0.contains("zet-") } == [])
  }

  @Test func onlySnapshotsTouchTheVaultForOtherKeys() async throws {
    let opener = Opener()
    try opener.handle(of: vault).put("api.token")
    let handle = opener.handle(of: vault)
    let keychain = try await provider(of: handle)
    opener.set(.refuses)
    try handle.lock(all: true)
    let asked = opener.askedCount
    let below = InMemoryProvider(values: ["http.port": 8080, "api.token": "not this one"])
    let config = ConfigReader(providers: [keychain, below])
    #expect(try config.requiredInt(forKey: "http.port") == 8080)
    #expect(try await config.fetchInt(forKey: "http.port") == 8080)
    #expect(config.snapshot().int(forKey: "http.port") == 8080)
    #expect(opener.askedCount == asked + 1, "a snapshot reads the declared keys")
    // The provider below must not answer for a locked one.
    #expect(code { _ = try config.requiredString(forKey: "api.token") } == .locked)
    await #expect(throws: KeychainError.self) { try await config.fetchString(forKey: "api.token") }
    #expect(config.string(forKey: "api.token") == nil)
  }

  @Test func aLockedVaultIsAnErrorAndOpensAgain() async throws {
    let opener = Opener()
    try opener.handle(of: vault).put("api.token", "one")
    let handle = opener.handle(of: vault)
    let provider = try await provider(of: handle)
    opener.set(.refuses)
    try handle.lock(all: true)
    #expect(code { _ = try provider.value(forKey: "api.token", type: .string) } == .locked)
    let snapshot = provider.snapshot()
    #expect(told(Result { try snapshot.value(forKey: "api.token", type: .string) }) == "[locked]")
    opener.set(.opens)
    #expect(
      told(Result.success(try await provider.fetchValue(forKey: "api.token", type: .string)))
        == "one")
    #expect(told(Result { try provider.value(forKey: "api.token", type: .string) }) == "one")
    // A snapshot does not change.
    #expect(told(Result { try snapshot.value(forKey: "api.token", type: .string) }) == "[locked]")
  }

  @Test func slowWrongPassphraseIsReported() async throws {
    let opener = Opener()
    try opener.handle(of: vault).put("api.token", "one")
    let handle = opener.handle(of: vault)
    let provider = try await provider(of: handle)
    opener.set(.refusesSlowly)
    try handle.lock(all: true)
    #expect(code { _ = try provider.value(forKey: "api.token", type: .string) } == .busy)
    let end = ContinuousClock.now + .seconds(10)
    while code({ _ = try provider.value(forKey: "api.token", type: .string) }) == .busy, .now < end
    {
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(code { _ = try provider.value(forKey: "api.token", type: .string) } == .locked)
  }

  @Test func aSnapshotOfAnUnlockedVaultAsksForWhatItNeeds() async throws {
    // The kernel's keyring keeps the keys of some items longer than those of others.
    let passphrase = try vault.file("passphrase", TestVault.passphrase)
    let environment = ["KEYCHAIN_PASSPHRASE_FILE": passphrase]
    let handle = vault.handle(environment: environment)
    try handle.put("locked", "one")
    try handle.put("first", "two", .afterFirstUnlock)
    let provider = try await provider(["locked", "first"], of: handle)
    // What the snapshots have until it is no longer busy.
    func outcome() async throws -> String {
      let end = ContinuousClock.now + .seconds(20)
      while true {
        let snapshot = provider.snapshot()
        #expect(told(Result { try snapshot.value(forKey: "first", type: .string) }) == "two")
        let text = told(Result { try snapshot.value(forKey: "locked", type: .string) })
        guard text == "[busy]", .now < end else { return text }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    try handle.lock()
    #expect(try await outcome() == "one")
    try Data("wrong".utf8).write(to: URL(filePath: passphrase))
    try handle.lock()
    #expect(try await outcome() == "[incorrectSecret]")
  }

  @Test func aVaultThatNothingOpensFailsAtOnce() async throws {
    let opener = Opener()
    try opener.handle(of: vault).put("api.token", "one")
    opener.set(.refuses)
    let error = await #expect(throws: KeychainError.self) {
      try await provider(of: opener.handle(of: vault))
    }
    #expect(error?.code == .locked)
  }

  @Test func aMissingVaultIsWithoutValues() async throws {
    let provider = try await provider()
    #expect(try provider.value(forKey: "api.token", type: .string).value == nil)
    #expect(try provider.snapshot().value(forKey: "api.token", type: .string).value == nil)
    try vault.handle().put("api.token", "now")
    #expect(told(Result { try provider.value(forKey: "api.token", type: .string) }) == "now")
  }

  @Test func aDamagedVaultIsAnError() async throws {
    try vault.handle().put("api.token", String(repeating: "x", count: 300))
    let provider = try await provider()
    var bytes = try Data(contentsOf: URL(filePath: vault.path))
    for index in bytes.indices.suffix(200) { bytes[index] ^= 0xFF }
    try bytes.write(to: URL(filePath: vault.path))
    for result in [
      Result { try provider.value(forKey: "api.token", type: .string) },
      Result { try provider.snapshot().value(forKey: "api.token", type: .string) },
    ] {
      #expect(["[damaged]", "[rolledBack]"].contains(told(result)), "\(told(result))")
    }
  }

  @Test func anExpiredCredentialIsAnErrorUnlessAllowed() async throws {
    let keychain = KeychainPreferences(service: "test", store: vault.handle())
    try keychain.set("old", for: "api.token", expires: Date(timeIntervalSinceNow: -5))
    let strict = try await provider()
    #expect(code { _ = try strict.value(forKey: "api.token", type: .string) } == .expired)
    #expect(
      told(Result { try strict.snapshot().value(forKey: "api.token", type: .string) })
        == "[expired]")
    let lenient = try await provider(allowingExpired: true)
    #expect(told(Result { try lenient.value(forKey: "api.token", type: .string) }) == "old")
  }

  @Test func aCallWithoutAwaitWaitsForAMomentOnly() async throws {
    let opener = Opener()
    try opener.handle(of: vault).put("api.token", "one")
    let handle = opener.handle(of: vault)
    let provider = try await provider(of: handle)
    opener.set(.isSlow)
    try handle.lock(all: true)
    let asked = opener.askedCount
    let start = ContinuousClock.now
    for _ in 0..<2 {
      #expect(code { _ = try provider.value(forKey: "api.token", type: .string) } == .busy)
    }
    // Two calls of 100 ms are sooner done than the passphrase is there, unless the machine stalls.
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(try await provider.fetchValue(forKey: "api.token", type: .string).value != nil)
    #expect(told(Result { try provider.value(forKey: "api.token", type: .string) }) == "one")
    #expect(opener.askedCount <= asked + 2, "one attempt serves all callers")
  }

  @Test func aCancelledFetchReadsNothing() async throws {
    try vault.handle().put("api.token", "one")
    let provider = try await provider()
    let task = Task {
      try? await Task.sleep(for: .seconds(60))
      return try await provider.fetchValue(forKey: "api.token", type: .string)
    }
    task.cancel()
    let error = await #expect(throws: KeychainError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test func keysCompareAsBytesAndAreNotEmpty() async throws {
    try vault.handle().put("caf\u{E9}", "composed")
    let provider = try await provider(["caf\u{E9}", "caf\u{E9}"])
    #expect(provider.description == "KeychainProvider[test][1 keys]")
    #expect(told(Result { try provider.value(forKey: "caf\u{E9}", type: .string) }) == "composed")
    #expect(try provider.value(forKey: "cafe\u{301}", type: .string).value == nil)
    let error = await #expect(throws: KeychainError.self) { try await self.provider([[]]) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func aConfigurationNamesTheVault() async throws {
    let key = try vault.file("key", String(repeating: "k", count: 64))
    let keyed = vault.handle { $0.unlock = .keyFile(key) }
    try keyed.put("api.token", "one")
    let config = ConfigReader(
      provider: InMemoryProvider(values: [
        "secrets.service": "test",
        "secrets.keys": .init(.stringArray(["api.token"]), isSecret: false),
        "secrets.vault": .init(.string(vault.path), isSecret: false),
        "secrets.keyFile": .init(.string(key), isSecret: false),
      ]))
    let provider = try await KeychainProvider(config: config.scoped(to: "secrets"))
    #expect(provider.service == "test" && !provider.allowsExpired)
    #expect(told(Result { try provider.value(forKey: "api.token", type: .string) }) == "one")
    await #expect(throws: (any Error).self) { try await KeychainProvider(config: config) }
  }
}
#endif
