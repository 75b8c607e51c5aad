internal import Glibc
package import PreferencesCore
package import PrephirencesSystem
internal import SystemPackage

/// Where the preferences of a suite are.
struct SuiteFile: Hashable, Sendable {
  static let suffix = ".preferences"

  /// The real path of the folder, which may not exist.
  let folder: String
  let suiteName: String

  /// Whether the file system is a network's, where processes share no memory.
  let isOnNetwork: Bool

  /// How long a call waits for other processes.
  let timeout: Duration

  // Compared by bytes, as the file system does: names that are equal as `String`, such as with a
  // composed and a decomposed letter, are two files.
  static func == (one: SuiteFile, other: SuiteFile) -> Bool {
    one.path.utf8.elementsEqual(other.path.utf8) && one.isOnNetwork == other.isOnNetwork
      && one.timeout == other.timeout
  }

  func hash(into hasher: inout Hasher) { hasher.combine(Array(path.utf8)) }

  var path: String { folder + "/" + suiteName + Self.suffix }
  var lockPath: String { path + "-lock" }
  var logPath: String { path + "-wal" }
  var sharedMemoryPath: String { path + "-shm" }
  var journalPath: String { path + "-journal" }

  /// The file of `UserDefaults` for the same suite.
  var propertyListPath: String { folder + "/" + suiteName + ".plist" }

  /// Finds the file of a suite.
  ///
  /// If `folder` is `nil`, it is the user's configuration folder. If `isOnNetwork` is `nil`, the
  /// file system decides.
  init(
    suiteName: String, folder: String?, environment: EnvironmentVariables, isOnNetwork: Bool?,
    timeout: Duration = .seconds(10)
  ) throws(PreferencesError) {
    try Self.check(suiteName)
    let trusted = try Self.folder(folder, environment)
    self.folder = trusted
    self.suiteName = suiteName
    self.timeout = timeout
    self.isOnNetwork = isOnNetwork ?? FileSystemKind(of: trusted).isNetwork
  }

  static func folder(
    _ folder: String?, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String {
    let named: String
    if let folder {
      named = folder
    } else {
      named = try translated(UserFolders.configurationBase(environment))
    }
    return try translated(TrustedPath(resolving: named)).path
  }

  /// Checks the name of a suite, which becomes the name of a file.
  static func check(_ name: String) throws(PreferencesError) {
    let reason: String? =
      if name.isEmpty {
        "it is empty"
      } else if name.utf8.count > 200 {
        "it is longer than 200 bytes"
      } else if name.utf8.contains(0) {
        "it has a zero byte"
      } else if name.utf8.contains(UInt8(ascii: "/")) {
        "it has a slash"
      } else if name.utf8.first == UInt8(ascii: ".") {
        "it begins with a full stop"
      } else if name.contains("..") {
        "it has two full stops in a row"
      } else {
        nil
      }
    guard let reason else { return }
    throw PreferencesError(
      .invalidName, "a suite of preferences cannot have this name, because \(reason)")
  }

  /// Returns what is at the path of the database after checking it, or `nil`.
  func inspect() throws(PreferencesError) -> Stat? { try translated(PrivateFile.inspect(path)) }

  /// Returns the identities of the log and its index.
  func logFiles() throws(PreferencesError) -> Set<FileIdentity> {
    var found: Set<FileIdentity> = []
    for path in [logPath, sharedMemoryPath] {
      if let stat = try translated(PrivateFile.look(path)) { found.insert(stat.identity) }
    }
    return found
  }

  /// Whether this process may change or create the file.
  var isWritable: Bool {
    guard unsafe access(folder, W_OK) == 0 || errno == ENOENT else { return false }
    return unsafe access(path, W_OK) == 0 || errno == ENOENT
  }

  /// The free space of the file system, in bytes.
  var freeRoom: Int {
    var found = statvfs()
    guard unsafe statvfs(folder, &found) == 0 else { return .max }
    return Int(clamping: found.f_bavail) * Int(clamping: found.f_frsize)
  }

  /// Checks the files next to the database, because SQLite trusts them.
  func checkSidecars() throws(PreferencesError) {
    for path in [logPath, sharedMemoryPath, journalPath] {
      guard let stat = try translated(PrivateFile.inspect(path)) else { continue }
      // SQLite would also change the file that the hard link belongs to.
      guard stat.linkCount == 1 || stat.size == 0 else {
        throw PreferencesError(
          .insecure, "\(path), which belongs to the preferences, has a second name; move it away")
      }
    }
    let namesOther = try performing("read", journalPath) {
      try SQLiteJournal.namesOtherFile(journalPath)
    }
    guard !namesOther else {
      throw PreferencesError(
        .damaged, "\(journalPath) names another file, which would be deleted; move it away")
    }
  }
}

/// A copy of a database and its log in a temporary folder, which is removed with the value.
///
/// SQLite reads a log only if it may write next to it, and without the log, the newest changes are
/// missing.
struct SnapshotCopy: ~Copyable {
  let path: String
  private let folder: String

