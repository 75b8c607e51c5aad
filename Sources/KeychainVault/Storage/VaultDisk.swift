internal import Foundation
internal import PrephirencesFiles
internal import SystemPackage

/// What a vault does with files: few calls, so that tests can put a model of a disk in their place.
///
/// Paths are real paths, whose folders were checked.
protocol VaultDisk: Sendable {
  /// Looks at what has a name, without following a link; `nil` if there is nothing.
  func status(of path: String) throws(Errno) -> DiskStatus?

  /// Opens a file; one that is a link fails with `Errno.tooManySymbolicLinkLevels`.
  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile

  /// Opens a file for reading and writing, and makes an empty one, for the user alone, if there is
  /// none.
  func openTemporary(_ path: String) throws(Errno) -> any DiskFile

  /// Gives a file another name in its folder.
  ///
  /// - Throws: `Errno.fileExists` if the name is taken, and is not to be replaced.
  func rename(_ path: String, to name: String, replacing: Bool) throws(Errno)

  func remove(_ path: String) throws(Errno)

  /// Makes the names in the folder of a file durable.
  func syncFolder(of path: String) throws(Errno)

  /// The bytes that the user can still write to the file system of a file or folder.
  func freeBytes(at path: String) throws(Errno) -> UInt64

  /// Returns why no new file can take the name of a file: `Errno.resourceBusy` if it is mounted by
  /// itself, such as a single file of a container's host, or the error of making files in its folder.
  ///
  /// `nil` is no promise.
  func obstacleToReplacing(_ path: String) -> Errno?
}

/// An open file of a vault.
protocol DiskFile: AnyObject, Sendable {
  func status() throws(Errno) -> DiskStatus

  /// Reads bytes; fewer at the end of the file.
  ///
  /// Never allocates more than the file has.
  func read(_ range: Range<Int>) throws(Errno) -> Data

  /// Writes all bytes, one part after the other, or fails with any of them written.
  ///
  /// - Throws: `Errno.fileTooLarge`, with nothing written, if this process may not make a file that
  ///   long.
  func write(_ parts: [Data], at offset: Int) throws(Errno)

  func truncate(to size: Int) throws(Errno)

  /// Makes the contents and the size durable.
  func syncData() throws(Errno)

  /// Makes the contents and all attributes durable.
  func sync() throws(Errno)

  /// Locks the file against all who opened it, even in this process.
  ///
  /// - Returns: `false` if another opening held a lock until the deadline.
  func lock(exclusive: Bool, until deadline: Deadline) throws(Errno) -> Bool

  /// Lets the lock go. The last reference to the file does it, too.
  func unlock()

  /// Takes over the mode, the group and the label of SELinux of another file, as far as this process
  /// may; without another file, opens it to the user alone.
  func takeAttributes(of old: (any DiskFile)?)
}

/// What the file system says of a file.
struct DiskStatus: Hashable, Sendable {
  /// A moment of the file system's clock; only equal or not.
  struct Moment: Hashable, Sendable {
    let seconds: Int
    let nanoseconds: Int
  }

  let device: UInt64
  let inode: UInt64
  let size: Int
  let changed: Moment

  /// The number of its names.
  let links: Int

  let isRegular: Bool
  let owner: UInt32
  let group: UInt32
  let mode: CInterop.Mode

  var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
}
