internal import Foundation
internal import Glibc
internal import KeychainCredentials
internal import KeychainVault
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// The lock under which one credential is renewed, held until the object is destroyed.
///
/// It is a lock on one byte of the file `renewal.lock` in the state folder (`fcntl`,
/// `F_OFD_SETLK`), so that one file is enough for all credentials. The lock belongs to the open
/// file: it works between threads as between processes, and the kernel releases it when the process
/// ends, even after a crash.
///
/// Every user of the machine can read in `/proc/locks` which byte is locked. The byte is therefore
/// chosen by a hash of the credential's names, keyed with random bytes: the contents of the file.
final class RenewalFileLock: Sendable {
  private let descriptor: FileDescriptor
  private let path: String
  private let position: Int64

  /// Opens the lock of a credential, and creates the file if it is missing.
  ///
  /// Nothing is locked yet.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no place for the
  ///   file, ``KeychainError/Code/insecurePermissions`` if other users could change it, or
  ///   ``KeychainError/Code/inputOutput``.
  init(
    _ identity: CredentialIdentity, environment: EnvironmentVariables
  ) throws(KeychainError) {
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

  /// Takes the lock, unless it is held.
  ///
  /// - Returns: Whether it was taken.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/inputOutput``.
  func take() throws(KeychainError) -> Bool {
    do throws(Errno) {
      return try set(F_WRLCK)
    } catch {
      throw .system(error, "lock", path)
    }
  }

  private func set(_ kind: CInt) throws(Errno) -> Bool {
    var range = Glibc.flock(
      l_type: Int16(kind), l_whence: Int16(SEEK_SET), l_start: Int(position), l_len: 1, l_pid: 0)
    while unsafe fcntl(descriptor.rawValue, Self.setLock, &range) != 0 {
      switch Errno.current {
      case .resourceTemporarilyUnavailable, .permissionDenied: return false
      case .interrupted: continue
      case let error: throw error
      }
    }
    return true
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
    do throws(Errno) {
      return try PrivateFile.open(path, .readWrite, flags: O_NONBLOCK)
    } catch {
      throw .system(error, "open", path)
    }
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
    let key: [UInt8]
    do throws(Errno) {
      key = try DescriptorIO.read(descriptor, keyCount)
    } catch {
      throw .system(error, "read", path)
    }
    let names = MetadataCoding.identityFields(identity)
    let hash = try Derivation.hash(Data(key + names), count: 32)
    let number = hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    // The maximum position in a file is 2^63 - 1.
    return Int64(number >> 2)
  }

  private static let keyCount = 32
}