  /// Copies files that this process cannot change, but others may.
  init(of file: SuiteFile) throws(PreferencesError) {
    let folder = try Self.makeFolder()
    do throws(PreferencesError) {
      try Self.copy(file, to: folder + "/copy")
    } catch {
      Self.remove(folder)
      throw error
    }
    self.folder = folder
    path = folder + "/copy"
  }

  deinit { Self.remove(folder) }

  /// Copies both files as they were at one time.
  private static func copy(_ file: SuiteFile, to path: String) throws(PreferencesError) {
    for _ in 0..<5 {
      let stamps = Self.stamps(file)
      let lock = lock(file)
      defer { try? lock?.close() }
      try translated(copy(file.path, to: path))
      try translated(copy(file.logPath, to: path + "-wal"))
      if Self.stamps(file) == stamps { return }
    }
    throw PreferencesError(
      .conflict, "the file changed while it was read, again and again; try again: \(file.path)")
  }

  private static func stamps(_ file: SuiteFile) -> [FileStamp?] {
    [FileStamp(file.path), FileStamp(file.logPath)]
  }

  /// Locks out writers if that is possible here; otherwise the stamps show their changes.
  private static func lock(_ file: SuiteFile) -> FileDescriptor? {
    guard let descriptor = try? PrivateFile.open(file.lockPath, flags: O_NONBLOCK) else {
      return nil
    }
    let timeout = min(.seconds(1), file.timeout)
    _ = try? FileLock.lock(descriptor, .shared, Deadline(after: timeout))
    return descriptor
  }

  private static func makeFolder() throws(PreferencesError) -> String {
    let base = (try? EnvironmentVariables.process.absolutePath("TMPDIR")) ?? "/tmp"
    // SQLite follows no symbolic links in the path.
    guard let real = unsafe realpath(base, nil) else {
      throw PreferencesError(.failed(.current, "find the temporary folder", base))
    }
    defer { unsafe free(real) }
    var template = unsafe Array((String(cString: real) + "/preferences.XXXXXX").utf8CString)
    guard unsafe mkdtemp(&template) != nil else {
      throw PreferencesError(.failed(.current, "make a folder in", base))
    }
    return String(
      decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Copies a file, or removes the copy if the file does not exist.
  private static func copy(_ source: String, to target: String) throws(FileError) {
    unsafe unlink(target)
    do throws(Errno) {
      let input = try PrivateFile.open(source, flags: O_NONBLOCK)
      defer { try? input.close() }
      let output = try PrivateFile.open(target, .writeOnly, flags: O_CREAT | O_EXCL)
      defer { try? output.close() }
      while case let bytes = try DescriptorIO.read(input, 1 << 20), !bytes.isEmpty {
        try DescriptorIO.write(bytes, to: output)
      }
    } catch {
      if error == .noSuchFileOrDirectory { return }
      throw .failed(error, "copy", source)
    }
  }

  private static func remove(_ folder: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(folder + "/copy" + suffix) }
    unsafe rmdir(folder)
  }
}

extension PreferencesError {
  /// Converts the failure of a file; this is the only place that does.
  package init(_ error: FileError) {
    let advice =
      switch error.kind {
      case .noPlace: "; set HOME or XDG_CONFIG_HOME to a folder of the user"
      case .insecure(.notRegular): "; move it away"
      default: error.advice.map { "; \($0)" } ?? ""
      }
    self.init(
      Code(error), error.message + advice, systemCode: error.systemError.map { $0.rawValue })
  }

  /// The failure that another process holds the writers' lock; `nil` if it is unknown which.
  static func timedOut(_ holder: RunningProcess?, _ path: String) -> Self {
    guard let holder else {
      return .timedOut("another process used the preferences for too long", path)
    }
    guard holder.isStopped else {
      return .timedOut("process \(holder.number) used the preferences for too long", path)
    }
    return Self(
      .timedOut,
      "process \(holder.number) uses the preferences, but it is stopped; continue it (SIGCONT) or "
        + "end it, and try again: \(path)")
  }

  static func timedOut(_ reason: String, _ path: String) -> Self {
    Self(
      .timedOut,
      "\(reason); try again, and begin transactions that contain each other, of several suites, "
        + "always in the same order: \(path)")
  }
}

extension PreferencesError.Code {
  fileprivate init(_ error: FileError) {
    self =
      switch error.kind {
      case .failed(_, .readOnlyFileSystem): .readOnly
      case .failed(_, .permissionDenied): .readOnly
      case .failed, .alreadyExists: .inputOutput
      case .unsynced: .outcomeUnknown
      case .timedOut, .endless: .timedOut
      case .invalidPath, .notText: .invalidName
      case .noPlace: .noPlace
      case .insecure: .insecure
      }
  }
}

/// Evaluates an expression that uses files, and converts its failure.
package func translated<Result: ~Copyable>(
  _ result: @autoclosure () throws(FileError) -> Result
) throws(PreferencesError) -> Result {
  do { return try result() } catch { throw PreferencesError(error) }
}

/// Performs an action on a file, and names both if it fails.
package func performing<Result>(
  _ action: String, _ path: String, _ body: () throws -> Result
) throws(PreferencesError) -> Result {
  do {
    return try body()
  } catch {
    throw PreferencesError(.failed(error as? Errno ?? .ioError, action, path))
  }
}
