import Foundation
import Keychain
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import Synchronization
import Testing

@testable import KeychainSecretService

/// What a program does through the choice of store just before a migration changes it.
@Suite("Writers while a service moves", .serialized, .timeLimit(.minutes(10)))
struct MovingTests {
  private static let desktop = Result { try Desktop(.gnomeKeyring) }
  private static let keyring = StorePlace.secretService(.default)

  private let desktop: Desktop
  private let folder: HomeFolder

  init() throws {
    desktop = try Self.desktop.get()
    folder = try HomeFolder()
    try desktop.store().removeEverything()
    try desktop.automaticStore(folder) { $0.choice = .vault }.put("a", "old")
  }

  private var program: AutomaticStore { desktop.automaticStore(folder) }
  private var choiceLock: String { folder.path + "/state/keychain/choice.lock" }

  /// Moves everything; another program acts just before and just after the record changes.
  ///
  /// If the program must wait for the lock, the migration continues meanwhile.
  private func move(
    from source: StorePlace = .vault, to target: StorePlace = keyring,
    _ change: (inout CredentialMigration) -> Void = { _ in },
    before: @escaping @Sendable (AutomaticStore) throws -> Void,
    after: @escaping @Sendable (AutomaticStore) throws -> Void = { _ in }
  ) throws {
    let other = OtherProgram(program, lock: choiceLock, [before, after])
    var migration = try program.migration(from: source, to: target)
    migration.removesSource = true
    change(&migration)
    let changeRecord = migration.whenComplete
    migration.whenComplete = { service throws(KeychainError) in
      try other.act()
      try changeRecord?(service)
      try other.act()
    }
    try migration.run()
    try other.finish()
  }

  /// Checks what a program reads; throws, because that program runs outside the test.
  private static func expect(_ account: String, _ text: String?, _ store: AutomaticStore) throws {
    let found = try store.text(account)
    try #require(found == text, "'\(account)'")
  }

  @Test func aSetIsNotHiddenByTheMove() throws {
    try move(before: { try $0.put("a", "new") }) { try Self.expect("a", "new", $0) }
    #expect(try program.text("a") == "new")
    #expect(try program.vault.search(CredentialQuery()).credentials.isEmpty)
  }

  @Test func moveDoesNotHideNewCredential() throws {
    try move(before: { try $0.put("b", "new") }) { try Self.expect("b", "new", $0) }
    #expect(try program.text("b") == "new")
    #expect(try program.text("a") == "old")
  }

  @Test func theNewestValueIsKept() throws {
    try move({ $0.isOverwriting = true }, before: { try $0.put("a", "newer") }) {
      try $0.put("a", "newest")
    }
    #expect(try program.text("a") == "newest")
  }

  @Test func aRemovalIsNotUndone() throws {
    let identity = CredentialIdentity.genericPassword(service: "test", account: "a")
    try move(before: { _ = try $0.remove(identity) }) { try Self.expect("a", nil, $0) }
    #expect(try program.text("a") == nil)
  }

  @Test func aNewNameIsKept() throws {
    let old = CredentialIdentity.genericPassword(service: "test", account: "a")
    let new = CredentialIdentity.genericPassword(service: "test", account: "b")
    try move(before: { _ = try $0.rename(old, to: new, expectedVersion: nil) }) {
      try Self.expect("b", "old", $0)
    }
    #expect(try program.text("a") == nil)
    #expect(try program.text("b") == "old")
  }

  /// Several threads set and read credentials of a service that moves back and forth.
  @Test func nothingIsLostToAndFro() throws {
    let hasEnded = Mutex(false)
    let writers = (0..<4).map { number in
      OtherProgram(
        program, lock: choiceLock,
        [
          { store in
            var count = 0
            while !hasEnded.withLock({ $0 }) {
              count += 1
              try store.put("writer \(number)", "\(count)")
              try Self.expect("writer \(number)", "\(count)", store)
            }
          }
        ])
    }
    for writer in writers { writer.begin() }
    for _ in 0..<5 {
      for (source, target) in [(StorePlace.vault, Self.keyring), (Self.keyring, .vault)] {
        var migration = try program.migration(from: source, to: target)
        migration.removesSource = true
        try migration.run()
      }
    }
    hasEnded.withLock { $0 = true }
    for writer in writers { try writer.finish() }
    #expect(try program.text("a") == "old")
  }
}

/// Another program of the desktop, with a separate handle, which performs one step at a time.
private final class OtherProgram: Sendable {
  private let turns = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)
  private let failure = Mutex<(any Error)?>(nil)
  private let pending: Mutex<Int>
  private let lock: String

  /// Prepares the program.
  ///
  /// - Parameters:
  ///   - store: The handle of the program.
  ///   - lock: The lock file for which it may have to wait.
  ///   - steps: The steps of the program.
  init(
    _ store: AutomaticStore, lock: String,
    _ steps: [@Sendable (AutomaticStore) throws -> Void]
  ) {
    self.lock = lock
    pending = Mutex(steps.count)
    Thread { [self] in
      for step in steps {
        turns.wait()
        do { try step(store) } catch { failure.withLock { $0 = $0 ?? error } }
        done.signal()
      }
    }.start()
  }

  /// Starts the next step.
  func begin() { turns.signal() }

  /// Starts the next step while a migration holds the lock, and waits until the step has ended or
  /// waits for the lock.
  func act() throws(KeychainError) {
    begin()
    let end = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < end {
      if done.wait(timeout: .now() + 0.01) == .success {
        pending.withLock { $0 -= 1 }
        return
      }
      if isAtLock { return }
    }
    throw KeychainError(.timedOut, "the other program neither ends its step nor waits")
  }

  /// Whether another process than the migration has the lock file open.
  private var isAtLock: Bool {
    let folder = "/proc/self/fd/"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.count {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0)) == lock
    } > 1
  }

  /// Waits for all steps to end.
  func finish() throws {
    for _ in 0..<pending.withLock({ $0 }) {
      begin()
      try #require(done.wait(timeout: .now() + 300) == .success, "the other program hangs")
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
