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

/// Files that belong to the user alone.
package enum PrivateFile {
  /// Inspects a file without opening it.
  ///
  /// If a database file is opened and closed again, the process loses the locks that SQLite holds
  /// on it.
  ///
  /// Returns the file's status, or `nil` if there is no such file. file of the user that is closed
  /// to others.
  package static func inspect(_ path: String) throws(FileError) -> Stat? {
    guard let stat = try look(path) else { return nil }
    try check(stat, path)
    return stat
  }

  /// Returns what is at a path, without following a link; `nil` if there is nothing.
  package static func look(_ path: String) throws(FileError) -> Stat? {
    do throws(Errno) {
      return try unsafe Stat(path, followTargetSymlink: false)
    } catch {
      guard error == .noSuchFileOrDirectory || error == .notDirectory else {
        throw .failed(error, "look at", path)
      }
      return nil
    }
  }

  /// Checks owner, type and mode of a file.
  package static func check(
    _ stat: Stat, _ path: String, ownerMayBeRoot: Bool = false, forbidden: CInterop.Mode = 0o077
  ) throws(FileError) {
    guard stat.type == .regular else {
      throw FileError(.insecure(.notRegular), path)
    }
    switch FileOwner(stat, path) {
    case .user: break
    case .root where ownerMayBeRoot: break
    case .unmapped: throw FileError(.insecure(.fileOfUnmapped), path)
    default: throw FileError(.insecure(.fileOfOther(FileOwnership(stat))), path)
    }
    guard TrustedFolders.current.othersBits(stat, path) & forbidden == 0 else {
      throw FileError(
        .insecure(
          .fileOpenToOthers(
            FileOwnership(stat), mode: stat.permissions.rawValue, mayBeRoots: ownerMayBeRoot)),
        path)
    }
  }

  package static func open(
    _ path: String, _ mode: FileDescriptor.AccessMode = .readOnly, flags: CInt = 0
  ) throws(Errno) -> FileDescriptor {
    let options = FileDescriptor.OpenOptions(rawValue: flags | O_CLOEXEC | O_NOFOLLOW)
    do {
      return try unsafe FileDescriptor.open(
        path, mode, options: options, permissions: .ownerReadWrite)
    } catch {
      throw error as? Errno ?? .invalidArgument
    }
  }

  /// Creates an empty file, open to the user alone, without opening it.
  ///
  /// As soon as the file exists, another thread may hold SQLite's locks on it, and closing a
  /// descriptor would drop them.
  ///
  /// Throws `Errno.fileExists` if the name is taken, even by a broken link.
  package static func makeEmpty(_ path: String) throws(Errno) {
    guard unsafe mknod(path, S_IFREG | 0o600, 0) == 0 else { throw .current }
  }

  /// Creates a folder and its parents, open to the user alone.
  package static func makeFolder(_ path: String) throws(FileError) {
    if (try? Stat(FilePath(path)))?.type != .directory { try makeFolders(path) }
    _ = try TrustedPath(resolving: path)
  }

  private static func makeFolders(_ path: String) throws(FileError) {
    var made = ""
    for component in path.split(separator: "/") {
      made += "/" + component
      guard unsafe mkdir(made, 0o700) != 0 else {
        // A new folder is lost with its parent's entries.
        do throws(FileError) {
          try syncFolder(made + "/..")
        } catch {
          // A parent that cannot be opened is not ours to sync.
          if case .failed(_, .permissionDenied) = error.kind { continue }
          // Another attempt makes the folder again, and syncs it.
          unsafe rmdir(made)
          throw error
        }
        continue
      }
      guard errno != EEXIST else { continue }
      let error = Errno.current
      if (try? Stat(FilePath(made)))?.type == .directory { continue }
      throw .failed(error, "make the folder", made)
    }
  }

  /// Makes the entries of a folder durable.
  package static func syncFolder(_ path: String) throws(FileError) {
    do throws(Errno) {
      let descriptor = try open(path, flags: O_DIRECTORY)
      defer { try? descriptor.close() }
      guard fsync(descriptor.rawValue) == 0 else { throw Errno.current }
    } catch {
      throw .failed(error, "sync the folder", path)
    }
  }

  package enum Flags {
    // Swift's Glibc module does not set the macro that <fcntl.h> requires for it.
    package static let nameless: CInt = 0o20000000 | O_DIRECTORY

    /// Names a file without reading it (`O_PATH`).
    static let pathOnly: CInt = 0o10000000
  }
}

extension FileIdentity {
  /// Looks at the file at the end of all links; `nil` if there is none that can be reached.
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

extension Errno {
  /// Whether this process may open no more files, which not every library reports.
  package static var hasNoDescriptor: Bool {
    do throws(Errno) {
      let file = try PrivateFile.open("/dev/null")
      try? file.close()
      return false
    } catch { return error == .tooManyOpenFiles }
  }
}
