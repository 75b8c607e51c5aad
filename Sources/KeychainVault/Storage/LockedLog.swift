internal import Foundation
internal import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

/// Takes the lock of a vault, which is one on its file.
enum VaultLock {
  /// Opens the file that has the name, if any, and locks it against everybody else, other threads included.
  ///
  /// Without `writing`, it is one to look at, which need not be writable.
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

/// The file of a vault whose lock this process holds, until ``unlock()`` or until nothing refers to ``file`` any more.
struct LockedLog: Sendable {
  let path: String
  let disk: any VaultDisk
  let file: any DiskFile

  /// The file's status when it was locked.
  let status: DiskStatus

  /// Whether a write must make a new file, so that what has another name doesn't change.
  var hasOtherNames: Bool { status.links > 1 }

  func unlock() { file.unlock() }

  /// Appends a frame at the end of the last good one, durably, or cuts it off again; see "Appending" of the format.
  ///
  /// - Returns: The file's status with the frame: what changes it later shows in that.
  @discardableResult func append(
    _ frame: Data, at end: Int, cutting unfinished: Bool, syncsFolder: Bool
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
    let beginning = frame.prefix(Self.comparedCount)
    let (status, found): (DiskStatus, Data)
    do throws(Errno) {
      status = try file.status()
      found = try file.read(end..<end + beginning.count)
    } catch { throw .unknown(error) }
    guard found == beginning, status.size == end + frame.count else {
      throw .unknown(.noLocks)
    }
    return status
  }

  /// Makes the last frame durable, which somebody else wrote: again, as a failed sync may have left it in memory alone.
  func settle(_ lastFrame: Data, at offset: Int, syncsFolder: Bool) throws(Errno) {
    try file.write(lastFrame, at: offset)
    try file.syncData()
    if syncsFolder { try disk.syncFolder(of: path) }
  }

  /// The bytes of a frame that are read again after writing: a header and a nonce.
  private static let comparedCount = 64
}

/// How a write to a vault has failed.
enum WriteFailure: Error, Hashable {
  /// The old state holds.
  case unchanged(Errno)

  /// The old state may hold, or the new one; `Errno.noLocks` if somebody else wrote at the same place.
  case unknown(Errno)
}
