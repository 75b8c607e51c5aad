import Foundation
import Keychain
import KeychainSecretService
import KeychainVault
import PrephirencesSystem
import Synchronization
import Testing

/// A home folder on a machine without a desktop; removed with this object.
final class Machine: Sendable {
  let folder: URL
  let notices = Mutex<[Notice]>([])

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "machine-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    try? vault().lock(all: true)
    try? FileManager.default.removeItem(at: folder)
  }

  var environment: [String: String] {
    [
      "HOME": folder.path, "XDG_DATA_HOME": folder.path + "/data",
      "XDG_STATE_HOME": folder.path + "/state", "XDG_RUNTIME_DIR": folder.path + "/run",
    ]
  }

  var deviceKey: String { folder.path + "/state/keychain/device.key" }
  var recordFolder: String { folder.path + "/state/keychain/stores" }

  /// The names of the records.
  var records: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: recordFolder)) ?? []).sorted()
  }

  /// Returns a new handle like that of another process.
  ///
  /// Its deadline is long, because a machine may stall for seconds.
  func store(
    _ extra: [String: String] = [:],
    _ change: (inout AutomaticStore.Configuration) -> Void = { _ in }
  ) -> AutomaticStore {
    let environment = environment.merging(extra) { _, given in given }
    var configuration = AutomaticStore.Configuration { [self] notice in
      notices.withLock { $0.append(notice) }
    }
    configuration.vault.environment = EnvironmentVariables(environment)
    configuration.vault.deadline = .seconds(60)
    configuration.secretService.environment = environment
    change(&configuration)
    return AutomaticStore(configuration: configuration)
  }

  func vault() -> Vault { store().vault }

  /// Returns the kinds of the notices since the last call.
  func newNotices() -> [Notice.Kind] {
    notices.withLock { notices in
      defer { notices = [] }
      return notices.map(\.kind)
    }
  }

  /// A bus address without a listener.
  var deadBus: [String: String] {
    ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.path)/nobody"]
  }
}

extension CredentialIdentity {
  static func item(_ account: String, service: String = "s") -> Self {
    .genericPassword(service: service, account: account)
  }
}

extension CredentialStore {
  @discardableResult
  func put(_ account: String, service: String = "s", _ text: String = "t") throws -> Credential {
    try set(Credential(.item(account, service: service)), secret: SecretBytes(copying: text))
  }

  func text(_ account: String, service: String = "s") throws -> String? {
    guard let stored = try secret(for: .item(account, service: service)) else { return nil }
    return stored.secret.withBytes { $0.text }
  }
}

/// Expects a call to fail with a code.
func expect(
  _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, "\(error?.message ?? "")", sourceLocation: sourceLocation)
}
