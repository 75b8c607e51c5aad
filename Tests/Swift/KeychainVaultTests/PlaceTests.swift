import Foundation
import Glibc
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault
@testable import KeychainVaultFormat

@Suite("Locations and their trust")
struct PlaceTests {
  private func locations(_ values: [String: String]) -> Locations {
    Locations(environment: EnvironmentVariables(values))
  }

  private func code(_ body: () throws -> Void) -> KeychainError.Code? {
    do { try body() } catch { return (error as? KeychainError)?.code }
    return nil
  }

  /// Returns a new folder whose path has no symbolic links and which others can enter; the
  /// temporary folder may be inside a private one.
  private func folder() throws -> URL {
    let path = URL(filePath: try TrustedPath(resolving: "/tmp").path)
      .appending(path: "place-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    return path
  }

  @Test func theVariablesOfTheBaseDirectorySpecificationCount() throws {
    let given = locations([
      "HOME": "/no/home", "XDG_DATA_HOME": "/data", "XDG_STATE_HOME": "/state",
    ])
    #expect(try given.defaultVaultPath() == "/data/keychain/vault")
    #expect(try given.stateFolder() == "/state/keychain")
    let home = locations(["HOME": "/usr", "XDG_DATA_HOME": "relative"])
    #expect(try home.defaultVaultPath() == "/usr/.local/share/keychain/vault")
    #expect(try home.stateFolder() == "/usr/.local/state/keychain")
    #expect(try locations(["KEYCHAIN_VAULT": "x.db"]).defaultVaultPath() == "x.db")
  }

  @Test func userEntryCountsWithoutHome() throws {
    let home = String(cString: getpwuid(geteuid()).pointee.pw_dir)
    #expect(try locations([:]).stateFolder() == home + "/.local/state/keychain")
  }

  @Test func missingHomeIsIgnored() throws {
    let missing = locations(["HOME": "/no/home"])
    #expect(code { _ = try missing.defaultVaultPath() } == .noStore)
    #expect(code { _ = try missing.stateFolder() } == .noStore)
    #expect(code { _ = try missing.configurationFolder() } == .noStore)
    let service = locations(["HOME": "/no/home", "STATE_DIRECTORY": "/var/lib:/more"])
    #expect(try service.defaultVaultPath() == "/var/lib/keychain/vault")
    #expect(try service.stateFolder() == "/var/lib/keychain")
    #expect(try service.configurationFolder() == "/var/lib/keychain")
    let unmounted = locations(["HOME": "/no/home", "STATE_DIRECTORY": "/no/volume"])
    #expect(code { _ = try unmounted.defaultVaultPath() } == .noStore)
    #expect(code { _ = try unmounted.stateFolder() } == .noStore)
    // An existing home takes precedence over the state folder of a service.
    let both = locations(["HOME": "/usr", "STATE_DIRECTORY": "/var/lib/mine"])
    #expect(try both.stateFolder() == "/usr/.local/state/keychain")
  }

  @Test func vaultNextToOthersFilesIsRefused() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let vault = try TestVault()
    #expect(chmod(folder.path, 0o1777) == 0)
    let handle = vault.handle { $0.path = folder.path + "/vault" }
    #expect(code { _ = try handle.put("a") } == .insecurePermissions)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    // A folder that is created there belongs to the user.
    let inner = vault.handle { $0.path = folder.path + "/own/vault" }
    #expect(try inner.put("a").version > 0)
  }

  @Test func aRecordIsRaisedAndNeverLowered() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = try SeenRecordFile(folder: folder.path + "/seen", vaultPath: "/v")
    let vault = try VaultID.random()
    #expect(try file.read() == .none)
    let seen = SeenRecord.test(vault, counter: 5)
    try file.raise(to: seen)
    try file.raise(to: .test(vault, counter: 3))
    #expect(try file.read() == .record(seen))
    // Neither an older list of members nor another administration key raises it.
    try file.raise(to: .test(vault, counter: 9, serial: 0))
    try file.raise(to: .test(vault, administration: 8, counter: 9))
    // A record of another vault is evidence, so it stays.
    try file.raise(to: .test(VaultID.random(), counter: 9))
    #expect(try file.read() == .record(seen))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path + "/seen").count == 1)
    try Data([1, 2, 3]).write(to: URL(filePath: file.path))
    #expect(try file.read() == .unreadable)
  }

  @Test func theDeviceSecretIsMadeOnce() async throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path
    let ids = try await withThrowingTaskGroup(of: Data.self) { group in
      for _ in 0..<16 {
        group.addTask { try DeviceSecretFile(stateFolder: path).readOrCreate().idOfTest() }
      }
      return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["device.key"])
    try Data(count: 31).write(to: folder.appending(path: "device.key"))
    #expect(code { _ = try DeviceSecretFile(stateFolder: path).readOrCreate() } == .damaged)
  }
}

extension DeviceSecret {
  fileprivate func idOfTest() throws -> Data {
    try inVault(VaultID(bytes: Data(count: VaultID.count))).id
  }
}

extension SeenRecord {
  /// A record whose administration key and digest are one repeated byte each.
  static func test(
    _ vault: VaultID, administration: UInt8 = 7, next: UInt8? = nil, counter: UInt64,
    epoch: UInt64 = 1, serial: UInt64 = 1
  ) -> SeenRecord {
    func bytes(_ byte: UInt8) -> Data { Data(repeating: byte, count: 32) }
    return SeenRecord(
      id: vault, administration: bytes(administration), nextAdministration: next.map(bytes),
      recoveryKey: nil,
      epoch: epoch, serial: serial, listHash: bytes(1),
      proved: Tier.allCases.map { _ in
        SeenCommit(serial: serial, n: counter, digest: bytes(UInt8(counter)))
      })
  }
}
