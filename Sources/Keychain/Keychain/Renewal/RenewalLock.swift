internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainVault
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

/// The lock for renewing a credential.
///
/// One task of all processes of the user holds it, until the object is destroyed.
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

  /// Creates the lock without taking it.
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
    } catch let error where error.code == .inputOutput || error.code == .noStore {
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

/// The pause before the next attempt, which is random and grows.
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

  private static let running = PosixMutex<Set<Name>>([])

  static func begin(_ name: Name) -> Bool { running.withLock { $0.insert(name).inserted } }

  static func end(_ name: Name) { running.withLock { _ = $0.remove(name) } }
}

/// The lock on a file for renewing one credential, held until the object is destroyed.
///
/// It locks one byte of the file `renewal.lock` in the state folder (`fcntl`, `F_OFD_SETLK`), so
/// that one file serves all credentials. The lock belongs to the open file: it works between
/// threads as between processes, and the kernel releases it when the process ends, even after a
/// crash.
///
/// Every user of the machine can read in `/proc/locks` which byte is locked. So the byte is chosen
/// by a hash of the credential's names, keyed with the random contents of the file.
final class RenewalFileLock: Sendable {
  private let descriptor: FileDescriptor
  private let path: String
  private let position: Int64

  /// Opens the lock of a credential, without taking it, and creates the file if needed.
  init(_ identity: CredentialIdentity, environment: EnvironmentVariables) throws(KeychainError) {
    let state = StateFolder(environment: environment)
    path = try state.path() + "/renewal.lock"
    descriptor = try Self.open(path, in: state)
    do throws(KeychainError) {
      position = try Self.position(of: identity, in: descriptor, path)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  deinit {
    // A child that was forked meanwhile has the same open file, and would keep the lock.
    _ = try? set(F_UNLCK)
    try? descriptor.close()
  }

  /// Takes the lock; `false` if it is held.
  func take() throws(KeychainError) -> Bool {
    try translated(onFile(path, "lock", set(F_WRLCK)))
  }

  private func set(_ kind: CInt) throws(Errno) -> Bool {
    var range = Glibc.flock(
      l_type: Int16(kind), l_whence: Int16(SEEK_SET), l_start: Int(position), l_len: 1, l_pid: 0)
    do throws(Errno) {
      _ = try Interruptions.repeating {
        unsafe fcntl(descriptor.rawValue, Self.setLock, &range)
      }
      return true
    } catch {
      guard error == .resourceTemporarilyUnavailable || error == .permissionDenied else {
        throw error
      }
      return false
    }
  }

  /// `F_OFD_SETLK`: <fcntl.h> defines it behind a macro that Swift's Glibc module does not set.
  private static let setLock: CInt = 37

  private static func open(
    _ path: String, in state: StateFolder
  ) throws(KeychainError) -> FileDescriptor {
    if try translated(PrivateFile.inspect(path)) == nil {
      try state.make()
      try create(path)
    }
    return try translated(
      onFile(path, "open", PrivateFile.open(path, .readWrite, flags: O_NONBLOCK)))
  }

  private static func create(_ path: String) throws(KeychainError) {
    let key = (0..<keyCount).map { _ in UInt8.random(in: 0 ... .max) }
    try translating { () throws(FileError) in
      // Another process may have created it first; then its key is used.
      _ = try PrivateFile.createIfAbsent(path) { descriptor throws(Errno) in
        try DescriptorIO.write(key, to: descriptor)
      }
    }
  }

  private static func position(
    of identity: CredentialIdentity, in descriptor: FileDescriptor, _ path: String
  ) throws(KeychainError) -> Int64 {
    let key = try translated(onFile(path, "read", DescriptorIO.read(descriptor, keyCount)))
    let names = MetadataCoding.identityFields(identity)
    let hash = try Derivation.hash(Data(key + names), count: 32)
    let number = hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    // The maximum position in a file is 2^63 - 1.
    return Int64(number >> 2)
  }

  private static let keyCount = 32
}
