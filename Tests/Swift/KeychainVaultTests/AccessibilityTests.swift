import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("What is readable when")
struct AccessibilityTests {
  @Test(arguments: Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly })
  func aVaultOnItsDeviceIsAlwaysOpen(_ accessibility: Accessibility) throws {
    let vault = try TestVault()
    try vault.handle().put("a", "one", accessibility)
    #expect(try vault.handle().text("a") == "one")
  }

  @Test(arguments: Accessibility.allCases)
  func aPassphraseOpensEverything(_ accessibility: Accessibility) throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "open").put("a", "one", accessibility)
    #expect(try vault.handle(passphrase: "open").text("a") == "one")
    let error = #expect(throws: KeychainError.self) {
      try vault.handle(passphrase: "shut").text("a")
    }
    #expect(error?.code == .incorrectSecret)
  }

  @Test(arguments: Accessibility.allCases)
  func onlyOpenTierIsReadableWithoutPassphrase(_ accessibility: Accessibility) throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "open").put("a", "one", accessibility)
    let outcome = Result { try vault.handle().text("a") }
    if accessibility.unlockRequirement == .nothing {
      #expect(try outcome.get() == "one")
    } else {
      #expect(throws: KeychainError.self) { try outcome.get() }
      #expect((outcome.failure as? KeychainError)?.code == .locked)
    }
  }

  @Test func aFirstPassphraseTakesEverythingFromTheDevice() throws {
    let vault = try TestVault()
    for accessibility in Accessibility.allCases
    where accessibility != .whenPasscodeSetThisDeviceOnly {
      try vault.handle().put("\(accessibility)", "one", accessibility, group: "g\(accessibility)")
    }
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "open"))
    for accessibility in Accessibility.allCases
    where accessibility != .whenPasscodeSetThisDeviceOnly {
      let account = "\(accessibility)"
      let group = "g\(accessibility)"
      #expect(try vault.handle(passphrase: "open").text(account, group: group) == "one")
      let outcome = Result { try vault.handle().text(account, group: group) }
      #expect((try? outcome.get()) == (accessibility.unlockRequirement == .nothing ? "one" : nil))
    }
    #expect(try vault.handle().verify().problems == [])
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .administers])
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
