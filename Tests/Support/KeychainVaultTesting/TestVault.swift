package import Foundation
package import KeychainCredentials
internal import KeychainSecrets
package import KeychainVault
import PrephirencesSystem

/// A vault in a temporary folder, which is removed with this object.
package final class TestVault: Sendable {
  package let folder: URL
  package let environment: [String: String]

  package init(environment: [String: String] = [:]) throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "vault-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    self.environment = environment.merging([
      "XDG_DATA_HOME": folder.path + "/data", "XDG_STATE_HOME": folder.path + "/state",
    ]) { given, _ in given }
  }

  deinit {
    try? handle().lock(all: true)
    try? FileManager.default.removeItem(at: folder)
  }

  /// The passphrase of tests that need no special one.
  package static let passphrase = "open"

  package var path: String { folder.path + "/data/keychain/vault" }
  package var deviceSecretPath: String { folder.path + "/state/keychain/device.key" }
  package var seenFolder: String { folder.path + "/state/keychain/seen" }

  /// Returns a new handle like that of another process.
  ///
  /// Its deadline is long, because a machine may stall for seconds.
  package func handle(
    environment extra: [String: String] = [:],
    _ change: (inout Vault.Configuration) -> Void = { _ in }
  ) -> Vault {
    var configuration = Vault.Configuration()
    configuration.environment = EnvironmentVariables(
      environment.merging(extra) { _, given in given })
    configuration.deadline = .seconds(60)
    configuration.passwordHash = .interactive
    change(&configuration)
    return Vault(configuration: configuration)
  }

  /// Returns a handle with a passphrase.
  package func handle(
    passphrase: String, environment: [String: String] = [:],
    _ change: (inout Vault.Configuration) -> Void = { _ in }
  ) -> Vault {
    handle(environment: environment) {
      change(&$0)
      $0.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        try SecretBytes(copying: passphrase)
      }
    }
  }

  /// Writes a private file.
  package func file(_ name: String, _ contents: String) throws -> String {
    let path = folder.path + "/" + name
    try Data(contents.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return path
  }
}

extension CredentialIdentity {
  package static func test(_ account: String, service: String = "test", group: String = "") -> Self
  {
    .genericPassword(service: service, account: account, accessGroup: group)
  }
}

extension CredentialStore {
  /// Stores a text.
  @discardableResult
  package func put(
    _ account: String, _ secret: String = "s3cret", _ accessibility: Accessibility = .whenUnlocked,
    group: String = ""
  ) throws -> Credential {
    try set(
      Credential(.test(account, group: group), accessibility: accessibility),
      secret: SecretBytes(copying: secret))
  }

  /// Reads a text.
  package func text(_ account: String, group: String = "") throws -> String? {
    guard let stored = try secret(for: .test(account, group: group)) else { return nil }
    return stored.secret.withBytes { bytes in
      String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
    }
  }
}
