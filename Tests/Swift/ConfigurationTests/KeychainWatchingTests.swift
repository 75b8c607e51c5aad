#if ConfigurationSupport
import Configuration
import ConfigurationKeychain
import Foundation
import KeychainVaultTesting
import Testing

@Suite("Watching the keychain provider", .timeLimit(.minutes(2)))
struct KeychainWatchingTests {
  private let vault: TestVault

  init() throws { vault = try TestVault() }

  private func provider(
    _ keys: [AbsoluteConfigKey] = ["api.token"], of handle: Vault? = nil
  ) async throws -> KeychainProvider {
    try await KeychainProvider(service: "test", keys: keys, vault: handle ?? vault.handle())
  }

  @Test func changesOfOtherHandlesArrive() async throws {
    try vault.handle().put("api.token", "one")
    try await provider().watching("api.token") { watched in
      try await watched.wait { $0 == ["one"] }
      try vault.handle().put("api.token", "two")
      try await watched.wait { $0.last == "two" }
      try vault.handle().remove(.test("api.token"))
      try await watched.wait { $0.last == "nil" }
      try vault.handle().put("api.token", "three")
      try await watched.wait { $0.last == "three" }
      #expect(watched.all == ["one", "two", "nil", "three"])
    }
  }

  @Test func unchangedSecretIsNotReported() async throws {
    try vault.handle().put("api.token", "one")
    let handle = vault.handle()
    try await provider(of: handle).watching("api.token") { watched in
      try await watched.wait { $0 == ["one"] }
      try handle.put("other", "x")
      try handle.put("api.token", "one")
      try handle.update(
        .test("api.token"), with: CredentialUpdate(label: .set("label")), expectedVersion: nil)
      try handle.put("api.token", "two")
      try await watched.wait { $0.last == "two" }
      #expect(watched.all == ["one", "two"])
    }
  }

  @Test func failureIsReportedOncePerTransition() async throws {
    try vault.handle().put("api.token", "1")
    try await provider().watching("api.token", as: .int) { watched in
      try await watched.wait { $0.count == 1 }
      for text in ["x", "y", "z"] {
        try vault.handle().put("api.token", text)
        try await watched.wait { $0.last == "[undecodable]" }
        try await Task.sleep(for: .milliseconds(50))
      }
      try vault.handle().put("api.token", "2")
      try await watched.wait { $0.count > 2 }
      #expect(watched.all.count == 3 && watched.all[1] == "[undecodable]")
    }
  }

  @Test func anExpiryIsAChange() async throws {
    let keychain = KeychainPreferences(service: "test", store: vault.handle())
    try keychain.set("one", for: "api.token", expires: Date(timeIntervalSinceNow: 1))
    try await provider().watching("api.token") { watched in
      try await watched.wait { $0 == ["one", "[expired]"] }
      try keychain.set("two", for: "api.token")
      try await watched.wait { $0 == ["one", "[expired]", "two"] }
    }
  }

  @Test func aVaultThatIsOpenedLaterIsNoticed() async throws {
    let opener = Opener()
    try opener.handle(of: vault).put("api.token", "one")
    let handle = opener.handle(of: vault)
    try await provider(of: handle).watching("api.token") { watched in
      try await watched.wait { $0 == ["one"] }
      opener.set(.refuses)
      try handle.lock(all: true)
      // Nothing reads the vault before its next change.
      let other = Opener()
      try other.handle(of: vault).put("api.token", "two")
      try await watched.wait { $0 == ["one", "[locked]"] }
      opener.set(.opens)
      try await watched.wait { $0 == ["one", "[locked]", "two"] }
    }
  }

