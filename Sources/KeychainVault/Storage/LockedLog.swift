internal import Foundation
internal import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

/// Takes the lock of a vault, which is one on its file.
enum VaultLock {
  /// Opens the file that has the name, and locks it against everybody else.
  ///
  /// Each call opens the file again, so threads of one process exclude each other, too.
  ///
  /// - Parameters:
  ///   - path: The real path of the vault.
  ///   - disk: Where it is.
  ///   - writing: `false` to look at the file while nobody changes it, even if it can't be written.
  ///   - deadline: When to give up.
  /// - Returns: The locked file; `nil` if there is none.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/busy`` if others held the lock until the
  ///   deadline, or with another code if the file cannot be opened, or must not be written.
  static func take(
    _ path: String, on disk: any VaultDisk, writing: Bool = true, until deadline: Deadline
  ) throws(KeychainError) -> LockedLog? {
    repeat {
      guard let file = try open(path, on: disk, writing: writing) else { return nil }
      let status: DiskStatus
      do throws(Errno) {
        guard try file.lock(exclusive: true, until: deadline) else { break }
        status = try file.status()
        // Who held the lock may have given the name to a new file.
        guard try disk.status(of: path)?.identity == status.identity else { continue }
      } catch {
        throw .vault(path, error, doing: "lock")
      }
      guard !writing || status.links > 0 else { throw .replacedOutside(path) }
      return LockedLog(path: path, disk: disk, file: file, status: status)
    } while !deadline.hasPassed
    throw .held(path)
  }

  private static func open(
    _ path: String, on disk: any VaultDisk, writing: Bool
  ) throws(KeychainError) -> (any DiskFile)? {
    do throws(Errno) {
      return try disk.open(path, writing: writing)
    } catch {
      guard error != .noSuchFileOrDirectory else { return nil }
      throw .vault(path, error, doing: "open")
    }
  }
}

/// The file of a vault whose lock this process holds: appends, settles and replaces.
///
/// It knows frames only as bytes. The lock is held until ``unlock()``, or until nothing refers to
/// ``file`` any more.
struct LockedLog: Sendable {
  let path: String
  let disk: any VaultDisk
  let file: any DiskFile

  /// The file's status when it was locked.
  let status: DiskStatus

  /// Whether the file has another name, whose contents must not change with this one: a write must
  /// make a new file.
  var hasOtherNames: Bool { status.links > 1 }

  /// Lets the lock go.
  func unlock() { file.unlock() }

  /// Appends a frame, durably.
  ///
  /// If that fails, what was written is cut off again, and the cut is synced. A sync that failed is
  /// not repeated for the same bytes: the system has forgotten what it did not write.
  ///
  /// - Parameters:
  ///   - frame: Its bytes, one part after the other.
  ///   - end: Where the last good frame ends.
  ///   - unfinished: Whether bytes follow there, which are cut off first.
  ///   - syncsFolder: Whether the name of the file may not be durable yet.
  /// - Returns: The file's status with the frame: what changes it later shows in that.
  /// - Throws: ``WriteFailure``.
  @discardableResult func append(
    _ frame: [Data], at end: Int, cutting unfinished: Bool, syncsFolder: Bool
  ) throws(WriteFailure) -> DiskStatus {
    if unfinished {
      do throws(Errno) { try file.truncate(to: end) } catch { throw .unchanged(error) }
    }
    do throws(Errno) {
      try file.write(frame, at: end)
      try file.syncData()
      if syncsFolder { try disk.syncFolder(of: path) }
    } catch {
      do throws(Errno) {
        try file.truncate(to: end)
        try file.syncData()
      } catch { throw .unknown(error) }
      throw .unchanged(error)
    }
    // Where locks don't exclude other machines, one of two writers finds the other's bytes.
    let beginning = Data(frame.joined().prefix(Self.comparedCount))
    let (status, found): (DiskStatus, Data)
    do throws(Errno) {
      status = try file.status()
      found = try file.read(end..<end + beginning.count)
    } catch { throw .unknown(error) }
    guard found == beginning, status.size == frame.reduce(end, { $0 + $1.count }) else {
      throw .unknown(.noLocks)
    }
    return status
  }

  /// Makes the last frame durable, which somebody else wrote and may not have synced.
  ///
  /// It is written again, because a sync that has failed may have left it in memory alone. A failure
  /// cuts nothing off.
  ///
  /// - Parameters:
  ///   - lastFrame: Its bytes.
  ///   - offset: Its place.
  ///   - syncsFolder: Whether the name of the file may not be durable yet.
  /// - Throws: `Errno` if it may not be durable.
  func settle(_ lastFrame: [Data], at offset: Int, syncsFolder: Bool) throws(Errno) {
    try file.write(lastFrame, at: offset)
    try file.syncData()
    if syncsFolder { try disk.syncFolder(of: path) }
  }

  /// Gives the name of this file to a new one, durably.
  ///
  /// - Returns: The new file, which is locked; this one stays locked, too.
  /// - Throws: ``WriteFailure``: unknown if the new file has the name, and may lose it.
  func replace(by new: consuming UnfinishedVault) throws(WriteFailure) -> LockedLog {
    try new.takeName(replacing: true)
  }

  /// The bytes of a frame that are read again after writing: a header and a nonce.
  private static let comparedCount = 64
}

/// How a write to a vault has failed.
enum WriteFailure: Error, Hashable {
  /// The old state holds.
  case unchanged(Errno)

  /// The old state may hold, or the new one. The error is `Errno.noLocks` if somebody else wrote at
  /// the same place.
  case unknown(Errno)
}
