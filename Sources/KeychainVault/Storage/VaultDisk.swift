internal import Foundation
internal import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

/// What a vault does with files, by real paths: few calls, so that tests can put a model of a disk in their place.
protocol VaultDisk: Sendable {
  /// Looks at what has a name, without following a link; `nil` if there is nothing.
  func status(of path: String) throws(Errno) -> DiskStatus?

  /// Opens a file; one that is a link fails with `Errno.tooManySymbolicLinkLevels`.
  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile

  /// Opens a file for reading and writing, and makes an empty one, for the user alone, if there is none.
  func openTemporary(_ path: String) throws(Errno) -> any DiskFile

  /// Gives a file another name in its folder; `Errno.fileExists` if that is taken, and is not to be replaced.
  func rename(_ path: String, to name: String, replacing: Bool) throws(Errno)

  func remove(_ path: String) throws(Errno)

  /// Makes the names in the folder of a file durable.
  func syncFolder(of path: String) throws(Errno)

  /// The bytes that the user can still write to the file system of a file or folder.
  func freeBytes(at path: String) throws(Errno) -> UInt64

  /// Why no new file can take the name of a file, as far as it shows: `Errno.resourceBusy` if that is a mount.
  func obstacleToReplacing(_ path: String) -> Errno?
}

/// An open file of a vault.
protocol DiskFile: AnyObject, Sendable {
  func status() throws(Errno) -> DiskStatus

  /// Reads bytes, fewer at the end of the file, and never allocates more than the file has.
  func read(_ range: Range<Int>) throws(Errno) -> Data

  /// Writes all bytes, or fails with any of them written; with none if this process may not make a file that long.
  func write(_ bytes: Data, at offset: Int) throws(Errno)

  func truncate(to size: Int) throws(Errno)

  /// Makes the contents and the size durable.
  func syncData() throws(Errno)

  /// Makes the contents and all attributes durable.
  func sync() throws(Errno)

  /// Locks the file against all who opened it, even in this process; `false` if it was held until the deadline.
  func lock(exclusive: Bool, until deadline: Deadline) throws(Errno) -> Bool

  /// Lets the lock go. The last reference to the file does it, too.
  func unlock()

  /// Takes over mode, group and label of another file, as far as possible; without one, opens it to the user alone.
  func takeAttributes(of old: (any DiskFile)?)
}

extension VaultDisk {
  func status(at path: String) throws(KeychainError) -> DiskStatus? {
    try onDisk("read", path) { () throws(Errno) in try status(of: path) }
  }
}

extension DiskFile {
  func read(_ range: Range<Int>, of path: String) throws(KeychainError) -> Data {
    try onDisk("read", path) { () throws(Errno) in try read(range) }
  }

  func status(of path: String) throws(KeychainError) -> DiskStatus {
    try onDisk("read", path) { () throws(Errno) in try status() }
  }
}

/// What the file system says of a file.
struct DiskStatus: Hashable, Sendable {
  let identity: FileIdentity
  let size: Int
  /// By the file system's clock.
  let changed: Duration
  /// The number of its names.
  let links: Int
  let isRegular: Bool
  let owner: UInt32
  let group: UInt32
  let mode: CInterop.Mode
}
