import Foundation
import Keychain
import KeychainVault
import PrephirencesSystem
import Synchronization
import Testing

@Suite("The lock of the choice of store", .timeLimit(.minutes(10)))
struct ChoiceLockTests {
  /// The time limit for results that must come, even on a slow machine.
  private static let timeout = Duration.seconds(300)

  private let machine: Machine

  init() throws { machine = try Machine() }

  private var lock: ChoiceLock {
    ChoiceLock(StateFolder(environment: EnvironmentVariables(machine.environment)))
  }

  @Test func writersShareLockAndMigrationHoldsItAlone() throws {
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

  /// A holder-to-be of the exclusive lock blocks new sharers, and gets the lock after the present
  /// ones.
  @Test func waitingMigrationBlocksNewSharers() throws {
    let holders = Holders(lock, count: 1, staysHeld: true)
    holders.start()
    holders.waitUntilHeld()
    let lock = lock
    let granted = DispatchSemaphore(value: 0)
    Thread {
      let alone = try? lock.exclusive(within: Self.timeout)
      if alone != nil { granted.signal() }
      extendLifetime(alone)
    }.start()
    waitUntil("the migration waits") { (try? lock.shared(within: .zero)) == nil }
    holders.end()
    #expect(granted.wait(timeout: .now() + 300) == .success)
  }

  /// Each writer takes its next share before it releases the last one, if it can: without the
  /// turnstile, the lock would never be free.
  @Test func aMigrationDoesNotStarve() throws {
    let holders = Holders(lock, count: 2, staysHeld: false)
    holders.start()
    defer { holders.end() }
    holders.waitUntilHeld()
    _ = try lock.exclusive(within: Self.timeout)
  }

  @Test func itsDescriptorsEndWithAnotherProgram() throws {
    let alone = try lock.exclusive(within: .zero)
    let shared = try Machine()
    let other = ChoiceLock(StateFolder(environment: EnvironmentVariables(shared.environment)))
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

  @Test func aWriterThatWaitsIsToldOnce() throws {
    let told = Record<Notice.Kind>()
    let lock = ChoiceLock(
      StateFolder(environment: EnvironmentVariables(machine.environment)),
      notice: { told.add($0.kind) })
    _ = try lock.shared(within: .zero)
    #expect(told.values.isEmpty)
    let alone = try lock.exclusive(within: .zero)
    expect(.busy) { _ = try lock.shared(within: .milliseconds(50)) }
    #expect(told.values == [.waitsForMigration])
    extendLifetime(alone)
  }

  /// In `/proc` no user can create files.
  @Test func noLockInUnwritableFolder() throws {
    let lock = ChoiceLock(
      StateFolder(environment: EnvironmentVariables(["XDG_STATE_HOME": "/proc/nowhere"])))
    let isHeld = try lock.shared(within: .zero) != nil
    #expect(!isHeld)
    expect(.inputOutput) { _ = try lock.exclusive(within: .zero) }
  }

  /// A file system entry with the name of a lock file that is not a lock file.
  enum Impostor: CaseIterable {
    case pipe, link, folder, openToOthers, ofAnotherUser

    func make(_ path: String) throws {
      switch self {
      case .pipe: try #require(mkfifo(path, 0o600) == 0)
      case .link:
        try #require(FileManager.default.createFile(atPath: path + ".target", contents: nil))
        try #require(symlink(path + ".target", path) == 0)
      case .folder: try #require(mkdir(path, 0o700) == 0)
      case .openToOthers, .ofAnotherUser:
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        try #require(chmod(path, self == .openToOthers ? 0o666 : 0o600) == 0)
        if self == .ofAnotherUser { try #require(chown(path, 65_534, 65_534) == 0) }
      }
    }
  }

  /// Without the superuser, files cannot be given to another user.
  private static let impostors = Impostor.allCases.filter { $0 != .ofAnotherUser || geteuid() == 0 }

  /// Opening a pipe waits for its other end, past any deadline.
  @Test(arguments: impostors, ["choice.lock", "choice.turnstile"])
  func otherFilesWithTheNameAreRefused(_ impostor: Impostor, name: String) throws {
    _ = try lock.shared(within: .zero)
    _ = try lock.exclusive(within: .zero)
    let path = machine.folder.path + "/state/keychain/" + name
    try FileManager.default.removeItem(atPath: path)
    try impostor.make(path)
    expect(.insecurePermissions) { _ = try lock.shared(within: .zero) }
    expect(.insecurePermissions) { _ = try lock.exclusive(within: .zero) }
    expect(.insecurePermissions) { try machine.store().put("a") }
  }

  @Test func otherFailuresAreFailures() throws {
    let file = machine.folder.path + "/file"
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    let lock = ChoiceLock(StateFolder(environment: EnvironmentVariables(["XDG_STATE_HOME": file])))
    expect(.inputOutput) { _ = try lock.shared(within: .zero) }
  }
}

/// Waits for a result that must come, with a limit for slow machines.
private func waitUntil(
  _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) {
  let end = ContinuousClock.now + .seconds(300)
  while !condition() {
    guard ContinuousClock.now < end else {
      Issue.record(what, sourceLocation: sourceLocation)
      return
    }
    usleep(1000)
  }
}

/// Threads that share the lock, repeatedly or once.
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
    while !hasEnded {
      guard var held = try? lock.shared(within: .seconds(300)) else { break }
      state.withLock { $0.rounds += 1 }
      while !hasEnded {
        usleep(1000)
        guard !staysHeld else { continue }
        // A thread that waits for a migration must not hold a share.
        guard let next = try? lock.shared(within: .zero) else { break }
        held = next
      }
      extendLifetime(held)
    }
    state.withLock { $0.running -= 1 }
  }

  private var hasEnded: Bool { state.withLock(\.hasEnded) }

  /// Waits until each thread has held the lock.
  func waitUntilHeld() { waitUntil("all hold it") { rounds >= count } }

  func end() {
    state.withLock { $0.hasEnded = true }
    waitUntil("all have ended") { state.withLock { $0.running == 0 } }
  }
}
