import FaultTesting
import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

/// Kills a writing process at random moments.
@Suite("A writer is killed", .timeLimit(.minutes(14)))
struct KillTests {
  private let rounds = Thoroughness.kills(30)

  @Test(arguments: 0..<10)
  func acknowledgedChangesAreThere(_ group: Int) throws {
    for attempt in 0..<rounds {
      let vault = try TestVault()
      let child = try Child(["items", "k"], on: vault)
      let line = child.line()
      let first = try #require(line)
      usleep(.random(in: 0...30_000))
      let acknowledged = [first] + child.killed()
      let handle = vault.handle()
      for number in acknowledged {
        #expect(try handle.text("k\(number)") == "secret of k\(number)")
      }
      let found = try handle.search(CredentialQuery())
      #expect(found.damaged.isEmpty)
      // One more change may be durable before it is reported.
      #expect((acknowledged.count...acknowledged.count + 1).contains(found.credentials.count))
      if attempt.isMultiple(of: 10) { #expect(try handle.verify().problems == []) }
    }
  }

  @Test func transactionIsAtomic() throws {
    for _ in 0..<rounds {
      let vault = try TestVault()
      let child = try Child(["transactions"], on: vault)
      let line = child.line()
      let first = try #require(line)
      usleep(.random(in: 0...30_000))
      let last = child.killed().last ?? first
      let acknowledged = try #require(Int(last))
      let handle = vault.handle()
      let found = try Set((0..<20).map { try handle.text("k\($0)") })
      // One more transaction may be durable before it is reported.
      #expect(found == ["\(acknowledged)"] || found == ["\(acknowledged + 1)"])
      #expect(try handle.verify().problems == [])
    }
  }

  @Test(arguments: ["bases", "removals"])
  func changesWithNewBasesAreAtomic(_ command: String) throws {
    for _ in 0..<rounds {
      let vault = try TestVault()
      let child = try Child([command], on: vault)
      let line = child.line()
      let first = try #require(line)
      usleep(.random(in: 0...30_000))
      let last = try #require(Int(child.killed().last ?? first))
      let handle = vault.handle()
      // The put of one more may be durable, and its removal of the one before may not.
      let found = try handle.search(CredentialQuery()).credentials.map(\.identity.account)
      if command == "bases" {
        for number in max(0, last - 6)...last {
          let text = try handle.text("k\(number % 7)")
          #expect(text == "\(number)" || (number == last - 6 && text == "\(last + 1)"))
        }
      } else {
        #expect(Set(found).isSubset(of: ["k\(last)", "k\(last + 1)"]) && !found.isEmpty)
      }
      #expect(try handle.verify().problems == [])
      try handle.put("after")
      #expect(try vault.handle().verify().problems == [])
    }
  }

  @Test func creationIsAtomic() throws {
    for _ in 0..<rounds {
      let vault = try TestVault()
      let child = try Child(["items", "k", "1"], on: vault)
      usleep(.random(in: 0...80_000))
      let acknowledged = child.killed()
      let handle = vault.handle()
      let found = try handle.text("k0")
      #expect(found == "secret of k0" || (found == nil && acknowledged.isEmpty))
      try handle.put("after", "after")
      #expect(try handle.text("after") == "after")
      #expect(try handle.verify().problems == [])
    }
  }

  @Test func killedRekeyLeavesOldOrNewRootKey() throws {
    var longest: UInt32 = 0
    _ = try sealing { child in
      let start = ContinuousClock.now
      _ = child.ended()
      longest = UInt32((ContinuousClock.now - start) / .microseconds(1)) * 4 / 3
    }
    var sealed = 0
    for _ in 0..<rounds {
      let vault = try sealing { child in
        usleep(.random(in: 0...longest))
        _ = child.killed()
      }
      let slots = try vault.handle().slots()
      sealed += slots.count - 1
      #expect(
        slots.map(\.grant) == (slots.count == 1 ? [.administers] : [.openTier, .administers]))
      let handle =
        slots.count == 1 ? vault.handle() : vault.handle(passphrase: TestVault.passphrase)
      for number in 0..<20 { #expect(try handle.text("k\(number)") == "secret \(number)") }
      #expect(try handle.verify().problems == [])
    }
    print("killed while sealing anew: \(sealed) of \(rounds) had the new root key")
  }

  @Test func importIsAtomic() throws {
    let source = try TestVault()
    let path = source.folder.path + "/x.export"
    _ = try filled(source).export(to: path, passphrase: SecretBytes(copying: TestVault.passphrase))
    var taken = 0
    try killing(["import", path]) { vault, acknowledged in
      let handle = vault.handle()
      let found = try handle.search(CredentialQuery()).credentials.count
      #expect(found == Self.count || (found == 0 && acknowledged.count < 2))
      if found > 0 { taken += 1 }
      try handle.put("after", "after")
      #expect(try handle.verify().problems == [])
    }
    print("killed while importing: \(taken) of \(rounds) had the items")
  }

  @Test func exportIsAtomic() throws {
    var made = 0
    try killing(["export"], on: { _ = try filled($0) }) { vault, acknowledged in
      let path = vault.folder.path + "/x.export"
      #expect(try vault.handle().verify().problems == [])
      guard FileManager.default.fileExists(atPath: path) else {
        return #expect(acknowledged.count < 2)
      }
      made += 1
      let report = try TestVault().handle().importItems(
        from: path, passphrase: SecretBytes(copying: TestVault.passphrase), isDryRun: true)
      #expect(report.addedCount == Self.count)
    }
    print("killed while exporting: \(made) of \(rounds) were complete")
  }

  private static let count = 60

  private func filled(_ vault: TestVault) throws -> Vault {
    let handle = vault.handle()
    for number in 0..<Self.count { try handle.put("k\(number)", "secret \(number)") }
    return handle
  }

  /// Kills a process at different moments of its work, and passes the remaining state and the
  /// acknowledged changes to `check`.
  private func killing(
    _ command: [String], on prepare: (TestVault) throws -> Void = { _ in },
    _ check: (TestVault, [String]) throws -> Void
  ) throws {
    let sample = try TestVault()
    try prepare(sample)
    let files = try VaultFiles(of: sample)
    let words = command.count > 1 ? command : command + [sample.folder.path + "/x.export"]
    var longest: UInt32 = 20_000
    for attempt in 0...rounds {
      try files.restore(to: sample)
      let start = ContinuousClock.now
      let child = try Child(words, on: sample)
      _ = child.line()
      var acknowledged = ["begun"]
      if attempt == 0 {
        acknowledged += child.ended().lines
        longest = UInt32((ContinuousClock.now - start) / .microseconds(1))
      } else {
        usleep(.random(in: 0...longest))
        acknowledged += child.killed()
      }
      try check(sample, acknowledged)
    }
  }

  @Test func slotsAreAtomic() throws {
    let states: [[SlotKind]] = [
      [.device], [.device, .recipient], [.device, .recipient, .recoveryCode],
      [.device, .recoveryCode],
    ]
    var found: Set<[SlotKind]> = []
    for _ in 0..<rounds {
      let vault = try TestVault()
      try vault.handle().put("a", "secret")
      let recipient = try vault.identity("identity").recipient
      let child = try Child(["slots", "\(recipient)"], on: vault)
      _ = child.line()
      usleep(.random(in: 0...200_000))
      _ = child.killed()
      let kinds = try vault.handle().slots().map(\.kind)
      #expect(states.contains(kinds))
      found.insert(kinds)
      #expect(try vault.handle().text("a") == "secret")
      #expect(try vault.handle().verify().problems == [])
      if kinds.contains(.recipient) {
        let identity = vault.folder.path + "/identity"
        #expect(try vault.handle(identity: identity).text("a") == "secret")
      }
      try vault.handle().addRecoveryCodeSlot { _ in true }
    }
    print("killed while slots came and went: \(found.count) of \(states.count) states met")
  }

  /// Starts adding a first passphrase to a vault in another process, and passes the process to
  /// `end`.
  private func sealing(_ end: (consuming Child) -> Void) throws -> TestVault {
    let vault = try TestVault()
    let handle = vault.handle()
    for number in 0..<20 { try handle.put("k\(number)", "secret \(number)") }
    let child = try Child(["seal"], on: vault)
    _ = child.line()
    end(child)
    return vault
  }
}
