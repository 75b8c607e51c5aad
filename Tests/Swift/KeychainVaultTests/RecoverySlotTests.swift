import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

@Suite("Recovery codes open a vault")
struct RecoverySlotTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one")
  }

  @Test func codeOpensVaultWithoutDeviceSecret() throws {
    let code = try vault.addRecoveryCode()
    #expect(try vault.handle().slots().map(\.grant) == [.administers, .administers])
    #expect(try vault.handle().text("a") == "one")
    try FileManager.default.removeItem(atPath: vault.deviceSecretPath)
    let error = failure { _ = try vault.handle().text("a") }
    #expect(error?.code == .locked)
    let recovery = try #require(error?.recovery)
    let unlocking: [KeychainError.Recovery.Action] = [
      .unlockWithRecoveryCode, .giveKey(.recoveryCode),
    ]
    #expect(recovery.actions.contains { unlocking.contains($0) })
    #expect("\(recovery)".contains("device.key"))
    let opened = vault.handle(recoveryCode: code)
    #expect(try opened.text("a") == "one")
    try opened.put("b", "two")
    // A new device secret replaces the lost one.
    #expect(try opened.addDeviceSlot().grant == .administers)
    #expect(try vault.handle().text("b") == "two")
    try vault.handle().removeSlot(1)
    #expect(try vault.handle().slots().map(\.kind) == [.recoveryCode, .device])
    #expect(try vault.handle().verify().isIntact)
  }

  @Test func onlyTheRightCodeOpens() throws {
    let code = try vault.addRecoveryCode()
    let other = try RecoveryCode.random().text().withBytes { $0.text ?? "" }
    #expect(
      failure { _ = try vault.handle(recoveryCode: other).text("a") }?.code == .incorrectSecret)
    let mistyped = String(code.dropLast()) + (code.hasSuffix("0") ? "1" : "0")
    let error = failure { _ = try vault.handle(recoveryCode: mistyped).text("a") }
    #expect(error?.code == .incorrectSecret)
    #expect(error?.message.contains("mistyped") == true)
    #expect(try vault.handle(recoveryCode: code.lowercased() + "\n").text("a") == "one")
    let file = try vault.file("code", code + "\n")
    #expect(try vault.handle { $0.unlock = .recoveryCodeFile(file) }.text("a") == "one")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    #expect(
      failure { _ = try vault.handle { $0.unlock = .recoveryCodeFile(file) }.text("a") }?.code
        == .insecurePermissions)
  }

  @Test func unconfirmedCodeOpensNothing() throws {
    let error = failure { try vault.handle().addRecoveryCodeSlot { _ in false } }
    #expect(error?.code == .cancelled)

    #expect(
      failure {
        try vault.handle().addRecoveryCodeSlot { _ throws(KeychainError) in
          throw KeychainError(.inputOutput, "the terminal is gone")
        }
      }?.code == .inputOutput)
    #expect(try vault.handle().slots().count == 1)
  }

  @Test func firstPassphraseCarriesTheCode() throws {
    let code = try vault.addRecoveryCode()
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "open"))
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .administers, .administers])
    #expect(try vault.handle(recoveryCode: code).text("a") == "one")
    #expect(try vault.handle(passphrase: "open").verify().problems == [])
  }

  @Test func presentedCodeStaysNextToFirstPassphrase() throws {
    let code = try vault.addRecoveryCode()
    try vault.handle(recoveryCode: code).addPassphraseSlot(SecretBytes(copying: "open"))
    let slots = try vault.handle().slots()
    #expect(slots.map(\.kind) == [.device, .recoveryCode, .passphrase])
    #expect(slots.map(\.grant) == [.openTier, .administers, .administers])
    #expect(try vault.handle(recoveryCode: code).text("a") == "one")
    #expect(try vault.handle(passphrase: "open").text("a") == "one")
    #expect(try vault.handle(passphrase: "open").verify().isIntact)
  }

  @Test func passphraseQuestionAcceptsCode() throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "open"))
    let code = try vault.addRecoveryCode(passphrase: "open")
    for answer in [code, "open"] {
      try vault.handle().lock(all: true)
      let asked = Mutex<[PassphraseRequest]>([])
      let handle = vault.handle {
        $0.interaction = .allowed { request throws(KeychainError) in
          asked.withLock { $0.append(request) }
          return try SecretBytes(copying: answer)
        }
      }
      #expect(try handle.text("a") == "one")
      #expect(asked.withLock { $0.map(\.kind) } == [.passphrase])
      #expect(asked.withLock { $0.map(\.takesRecoveryCode) } == [true])
    }
    try vault.handle().lock(all: true)
  }

  /// A code is not for daily use: without a passphrase, the device must open the vault again.
  @Test func deviceRegainsAccessNextToCodeWithoutPassphrase() throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "open"))
    let code = try vault.addRecoveryCode(passphrase: "open")
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .administers, .administers])
    try vault.handle(passphrase: "open").removeSlot(2)
    #expect(try vault.handle().slots().map(\.grant) == [.administers, .administers])
    #expect(try vault.handle().text("a") == "one")
    #expect(try vault.handle(recoveryCode: code).text("a") == "one")
  }

  @Test func aCodeMayBeTheOnlyWayLeft() throws {
    let code = try vault.addRecoveryCode()
    try vault.handle(recoveryCode: code).removeSlot(1)
    #expect(try vault.handle(recoveryCode: code).text("a") == "one")
    #expect(failure { try vault.handle(recoveryCode: code).removeSlot(2) }?.code == .refused)
    // No device knows the root key, so adding a passphrase needs no new one.
    try vault.handle(recoveryCode: code).addPassphraseSlot(SecretBytes(copying: "open"))
    #expect(try vault.handle(recoveryCode: code).text("a") == "one")
    #expect(try vault.handle(passphrase: "open").verify().isIntact)
  }

  @Test func aCodeMakesNoVault() throws {
    let code = try vault.addRecoveryCode()
    let other = try TestVault()
    #expect(failure { try other.handle(recoveryCode: code).put("a") }?.code == .refused)
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }

  @Test func codeIsAskedForIfNothingElseOpens() throws {
    let code = try vault.addRecoveryCode()
    try FileManager.default.removeItem(atPath: vault.deviceSecretPath)
    let asked = Mutex<[PassphraseRequest]>([])
    let handle = vault.handle {
      $0.interaction = .allowed { request throws(KeychainError) in
        let count = asked.withLock { asked in
          asked.append(request)
          return asked.count
        }
        return try SecretBytes(copying: count == 1 ? "mistyped" : code)
      }
    }
    #expect(try handle.text("a") == "one")
    #expect(asked.withLock { $0.map(\.kind) } == [.recoveryCode, .recoveryCode])
    #expect(asked.withLock { $0.map(\.failedAttempts) } == [0, 1])
    try vault.handle().lock(all: true)
  }
}

/// Returns the error of a body that should fail.
func failure(_ body: () throws -> Void) -> KeychainError? {
  do { try body() } catch { return error as? KeychainError }
  return nil
}
