import Foundation
import Keychain
import KeychainVault
import PrephirencesSystem
import Testing

@testable import Keychain

@Suite("The lock of a renewal", .timeLimit(.minutes(10)))
struct RenewalLockTests {
  private let machine: Machine

  init() throws { machine = try Machine() }

  private func lock(_ account: String, _ machine: Machine? = nil) throws -> RenewalFileLock {
    try RenewalFileLock(
      .item(account), environment: EnvironmentVariables((machine ?? self.machine).environment))
  }

  private var path: String { machine.folder.path + "/state/keychain/renewal.lock" }

  @Test func lockHasOneHolderPerCredential() throws {
    do {
      let (first, second, other) = (try lock("a"), try lock("a"), try lock("b"))
      #expect(try first.take())
      #expect(try !second.take())
      #expect(try other.take())
      extendLifetime(first)
    }
    #expect(try lock("a").take())
  }

  @Test func lockFileNameHidesTheCredential() throws {
    let elsewhere = try Machine()
    let places = try [machine, elsewhere].map { machine in
      let lock = try lock("a", machine)
      #expect(try lock.take())
      defer { extendLifetime(lock) }
      let path = machine.folder.path + "/state/keychain/renewal.lock"
      let number = try #require(
        FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int)
      let line = try String(contentsOfFile: "/proc/locks", encoding: .utf8)
        .split(separator: "\n").first { $0.contains(":\(number) ") }
      return try #require(line).split(separator: " ").suffix(2)
    }
    #expect(places[0] != places[1])
    #expect(
      try FileManager.default.contentsOfDirectory(
        atPath: URL(filePath: path).deletingLastPathComponent().path) == ["renewal.lock"])
  }

  @Test func aFileThatOthersCanChangeIsRefused() throws {
    _ = try lock("a")
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    expect(.insecurePermissions) { _ = try lock("a") }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
    expect(.insecurePermissions) { _ = try lock("a") }
  }

  /// A process that emptied the file has the same lock as those that found it empty.
  @Test func anEmptyFileStillLocks() throws {
    _ = try lock("a")
    try Data().write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let first = try lock("a")
    #expect(try first.take())
    #expect(try !lock("a").take())
    extendLifetime(first)
  }

  @Test func noRenewalWithoutAPlaceForLock() throws {
    let store = machine.store(["XDG_STATE_HOME": "/proc/nowhere"])
    let error = #expect(throws: KeychainError.self) { try RenewalLock(.item("a"), in: store.vault) }
    #expect(
      error?.code == .inputOutput && error?.recoverySuggestion?.contains("XDG_STATE_HOME") == true)
    #expect(error?.message.contains("'a' of service 's'") == true)
  }
}
