import Foundation
import Glibc
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Testing

/// Kills a writing process at random moments.
@Suite("A writer is killed", .timeLimit(.minutes(5)))
struct KillTests {
  @Test(arguments: 0..<10)
  func whatWasAcknowledgedIsThere(_ group: Int) throws {
    for attempt in 0..<30 {
      let vault = try TestVault()
      let child = try Child(["items", "k"], on: vault)
      let first = child.waitForFirstLine()
      usleep(.random(in: 0...30_000))
      let acknowledged = [first] + child.killed()
      let handle = vault.handle()
      for number in acknowledged {
        #expect(try handle.text("k\(number)") == "secret of k\(number)")
      }
      let found = try handle.search(CredentialQuery())
      #expect(found.damaged.isEmpty)
      // One more may have become durable before it could be reported.
      #expect((acknowledged.count...acknowledged.count + 1).contains(found.credentials.count))
      if attempt.isMultiple(of: 10) { #expect(try handle.verify().problems == []) }
    }
  }

  @Test func aCreationIsThereOrIsNot() throws {
    for _ in 0..<30 {
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

  @Test func aNewRootKeyIsThereOrIsNot() throws {
    var sealed = 0
    for _ in 0..<30 {
      let vault = try TestVault()
      for number in 0..<40 { try vault.handle().put("k\(number)", "secret \(number)") }
      let child = try Child(["seal"], on: vault)
      _ = child.waitForFirstLine()
      usleep(.random(in: 0...60_000))
      let acknowledged = child.killed()
      let slots = try vault.handle().slots()
      sealed += slots.count - 1
      #expect(acknowledged.isEmpty || slots.count == 2)
      #expect(slots.map(\.grant) == (slots.count == 1 ? [.root] : [.openTier, .root]))
      let handle =
        slots.count == 1 ? vault.handle() : vault.handle(passphrase: TestVault.passphrase)
      for number in 0..<40 { #expect(try handle.text("k\(number)") == "secret \(number)") }
      #expect(try handle.verify().problems == [])
    }
    print("killed while sealing anew: \(sealed) of 30 had the new root key")
  }
}
