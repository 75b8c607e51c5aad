import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

@Suite("Identities are pinned to vaults")
struct PinTests {
  private let vault: TestVault
  private let alice: IdentityDescription

  init() throws {
    vault = try TestVault()
    alice = try vault.identity("alice")
    try vault.handle().put("a", "one")
    try vault.handle().addRecipientSlot(alice.recipient)
  }

  private func check() throws -> VaultCheck { try #require(try vault.handle().status().check) }

  @Test func aPinnedIdentityOpensNoOtherVault() throws {
    try vault.handle().pinIdentity(at: alice.path)
    #expect(try vault.handle(identity: alice.path).text("a") == "one")
    // A vault that an attacker who knows the recipient can put in the place of the vault.
    let other = try TestVault()
    try other.handle().put("a", "forged")
    try other.handle().addRecipientSlot(alice.recipient)
    // Pins count where the vault was not seen before.
    func forget() throws { try FileManager.default.removeItem(atPath: other.seenFolder) }
    try forget()
    let error = failure { _ = try other.handle(identity: alice.path).text("a") }
    #expect(error?.code == .rolledBack)
    #expect(error?.message.contains("another vault") == true)
    let otherCheck = try #require(try other.handle().status().check)
    #expect(error?.recovery?.actions == [.pinIdentity(check: "\(otherCheck)")])
    #expect(failure { try other.handle(identity: alice.path).addDeviceSlot() }?.code == .rolledBack)
    try other.handle().pinIdentity(at: alice.path)
    #expect(try other.handle(identity: alice.path).text("a") == "forged")
    #expect(try vault.handle(identity: alice.path).text("a") == "one")
    try vault.handle().pinIdentity(at: alice.path, replacing: true)
    try forget()
    #expect(failure { _ = try other.handle(identity: alice.path).text("a") }?.code == .rolledBack)
    #expect(try vault.handle().identity(at: alice.path).pins == [try check()])
  }

  @Test func firstUseWithoutPinsIsReportedAndTrusted() throws {
    let told = Mutex<[Notice]>([])
    func opened(_ place: TestVault) throws -> String? {
      let path = vault.path
      return try place.handle(identity: alice.path) {
        $0.path = path
        $0.notice = { notice in told.withLock { $0.append(notice) } }
      }.text("a")
    }
    #expect(try opened(vault) == "one")
    #expect(told.withLock { $0.isEmpty })
    // Another user, who has not seen the vault yet.
    let elsewhere = try TestVault()
    #expect(try opened(elsewhere) == "one")
    #expect(told.withLock { $0.map(\.kind) } == [.trustedOnFirstUse])
    #expect(try told.withLock { $0[0].description.contains("\(try check())") })
    #expect(try opened(elsewhere) == "one")
    #expect(told.withLock { $0.count } == 1)
  }

  @Test func anotherVaultInItsPlaceIsNotPinned() throws {
    let other = try TestVault()
    try other.handle().put("b")
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.copyItem(atPath: other.path, toPath: vault.path)
    #expect(failure { try vault.handle().pinIdentity(at: alice.path) }?.code == .rolledBack)
    #expect(try vault.handle().createIdentity(at: vault.folder.path + "/bob").pins.isEmpty)
  }

  /// A device key that was copied is enough to make a vault whose open tier can be read here.
  @Test func recordOfTheDeviceKeyKeepsPins() throws {
    try vault.handle().pinIdentity(at: alice.path)
    let other = try TestVault()
    try FileManager.default.createDirectory(
      atPath: other.folder.path + "/state/keychain", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(
      atPath: vault.deviceSecretPath, toPath: other.deviceSecretPath)
    try other.handle(passphrase: "theirs").put("a", "forged")
    try other.handle(passphrase: "theirs").addRecipientSlot(alice.recipient)
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.copyItem(atPath: other.path, toPath: vault.path)
    try FileManager.default.removeItem(atPath: vault.seenFolder)
    #expect(failure { _ = try vault.handle(identity: alice.path).text("a") }?.code == .rolledBack)
    #expect(try vault.handle().text("nothing") == nil)
    #expect(FileManager.default.fileExists(atPath: vault.seenFolder))
    #expect(failure { _ = try vault.handle(identity: alice.path).text("a") }?.code == .rolledBack)
    #expect(failure { _ = try vault.handle(identity: alice.path).put("b") }?.code == .rolledBack)
    #expect(try vault.handle().createIdentity(at: vault.folder.path + "/bob").pins.isEmpty)
  }

  @Test func anEarlierCheckIsReportedAfterASuccessionWasFollowed() throws {
    let told = Mutex<[Notice]>([])
    try vault.handle().pinIdentity(at: alice.path)
    let code = try vault.addRecoveryCode()
    try vault.handle().put("b")
    try vault.handle(recoveryCode: code).rekey(newAdministrationKey: true, confirm: { _ in true })
    let theirs = {
      vault.handle(identity: alice.path) {
        $0.notice = { notice in told.withLock { $0.append(notice) } }
      }
    }
    #expect(try theirs().text("a") == "one")
    let new = try check()
    #expect(told.withLock { $0.map(\.kind) } == [.oldPin])
    #expect(told.withLock { $0.first?.recovery?.actions } == [.pinIdentity(check: "\(new)")])
    try vault.handle().pinIdentity(at: alice.path, to: new)
    #expect(try theirs().text("a") == "one")
    #expect(told.withLock(\.count) == 1)
  }

  @Test func pinningKeepsTheRestOfTheFile() throws {
    let line = try identityLine()
    let text =
      "# Alice's \u{E9}\n\n  \(line)\t\r\n# old\nvault: \(String(repeating: "0", count: 32))"
    let path = try vault.file("edited", text)
    let pinned = try vault.handle().pinIdentity(at: path)
    #expect(
      pinned.pins.map(\.description) == [String(repeating: "0", count: 32), "\(try check())"])
    #expect(try contents(path) == text + "\nvault: \(try check())\n")
    try vault.handle().pinIdentity(at: path)
    #expect(try contents(path) == text + "\nvault: \(try check())\n")
    let check = try #require(VaultCheck(text: String(repeating: "a", count: 32)))
    try vault.handle().pinIdentity(at: path, to: check, replacing: true)
    #expect(
      try contents(path) == "# Alice's \u{E9}\n\n  \(line)\t\r\n# old\nvault: \(check)\n")
    #expect(try mode(path) == 0o600)
  }

