import FaultTesting
import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

/// Kills a process that changes keys and names at random moments.
@Suite("A changer of keys or names is killed", .timeLimit(.minutes(14)))
struct KeyKillTests {
  private let rounds = Thoroughness.kills(30)

  @Test func newKeysAreAtomic() throws {
    var checks: Set<String> = []
    for _ in 0..<rounds {
      let vault = try TestVault()
      for number in 0..<20 { try vault.handle().put("k\(number)", "secret \(number)") }
      let before = try vault.handle().status().epoch
      let child = try Child(["rekey"], on: vault)
      _ = child.line()
      usleep(.random(in: 0...400_000))
      let rekeyed = child.killed().count
      let handle = vault.handle()
      for number in 0..<20 { #expect(try handle.text("k\(number)") == "secret \(number)") }
      let verified = try handle.verify()
      #expect(verified.problems == [] && verified.openedCount == 20)
      let status = try handle.status()
      #expect(status.seenRecord == .current)
      // Acknowledged changes have happened.
      #expect(rekeyed == 0 || status.epoch != before)
      checks.insert(rekeyed == 0 && status.epoch == before ? "old" : "new")
      try handle.rekey { _ in true }
      #expect(try vault.handle().verify().problems == [])
    }
    print("killed while getting new keys: \(checks.sorted()) keys met")
  }

  @Test func passphraseChangeIsAtomic() throws {
    for _ in 0..<rounds {
      let test = try TestVault()
      let key = try test.file("key-file", String(repeating: "k", count: 32))
      let vault = try TestVault(environment: ["KEYCHAIN_KEY_FILE": key])
      try vault.handle().put("a", "secret")
      try vault.handle().addPassphraseSlot(SecretBytes(copying: "0"))
      let child = try Child(["passphrases"], on: vault)
      let line = child.line()
      let first = try #require(line)
      usleep(.random(in: 0...10_000))
      let last = Int(([first] + child.killed()).last ?? "") ?? 0
      let opening = [last, last + 1].filter { number in
        (try? vault.handle(passphrase: "\(number)").text("a")) == "secret"
      }
      #expect(opening.count == 1)
      #expect(try vault.handle().slots().map(\.kind) == [.device, .keyFile, .passphrase])
      #expect(try vault.handle().verify().problems == [])
    }
  }

  @Test func killedRenameLeavesOldOrNewName() throws {
    for _ in 0..<rounds {
      let vault = try TestVault()
      try vault.handle().put("k0", "secret")
      let child = try Child(["rename"], on: vault)
      let line = child.line()
      let first = try #require(line)
      usleep(.random(in: 0...10_000))
      let last = Int(([first] + child.killed()).last ?? "") ?? 0
      let found = try vault.handle().search(CredentialQuery())
      #expect(found.damaged.isEmpty && found.credentials.count == 1)
      let account = found.credentials.first?.identity.account ?? ""
      #expect(["k\(last)", "k\(last + 1)"].contains(account))
      #expect(try vault.handle().text(account) == "secret")
      #expect(try vault.handle().verify().problems == [])
    }
  }
}
