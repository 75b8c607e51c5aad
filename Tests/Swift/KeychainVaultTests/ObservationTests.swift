import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

/// To an observer, another handle in the same process is like another process.
@Suite("Observing what others change", .timeLimit(.minutes(10)))
struct ObservationTests {
  @Test func changesByAnotherHandleAreReported() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    try other.put("old", group: "team")
    let recorder = ChangeRecorder(vault.handle())
    try other.put("new")
    #expect(try await recorder.waited(for: 1) == [.added("new")])
    try other.put("new", "another")
    try other.update(.test("old", group: "team"), with: CredentialUpdate(label: .set("L")))
    try other.remove(.test("new"))
    // The change of an item that is removed immediately may or may not be seen.
    #expect(try await recorder.isTold([.removed("new"), .updated("old", group: "team")]))
    try other.remove(.test("old", group: "team"))
    #expect(try await recorder.isTold([.removed("old", group: "team")]))
  }

  @Test func ownChangesAreReportedOnceAndImmediately() async throws {
    let vault = try TestVault()
    let handle = vault.handle()
    let recorder = ChangeRecorder(handle)
    try handle.put("a")
    #expect(recorder.changes == [.added("a")])
    try handle.put("a")
    #expect(recorder.changes == [.added("a"), .updated("a")])
    try handle.remove(.test("a"))
    try handle.put("b")
    let all: [CredentialChange] = [.added("a"), .updated("a"), .removed("a"), .added("b")]
    #expect(try await recorder.waited(for: 4) == all)
    try vault.handle().put("c")
    #expect(try await recorder.waited(for: 5) == all + [.added("c")])
  }

  @Test func concurrentChangesAreEachReportedOnce() async throws {
    let vault = try TestVault()
    let handle = vault.handle()
    try handle.put("first")
    let recorder = ChangeRecorder(handle)
    let other = Thread { [other = vault.handle()] in
      for number in 0..<100 { _ = try? other.put("other-\(number)") }
    }
    other.start()
    for number in 0..<100 { try handle.put("own-\(number)") }
    let expected = (0..<100).flatMap {
      [CredentialChange.added("own-\($0)"), .added("other-\($0)")]
    }
    let changes = try await recorder.waited(for: 200)
    #expect(changes.count == 200)
    let areAsExpected = Set(changes) == Set(expected)
    #expect(areAsExpected)
  }

  @Test func thousandChangesAreAllReported() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    let recorder = ChangeRecorder(vault.handle())
    for number in 0..<1000 { try other.put("\(number)") }
    let changes = try await recorder.waited(for: 1000)
    #expect(changes.count == 1000)
    let areAsExpected = Set(changes) == Set((0..<1000).map { .added("\($0)") })
    #expect(areAsExpected)
  }

  @Test func nothingIsMissedWhileAnObservationBegins() async throws {
    let vault = try TestVault()
    try vault.handle().put("first")
    for round in 0..<10 {
      let recorder = ChangeRecorder(vault.handle())
      try vault.handle().put("\(round)")
      #expect(try await recorder.waited(for: 1, thenStillFor: .zero) == [.added("\(round)")])
    }
  }

  @Test func changesAreASequence() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    // Only the sequence retains the observing handle.
    var changes = vault.handle().changes().makeAsyncIterator()
    try other.put("a")
    #expect(await changes.next() == .added("a"))
    try other.remove(.test("a"))
    #expect(await changes.next() == .removed("a"))
  }

  @Test func lockedItemIsReportedWithoutName() async throws {
    let vault = try TestVault()
    let writer = vault.handle(passphrase: "open")
    try writer.put("a")
    let observer = vault.handle {
      $0.interaction = .allowed { _ in
        Issue.record("asked because of an observation")
        return nil
      }
    }
    let recorder = ChangeRecorder(observer)
    try writer.put("b")
    #expect(try await recorder.waited(for: 1) == [CredentialChange(nil, .added)])
    try writer.put("open", "s", .always)
    #expect(try await recorder.waited(for: 2).last == .added("open"))
    // Items that were locked at the start can be named after an unlock.
    try writer.unlock()
    try writer.remove(.test("a"))
    #expect(try await recorder.waited(for: 3).last == .removed("a"))
    try vault.handle().lock()
    try writer.remove(.test("b"))
    #expect(try await recorder.waited(for: 4).last == CredentialChange(nil, .removed))
  }

  @Test func observingDoesNotKeepTheVaultUnlocked() async throws {
    let vault = try TestVault()
    let writer = vault.handle(passphrase: "open")
    try writer.put("a")
    try writer.unlock()
    let observer = vault.handle { $0.idleTime = .seconds(1000) }
    let before = try vault.handle().status().cachedFor
    let recorder = ChangeRecorder(observer)
    try writer.put("b", "s", .always)
    #expect(try await recorder.waited(for: 1) == [.added("b")])
    let after = try #require(try vault.handle().status().cachedFor)
    #expect(try after <= #require(before))
  }

  @Test func newRootKeyChangesNothing() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    for number in 0..<5 { try other.put("\(number)", group: number > 2 ? "team" : "") }
    let observer = vault.handle()
    let recorder = ChangeRecorder(observer)
    try other.addPassphraseSlot(SecretBytes(copying: "open"))
    try vault.handle(passphrase: "open").put("later", "s", .always)
    #expect(try await recorder.waited(for: 1) == [.added("later")])
  }

  @Test func ownNewRootKeyChangesNothing() async throws {
    let vault = try TestVault()
    let handle = vault.handle()
    for number in 0..<5 { try handle.put("\(number)") }
    let recorder = ChangeRecorder(handle)
    try handle.addPassphraseSlot(SecretBytes(copying: "open"))
    #expect(try await recorder.waited(for: 0) == [])
    try vault.handle(passphrase: "open").put("0", "s", .always)
    #expect(try await recorder.waited(for: 1) == [.updated("0")])
  }

  @Test func newBaseChangesNothing() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    for name in ["a", "b"] { try other.put(name) }
    let handle = vault.handle()
    let recorder = ChangeRecorder(handle)
    try other.compact()
    try handle.compact()
    #expect(try await recorder.waited(for: 0) == [])
    // What changed with or around a base is reported as it is.
    try other.put("c")
    try other.compact()
    #expect(try await recorder.waited(for: 1) == [.added("c")])
    try other.remove(.test("a"))
    try handle.put("b", "own")
    try other.put("b", "theirs")
    try other.compact()
    let changes = try await recorder.waited(for: 4)
    let expected: Set<CredentialChange> = [.added("c"), .removed("a"), .updated("b")]
    #expect(Set(changes) == expected && changes.count == 4)
  }

  /// Each of these makes a base, and the log between them begins again.
  @Test func changesAroundNewKeysAreExact() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    for name in ["a", "b"] { try other.put(name) }
    // Under new keys, the name of a removed item is known only if it needs no unlock.
    try other.put("c", "s", .always)
    let recorder = ChangeRecorder(vault.handle())
    try other.put("a", "new")
    try other.rekey { _ in true }
    try other.put("d")
    try other.rekey { _ in true }
    try other.remove(.test("c"))
    #expect(try await recorder.isTold([.updated("a"), .added("d"), .removed("c")]))
    #expect(try await recorder.waited(for: 3).count == 3)
  }

  /// Under new keys, an item has another id.
  @Test func changesAroundNewKeysAreExactInOneLook() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    for name in ["a", "b", "e"] { try other.put(name) }
    try other.put("c", "s", .always)
    let gate = DispatchSemaphore(value: 0)
    let seen = Mutex<[CredentialChange]>([])
    let observation = vault.handle().observe { change in
      seen.withLock { $0.append(change) }
      if change == .updated("b") { gate.wait() }
    }
    try other.put("b", "new")
    while seen.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(2)) }
    try other.put("a", "new")
    try other.rekey { _ in true }
    try other.put("d")
    try other.put("e", "new")
    try other.remove(.test("c"))
    gate.signal()
    let end = ContinuousClock.now + .seconds(60)
    while seen.withLock({ $0.count < 5 }), .now < end {
      try await Task.sleep(for: .milliseconds(2))
    }
    observation.cancel()
    let changes = seen.withLock { $0 }
    #expect(
      Set(changes) == [
        .updated("b"), .updated("a"), .added("d"), .updated("e"), .removed("c"),
      ])
    #expect(changes.count == 5)
  }
}
