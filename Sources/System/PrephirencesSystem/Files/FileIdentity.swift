internal import Glibc
package import SystemPackage

/// Identifies a file.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// Changes when a file does.
///
/// It has the time of the last change of status: programs can set the time of the last change of
/// the contents.
package struct FileStamp: Hashable, Sendable {
  private let identity: FileIdentity
  private let size: Int64
  private let seconds: Int
  private let nanoseconds: Int

  package init(_ stat: Stat) {
    identity = stat.identity
    size = stat.size
    seconds = stat.st_ctim.tv_sec
    nanoseconds = stat.st_ctim.tv_nsec
  }

  /// Looks at a path, without following a link; `nil` if there is no file.
  package init?(_ path: String) {
    guard let stat = try? PrivateFile.look(path) else { return nil }
    self.init(stat)
  }
}

extension FileIdentity {
  /// Looks at the file at the end of all links; `nil` if it cannot be reached.
  package init?(_ path: String) {
    guard let stat = try? Stat(FilePath(path)) else { return nil }
    self = stat.identity
  }
}

extension Stat {
  package var identity: FileIdentity {
    FileIdentity(device: UInt64(deviceID.rawValue), inode: UInt64(inode.rawValue))
  }
}
