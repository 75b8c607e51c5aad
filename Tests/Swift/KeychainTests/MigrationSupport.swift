internal import Foundation
internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import KeychainVaultTesting
internal import PrephirencesSystem
internal import Synchronization
internal import Testing

/// Two stores, and the credentials that move between them.
struct MigrationScene {
  let place: TestVault
  let source = ScriptedStore()
  let target = ScriptedStore()

  init() throws { place = try TestVault() }

  func migration(
    _ change: (inout CredentialMigration) -> Void = { _ in }
  ) -> CredentialMigration {
    migration(from: source, to: target, change)
  }

  func migration(
    from source: any CredentialStore, to target: any CredentialStore,
    _ change: (inout CredentialMigration) -> Void = { _ in }
  ) -> CredentialMigration {
    var migration = CredentialMigration(from: source, to: target)
    migration.state = StateFolder(environment: EnvironmentVariables(place.environment))
    change(&migration)
    return migration
  }

  /// Runs a migration that removes what it has copied.
  func move(
    _ change: (inout CredentialMigration) -> Void = { _ in }
  ) -> CredentialMigration {
    migration {
      $0.removesSource = true
      change(&$0)
    }
  }
}

/// The content of a credential in a store.
struct Content: Hashable {
  let credential: Credential
  let secret: [UInt8]

  init(_ stored: borrowing StoredSecret, keepsDates: Bool) {
    var credential = stored.credential
    credential.restore(
      version: 0, created: keepsDates ? credential.created : .distantPast,
      modified: keepsDates ? credential.modified : .distantPast)
    self.credential = credential
    secret = stored.secret.withBytes { $0.array }
  }
}

extension CredentialStore {
  /// Returns the contents of the store as an array, because a set would hide duplicates.
  func contents(keepsDates: Bool = true) throws -> [Content] {
    try search(CredentialQuery()).credentials.map { credential in
      guard let stored = try secret(for: credential.identity) else {
        throw KeychainError(.notFound, "\(credential.identity) is listed and not there")
      }
      return Content(stored, keepsDates: keepsDates)
    }
  }

  /// Returns the secrets by account.
  func texts() throws -> [String: String] {
    var texts: [String: String] = [:]
    for content in try contents() {
      texts[content.credential.identity.account] = String(decoding: content.secret, as: UTF8.self)
    }
    return texts
  }

  /// Stores a text.
  @discardableResult
  func add(
    _ account: String, _ secret: String, _ accessibility: Accessibility = .whenUnlocked,
    group: String = ""
  ) throws -> Credential {
    try set(
      Credential(.test(account, group: group), accessibility: accessibility),
      secret: SecretBytes(copying: secret))
  }

  /// Stores credentials of every kind.
  func fill() throws {
    let internet = InternetPassword(
      server: "example.com", protocol: "https", port: 443, path: "/a", account: "me",
      securityDomain: "realm", authenticationType: "httpBasic")
    let credentials: [(Credential, String)] = [
      (Credential(.test("plain")), "secret"),
      (Credential(.test("empty")), ""),
      (Credential(.test("bytes")), "a\0b\nc\n\n"),
      (Credential(.test("group", group: "team")), "of the team"),
      (Credential(.test("other", service: "second")), "second"),
      (Credential(.test("expired"), expires: Date(timeIntervalSince1970: 1.5)), "old"),
      (Credential(.test("always"), accessibility: .always), "always"),
      (Credential(.test("e\u{301}")), "decomposed"),
      (Credential(.test("\u{E9}")), "composed"),
      (Credential(.test("")), "nobody's"),
      (
        Credential(
          CredentialIdentity(.internetPassword(internet)), accessibility: .afterFirstUnlock,
          label: "A label\n", comment: "", contentType: "text/plain",
          attributes: ["env": "production", "e\u{301}": ""]), "internet"
      ),
    ]
    for (credential, text) in credentials {
      try set(credential, secret: SecretBytes(copying: text))
    }
  }
}

/// Records values, from any thread.
final class Record<Value: Sendable>: Sendable {
  private let content = Mutex<[Value]>([])

  var values: [Value] { content.withLock { $0 } }

  func add(_ value: Value) { content.withLock { $0.append(value) } }
}
