import FaultTesting
import Foundation
import Glibc
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Synchronization
import Testing

@Suite("Observing other processes", .timeLimit(.minutes(14)))
struct ProcessObservationTests {
  @Test func changesBySeveralProcessesAreReported() throws {
    let vault = try TestVault()
    let seen = Mutex<[CredentialChange]>([])
    let observation = vault.handle().observe { change in seen.withLock { $0.append(change) } }
    concurrently(3) { process in
      _ = try? Child(["items", "\(process)-", "50"], on: vault).ended()
    }
    let expected = (0..<3).flatMap { process in
      (0..<50).map { CredentialChange(.test("\(process)-\($0)"), .added) }
    }
    eventually { seen.withLock { $0.count } >= expected.count }
    let changes = seen.withLock { $0 }
    #expect(changes.count == expected.count)
    let areAsExpected = Set(changes) == Set(expected)
    #expect(areAsExpected)
    observation.cancel()
  }

  /// Killed during or after a transaction: the reported changes are those in the file.
  @Test func commitsOfAKilledProcessAreReported() throws {
    let vault = try TestVault()
    try vault.handle().put("first")
    let seen = Mutex<Set<CredentialIdentity?>>([])
    let observation = vault.handle().observe { change in
      seen.withLock { _ = $0.insert(change.identity) }
    }
    for round in 0..<5 {
      let child = try Child(["items", "\(round)-"], on: vault)
      _ = child.line()
      usleep(UInt32(5_000 * round))
      _ = child.killed()
    }
    let items = try vault.handle().search(CredentialQuery()).credentials.map(\.identity)
    let there = Set(items.map(Optional.some)).subtracting([.test("first")])
    eventually { seen.withLock { $0 } == there }
    let areAsExpected = seen.withLock { $0 } == there
    #expect(areAsExpected)
    observation.cancel()
  }

  /// Waits on its own thread: those of the pool belong to tests that block them for minutes.
  private func eventually(_ condition: () -> Bool) {
    for _ in 0..<6000 where !condition() { usleep(10_000) }
  }
}
