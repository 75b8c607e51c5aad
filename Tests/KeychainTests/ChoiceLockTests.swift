import Foundation
import Keychain
import KeychainVault
import Synchronization
import Testing

@Suite("The lock of the choice of store", .timeLimit(.minutes(10)))
struct ChoiceLockTests {
  /// For what must happen, however slow the machine is.
  private static let patience = Duration.seconds(300)

  private let machine: Machine

  init() throws { machine = try Machine() }

  private var lock: ChoiceLock {
    ChoiceLock(environment: VaultEnvironment(machine.environment))
  }

  @Test func writersShareItAndAMigrationHoldsItAlone() throws {
    do {
      let first = try lock.shared(within: .zero)
      let second = try lock.shared(within: .zero)
      expect(.busy) { _ = try lock.exclusive(within: .milliseconds(50)) }
      extendLifetime(first)
      extendLifetime(second)
    }
    do {
      let alone = try lock.exclusive(within: .zero)
      expect(.busy) { _ = try lock.shared(within: .milliseconds(50)) }
      expect(.busy) { _ = try lock.exclusive(within: .milliseconds(50)) }
      extendLifetime(alone)
    }
    _ = try lock.shared(within: .zero)
  }

  /// Who waits to hold it alone keeps others from sharing it, and gets it after those who do.
  @Test func nobodyOvertakesAMigration() throws {
    let holders = Holders(lock, count: 1, staysHeld: true)
    holders.start()
    holders.waitUntilHeld()
    let lock = lock
    let granted = DispatchSemaphore(value: 0)
    Thread {
      let alone = try? lock.exclusive(within: Self.patience)
      if alone != nil { granted.signal() }
      extendLifetime(alone)
    }.start()
    while (try? lock.shared(within: .zero)) != nil { usleep(1000) }
    holders.end()
    #expect(granted.wait(timeout: .now() + 300) == .success)
  }

  /// Without the turnstile, eight that come and go leave no moment in which nobody holds it.
  @Test func aMigrationDoesNotStarve() throws {
    let holders = Holders(lock, count: 8, staysHeld: false)
    holders.start()
    holders.waitUntilHeld()
    _ = try lock.exclusive(within: Self.patience)
    holders.end()
  }

  @Test func itsDescriptorsEndWithAnotherProgram() throws {
    let alone = try lock.exclusive(within: .zero)
    let shared = try Machine()
    let other = ChoiceLock(environment: VaultEnvironment(shared.environment))
    let second = try other.shared(within: .zero)
    let folders = [machine.folder.path, shared.folder.path]
    var count = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
      guard let link, folders.contains(where: link.hasPrefix), let number = Int32(name) else {
        continue
      }
      count += 1
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(count == 3)
    extendLifetime(alone)
    extendLifetime(second)
  }

  @Test func aGenerationBeginsWhenItIsSaid() throws {
    #expect(lock.generation() == nil)
    _ = try lock.shared(within: .zero)
    let before = lock.generation()
    #expect(before != nil)
    _ = try lock.exclusive(within: .zero)
    #expect(lock.generation() == before)
    try lock.exclusive(within: .zero).beginGeneration()
    #expect(lock.generation() != before)
  }

  /// In `/proc` nobody can make anything, whoever runs the test.
  @Test func whereNothingCanBeMadeThereIsNone() throws {
    let lock = ChoiceLock(environment: VaultEnvironment(["XDG_STATE_HOME": "/proc/nowhere"]))
    let isHeld = try lock.shared(within: .zero) != nil
    #expect(!isHeld)
    expect(.inputOutput) { _ = try lock.exclusive(within: .zero) }
  }

  @Test func otherFailuresAreFailures() throws {
    let file = machine.folder.path + "/file"
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    let lock = ChoiceLock(environment: VaultEnvironment(["XDG_STATE_HOME": file]))
    expect(.inputOutput) { _ = try lock.shared(within: .zero) }
  }
}

/// Threads that hold the lock together, again and again or once.
private final class Holders: Sendable {
  private let lock: ChoiceLock
  private let count: Int
  private let staysHeld: Bool
  private let state = Mutex((hasEnded: false, rounds: 0, running: 0))

  init(_ lock: ChoiceLock, count: Int, staysHeld: Bool) {
    self.lock = lock
    self.count = count
    self.staysHeld = staysHeld
  }

  var rounds: Int { state.withLock(\.rounds) }

  func start() {
    state.withLock { $0.running = count }
    for _ in 0..<count { Thread { [self] in hold() }.start() }
  }

  private func hold() {
    while !state.withLock({ $0.hasEnded }) {
      guard let held = try? lock.shared(within: .seconds(300)) else { break }
      state.withLock { $0.rounds += 1 }
      while staysHeld, !state.withLock({ $0.hasEnded }) { usleep(1000) }
      extendLifetime(held)
    }
    state.withLock { $0.running -= 1 }
  }

  /// Waits until each has held it.
  func waitUntilHeld() { while rounds < count { usleep(1000) } }

  func end() {
    state.withLock { $0.hasEnded = true }
    while state.withLock({ $0.running > 0 }) { usleep(1000) }
  }
}
