internal import Glibc
internal import KeychainCredentials
internal import SystemPackage

/// What tells two files apart, and whether one is empty.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

/// Files that belong to the user alone.
enum PrivateFile {
  /// Looks at a file without opening it.
  ///
  /// Opening a database file and closing it again would drop the locks that SQLite holds on it in this
  /// process.
  ///
  /// - Returns: What was found, or `nil` if there is no such file.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insecurePermissions`` if it is not a regular
  ///   file of the user that is closed to others.
  static func inspect(_ path: String) throws(KeychainError) -> Stat? {
    guard let stat = try look(path) else { return nil }
    try check(stat, path)
    return stat
  }

  /// What lies at a path, a link included; `nil` if nothing does.
  static func look(_ path: String) throws(KeychainError) -> Stat? {
    do throws(Errno) {
      return try unsafe Stat(path, followTargetSymlink: false)
    } catch {
      guard error == .noSuchFileOrDirectory || error == .notDirectory else {
        throw .system(error, "look at", path)
      }
      return nil
    }
  }

  /// Checks owner, type and mode of a file.
  ///
  /// - Parameters:
  ///   - stat: What was found.
  ///   - path: Its real path.
  ///   - ownerMayBeRoot: Whether it may belong to root, too.
  ///   - readers: Who else may read it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insecurePermissions`` if it is not such a file.
  static func check(
    _ stat: Stat, _ path: String, ownerMayBeRoot: Bool = false, readers: SecretFileReaders = .owner
  ) throws(KeychainError) {
    guard stat.type == .regular else {
      throw KeychainError(
        .insecurePermissions, "\(path) is not a regular file",
        recovery: "name a file, not a link, folder, pipe or device")
    }
    switch FileOwner(stat, path) {
    case .user: break
    case .root where ownerMayBeRoot: break
    case .unmapped: throw .ofUnmappedUser(path)
    default: throw .ofOtherUser(stat, path)
    }
    guard TrustedFolders.current.othersBits(stat, path) & readers.forbiddenBits == 0 else {
      throw .openToOthers(stat, path, ownerMayBeRoot: ownerMayBeRoot)
    }
  }

  static func open(
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

  /// Makes an empty file, open to the user alone, without opening it.
  ///
  /// From its first moment on, another thread may hold SQLite's locks on the file, and closing a
  /// descriptor would drop them.
  ///
  /// - Throws: `Errno.fileExists` if something has the name, be it a link that leads nowhere.
  static func makeEmpty(_ path: String) throws(Errno) {
    guard unsafe mknod(path, S_IFREG | 0o600, 0) == 0 else { throw .current }
  }

  /// Makes a folder and those above it, open to the user alone.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insecurePermissions`` if others can change
  ///   what is there then: they may have made it since somebody looked.
  static func makeFolder(_ path: String) throws(KeychainError) {
    if (try? Stat(FilePath(path)))?.type != .directory { try makeFolders(path) }
    _ = try TrustedPath(resolving: path)
  }

  private static func makeFolders(_ path: String) throws(KeychainError) {
    var made = ""
    for component in path.split(separator: "/") {
      made += "/" + component
      guard unsafe mkdir(made, 0o700) != 0 else {
        // A new folder is lost with its parent's; one that cannot be opened is not ours to sync.
        try? syncFolder(made + "/..")
        continue
      }
      guard errno != EEXIST else { continue }
      let error = Errno.current
      if (try? Stat(FilePath(made)))?.type == .directory { continue }
      throw .system(error, "make the folder", made)
    }
  }

  /// Makes the entries of a folder durable.
  static func syncFolder(_ path: String) throws(KeychainError) {
    do throws(Errno) {
      let descriptor = try open(path, flags: O_DIRECTORY)
      defer { try? descriptor.close() }
      guard fsync(descriptor.rawValue) == 0 else { throw Errno.current }
    } catch {
      throw .system(error, "sync the folder", path)
    }
  }

  enum Flags {
    // <fcntl.h> has it behind a macro that Swift's Glibc module does not set.
    static let nameless: CInt = 0o20000000 | O_DIRECTORY
  }
}

extension Stat {
  var identity: FileIdentity {
    FileIdentity(device: UInt64(deviceID.rawValue), inode: UInt64(inode.rawValue))
  }
}