  @Test func aVaultWhoseKeysAreGoneIsStillWatched() async throws {
    let key = try vault.file("key", String(repeating: "k", count: 64))
    let open = { vault.handle { $0.unlock = .keyFile(key) } }
    try open().put("api.token", "one")
    let handle = vault.handle {
      $0.unlock = .keyFile(key)
      $0.idleTime = .milliseconds(20)
    }
    try await provider(of: handle).watching("api.token") { watched in
      for text in ["two", "three", "four"] {
        try await Task.sleep(for: .milliseconds(60))
        try open().put("api.token", text)
        try await watched.wait { $0.last == text }
      }
    }
  }

  @Test func aVaultThatIsGoneIsAFailure() async throws {
    try vault.handle().put("api.token", "one")
    try await provider().watching("api.token") { watched in
      var expected = ["one"]
      for _ in 0..<2 {
        try await watched.wait { [expected] in $0 == expected }
        try FileManager.default.moveItem(atPath: vault.path, toPath: vault.path + ".away")
        expected.append("[noStore]")
        try await watched.wait { [expected] in $0 == expected }
        try FileManager.default.moveItem(atPath: vault.path + ".away", toPath: vault.path)
        expected.append("one")
      }
      try await watched.wait { [expected] in $0 == expected }
    }
  }

  @Test func oneTransactionIsOneSnapshot() async throws {
    try vault.handle().put("user", "0")
    try vault.handle().put("password", "0")
    let provider = try await provider(["user", "password"])
    let watched = Watched<String>()
    let task = Task {
      try await provider.watchSnapshot { updates in
        for await snapshot in updates {
          let texts = ["user", "password"].map { key in
            told(Result { try snapshot.value(forKey: AbsoluteConfigKey([key]), type: .string) })
          }
          watched.append(texts.joined(separator: " "))
        }
      }
    }
    try await watched.wait { $0 == ["0 0"] }
    for number in 1...20 {
      try vault.handle().withTransaction { transaction in
        try transaction.set(Credential(.test("user")), secret: SecretBytes(copying: "\(number)"))
        try transaction.set(
          Credential(.test("password")), secret: SecretBytes(copying: "\(number)"))
      }
    }
    try await watched.wait { $0.last == "20 20" }
    #expect(
      watched.all.allSatisfy {
        $0.split(separator: " ").count == 2 && Set($0.split(separator: " ")).count == 1
      })
    #expect(Set(watched.all).count == watched.all.count, "each once")
    task.cancel()
    try await task.value
  }

  @Test func aKeyThatIsNotDeclaredStaysNil() async throws {
    try await provider().watching("http.port") { watched in
      try await watched.wait { $0 == ["nil"] }
      try vault.handle().put("http.port", "8080")
      try await Task.sleep(for: .milliseconds(100))
      #expect(watched.all == ["nil"])
    }
  }

  @Test func theReaderTakesAFailureForTheDefault() async throws {
    let opener = Opener()
    try opener.handle(of: vault).put("api.token", "one")
    let handle = opener.handle(of: vault)
    let config = ConfigReader(provider: try await provider(of: handle))
    opener.set(.refuses)
    try handle.lock(all: true)
    let first = try await config.watchString(forKey: "api.token", default: "default") { updates in
      for await value in updates { return Optional(value) }
      return nil
    }
    #expect(first == "default")
  }

  @Test func aThousandWatchersGetEachChange() async throws {
    try vault.handle().put("api.token", "0")
    let provider = try await provider()
    let watched = Watched<Int>()
    let tasks = (0..<1000).map { _ in
      Task {
        try await provider.watchValue(forKey: "api.token", type: .int) { updates in
          for await update in updates {
            if case .int(let number)? = try update.get().value?.content { watched.append(number) }
          }
        }
      }
    }
    for number in 1...3 {
      try await watched.wait { $0.count { $0 == number - 1 } == 1000 }
      try vault.handle().put("api.token", "\(number)")
    }
    try await watched.wait { $0.count { $0 == 3 } == 1000 }
    #expect(watched.all.count == 4000)
    for task in tasks { task.cancel() }
    for task in tasks { try await task.value }
  }
}
#endif
