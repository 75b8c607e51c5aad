internal import Foundation
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import Synchronization

/// The lock for renewing a credential, held by one task of all processes of the user, until the
/// object is destroyed.
///
/// All handles of all stores use the same lock. A store in memory belongs to this process, and
/// needs no file.
final class RenewalLock: Sendable {
  private enum Place: Sendable {
    case file(RenewalFileLock)
    case memory(LocksInMemory.Name)
  }

  private let place: Place
  private let isTaken = Atomic(false)

  /// Names the lock without taking it.
  ///
  /// - Throws: ``KeychainError`` if the file of the lock cannot be opened.
  init(_ identity: CredentialIdentity, in store: any CredentialStore) throws(KeychainError) {
    if let store = store as? InMemoryCredentialStore {
      place = .memory(LocksInMemory.Name(store: ObjectIdentifier(store), identity: identity))
    } else {
      place = .file(try Self.lock(identity, environment: store.environment))
    }
  }

  private static func lock(
    _ identity: CredentialIdentity, environment: EnvironmentVariables
  ) throws(KeychainError) -> RenewalFileLock {
    do throws(KeychainError) {
      return try RenewalFileLock(identity, environment: environment)
    } catch {
      guard error.code == .inputOutput || error.code == .noStore else { throw error }
      throw KeychainError(
        error.code, "\(identity) cannot be locked for its renewal: \(error.message)",
        recovery: "set XDG_STATE_HOME to a folder that can be written", underlying: error.underlying
      )
    }
  }

  deinit {
    if case .memory(let name) = place, isTaken.load(ordering: .acquiring) {
      LocksInMemory.end(name)
    }
  }

  /// Takes the lock, unless it is held.
  private func take() throws(KeychainError) -> Bool {
    switch place {
    case .file(let lock): return try lock.take()
    case .memory(let name):
      guard LocksInMemory.begin(name) else { return false }
      isTaken.store(true, ordering: .releasing)
      return true
    }
  }

  /// Waits for the lock until the task is cancelled, without blocking a thread.
  func wait() async throws {
    var pause = Pause()
    while try !take() { try await Task.sleep(for: .microseconds(pause.next())) }
  }

  /// Waits for the lock, and blocks the thread.
  func wait(within deadline: RenewalTimeout) throws(KeychainError) {
    var pause = Pause()
    while try !take() {
      guard !deadline.hasPassed else { throw deadline.renewedElsewhere }
      usleep(UInt32(pause.next()))
    }
  }
}

/// How long to wait before the next attempt: longer each time, and random.
private struct Pause {
  private var longest = 4000

  /// Returns the next pause in microseconds.
  mutating func next() -> Int {
    defer { longest = min(longest * 3 / 2, 100_000) }
    return .random(in: longest / 2...longest)
  }
}

/// The locks of stores in the memory of this process.
private enum LocksInMemory {
  struct Name: Hashable {
    let store: ObjectIdentifier
    let identity: CredentialIdentity
  }

  private static let running = Mutex<Set<Name>>([])

  static func begin(_ name: Name) -> Bool { running.withLock { $0.insert(name).inserted } }

  static func end(_ name: Name) { running.withLock { _ = $0.remove(name) } }
}
