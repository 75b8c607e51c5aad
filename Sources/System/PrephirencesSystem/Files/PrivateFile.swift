internal import Glibc
package import SystemPackage

/// Paths that name descriptors of this process, as `<(command)` of a shell does.
package enum DescriptorPath {
  /// Returns the number of the descriptor that a path names; `nil` for other paths.
  package static func number(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdin": return STDIN_FILENO
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default: break
    }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count))
    }
    return nil
  }
}

/// Files that belong to the user alone.
package enum PrivateFile {
  /// Inspects a file without opening it; `nil` if there is none.
  ///
  /// If a database file is opened and closed again, the process loses the locks that SQLite holds
  /// on it. This fails unless the file belongs to the user and is closed to others.
  package static func inspect(_ path: String) throws(FileError) -> Stat? {
    guard let stat = try look(path) else { return nil }
    try check(stat, path)
    return stat
  }

  /// Returns the status of a path, without following a link; `nil` if nothing is there.
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

  package static func check(
    _ stat: Stat, _ path: String, ownerMayBeRoot: Bool = false, forbidden: CInterop.Mode = 0o077
  ) throws(FileError) {
    guard stat.type == .regular else { throw FileError(.insecure(.notRegular), path) }
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
    _ path: String, _ mode: FileDescriptor.AccessMode = .readOnly, flags: CInt = 0,
    permissions: CInterop.Mode = 0o600
  ) throws(Errno) -> FileDescriptor {
    let flags = mode.rawValue | flags | O_CLOEXEC | O_NOFOLLOW
    return FileDescriptor(
      rawValue: try Interruptions.repeating { unsafe Glibc.open(path, flags, permissions) })
  }

  /// Creates an empty file, open to the user alone, without opening it.
  ///
  /// As soon as the file exists, another thread may hold SQLite's locks on it, and closing a
  /// descriptor would drop them. It fails with `Errno.fileExists` if the name is taken, even by a
  /// broken link.
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
        // A new folder is only durable when its parent is synced.
        do throws(FileError) {
          try syncFolder(made + "/..")
        } catch {
          // Without the folder, the next attempt creates it again, and syncs it.
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

  /// Makes the entries of a folder durable; a folder that cannot be opened belongs to somebody
  /// else.
  package static func syncFolder(_ path: String) throws(FileError) {
    do throws(Errno) {
      let descriptor: FileDescriptor
      do throws(Errno) {
        descriptor = try open(path, flags: O_DIRECTORY)
      } catch {
        guard error != .permissionDenied else { return }
        throw error
      }
      defer { try? descriptor.close() }
      try syncFolder(descriptor)
    } catch { throw .failed(error, "sync the folder", path) }
  }

  /// Makes the entries of an open folder durable.
  ///
  /// File systems that cannot sync folders are no error.
  package static func syncFolder(_ folder: FileDescriptor) throws(Errno) {
    guard fsync(folder.rawValue) != 0 else { return }
    let error = Errno.current
    guard [.invalidArgument, .notSupported].contains(error) else { throw error }
  }

  package enum Flags {
    // Swift's Glibc module does not set the macro that <fcntl.h> requires for `O_TMPFILE`.
    package static let nameless: CInt = 0o20000000 | O_DIRECTORY

    /// Names a file without reading it (`O_PATH`).
    static let pathOnly: CInt = 0o10000000
  }
}

extension Errno {
  /// Whether this process has reached its limit of open files: not every library reports that.
  package static var hasNoDescriptor: Bool {
    do throws(Errno) {
      let file = try PrivateFile.open("/dev/null")
      try? file.close()
      return false
    } catch { return error == .tooManyOpenFiles }
  }
}

/// A private folder whose path is checked once, and recognized later without checking every folder
/// above it again.
///
/// Files are opened by the descriptor of the checked folder. So a user who can replace a folder
/// above cannot redirect a writer: another folder at the path is not recognized, and is checked as
/// a new one.
package final class KnownFolder: Sendable {
  /// What must be the same for the folder to be recognized.
  private struct Known: Equatable {
    let identity: FileIdentity
    let owner: UserID
    let permissions: FilePermissions

    init(_ stat: Stat) {
      identity = stat.identity
      owner = stat.userID
      permissions = stat.permissions
    }
  }

  private let path: String
  private let known = PosixMutex<Known?>(nil)

  package init(_ path: String) { self.path = path }

  /// Opens a file of the folder, which is created first if needed; `nil` if there is no such file.
  ///
  /// It fails as ``PrivateFile/makeFolder(_:)`` does, or if the file cannot be opened.
  package func open(
    _ name: String, _ mode: FileDescriptor.AccessMode
  ) throws(FileError) -> FileDescriptor? {
    let folder = try descriptor(for: name)
    defer { try? folder.close() }
    let flags = mode.rawValue | O_CLOEXEC | O_NOFOLLOW
    let file = unsafe openat(folder.rawValue, name, flags)
    guard file < 0 else { return FileDescriptor(rawValue: file) }
    let error = Errno.current
    guard error == .noSuchFileOrDirectory else { throw .failed(error, "open", path + "/" + name) }
    return nil
  }

  /// Opens the folder, and checks its path unless it is the one that was checked before.
  private func descriptor(for name: String) throws(FileError) -> FileDescriptor {
    if let known = known.withLock({ $0 }), let found = try? open() {
      if known == found.known { return found.descriptor }
      try? found.descriptor.close()
    }
    try PrivateFile.makeFolder(path)
    // The check covers what is above the end of a path, so the path of a file is needed.
    _ = try TrustedPath(resolving: path + "/" + name)
    do throws(Errno) {
      let found = try open()
      known.withLock { $0 = found.known }
      return found.descriptor
    } catch { throw .failed(error, "open the folder", path) }
  }

  private func open() throws(Errno) -> (descriptor: FileDescriptor, known: Known) {
    let number = unsafe Glibc.open(path, PrivateFile.Flags.pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw Errno.current }
    let descriptor = FileDescriptor(rawValue: number)
    do throws(Errno) {
      return (descriptor, Known(try Stat(descriptor)))
    } catch {
      try? descriptor.close()
      throw error
    }
  }
}

/// The rollback journal of an SQLite database.
///
/// SQLite replays any journal into the database, whoever made it, and deletes the file that the
/// journal names as its super-journal.
package enum SQLiteJournal {
  /// Returns whether a journal names a super-journal; only transactions over several databases do.
  package static func namesOtherFile(_ path: String) throws(Errno) -> Bool {
    let end: [UInt8]
    do throws(Errno) {
      end = try Self.end(of: path)
    } catch {
      // A writer that has just committed may have deleted the file.
      guard error != .noSuchFileOrDirectory else { return false }
      throw error
    }
    // The length of the name, its checksum, and the magic number: SQLite requires all three.
    return end.suffix(8) == magic && end.prefix(4).contains { $0 != 0 }
  }

  /// Returns the last 16 bytes of a file; empty if it has fewer.
  private static func end(of path: String) throws(Errno) -> [UInt8] {
    // If a pipe has the name now, opening must not block.
    let descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
    defer { try? descriptor.close() }
    let size = try Stat(descriptor).size
    guard size >= 16 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe pread(descriptor.rawValue, &bytes, 16, off_t(size) - 16)
    guard count >= 0 else { throw .current }
    return Array(bytes.prefix(count))
  }

  private static let magic: ArraySlice<UInt8> = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
}