  @Test(arguments: [(0o440, SecretFileReaders.group), (0o644, .others)])
  func fileThatOthersMayReadIsPinnedAndStaysReadable(
    _ mode: Int, _ readers: SecretFileReaders
  ) throws {
    func handle() -> Vault { vault.handle(identity: alice.path) { $0.secretFileReaders = readers } }
    try vault.handle().pinIdentity(at: alice.path)
    #expect(chmod(alice.path, mode_t(mode)) == 0)
    // Nothing of the file changes.
    try handle().pinIdentity(at: alice.path)
    try handle().rekey { _ in true }
    let report = try handle().rekey(newAdministrationKey: true) { _ in true }
    #expect(try handle().identity(at: alice.path).pins == [report.check])
    #expect(try self.mode(alice.path) == mode)
    let error = failure { try vault.handle().pinIdentity(at: alice.path) }
    #expect(error?.code == .insecurePermissions)
  }

  @Test func aFileWithAnythingElseIsRefused() throws {
    let line = try identityLine()
    let pin = "vault: " + String(repeating: "0", count: 32)
    let broken = [
      "", "# nothing\n", pin, "\(line)\n\(line)\n", "\(line.dropLast())", "\(line)0",
      "\(line)\u{B}\u{85}",
    ]
    // A newer release may have written them.
    let unknown = [
      "\(line)\nvault:\n", "\(line)\n\(pin)0\n", "\(line)\n\(pin.replacing("0", with: "A"))",
      "\(line)\n\(pin) # mine\n", "x\n\(line)", line.replacing("pksec2-", with: "pkpub2-"),
      "\(line)\nVault: " + pin.dropFirst(7), "\u{FEFF}\(line)",
      line.replacing("pksec2-", with: "pksec3-"),
    ]
    for text in broken + unknown {
      let code: KeychainError.Code = broken.contains(text) ? .incorrectSecret : .unsupportedFormat
      let path = try vault.file("wrong", text)
      let error = failure { _ = try vault.handle().identity(at: path) }
      #expect(error?.code == code, "\(text.count) characters")
      #expect(error.map { "\($0)".contains(line.dropFirst(7).prefix(20)) } == false)
      #expect(failure { _ = try vault.handle(identity: path).text("a") }?.code == code)
    }
    var bytes = Data("\(line)\n# ".utf8)
    bytes.append(0xFF)
    let path = try vault.file("bytes", "")
    try bytes.write(to: URL(filePath: path))
    #expect(failure { _ = try vault.handle().identity(at: path) }?.code == .incorrectSecret)
    let right = try vault.file("right", "\r\n \(line.uppercased()) \n\(pin)\u{B}\n#\n")
    #expect(try vault.handle().identity(at: right).recipient == alice.recipient)
  }

  private func contents(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func identityLine() throws -> String {
    let lines = try contents(alice.path).split(separator: "\n")
    return String(try #require(lines.first { $0.hasPrefix("pksec2-") }))
  }
}
