internal import Glibc
internal import Prephirences
internal import PrephirencesSystem
internal import SystemPackage

/// A copy of a database and its log in a temporary folder, which is removed with the value.
///
/// SQLite reads a log only if it may write next to it. Without its log, a database lacks what was
/// set last.
struct SnapshotCopy: ~Copyable {
  /// The path of the copied database.
  let path: String
  private let folder: String

  /// Copies files that this process cannot change; others may.
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

  /// Copies both files, as they were at one time.
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

  /// Keeps writers away, if that is possible here; otherwise the stamps show what they do.
  private static func lock(_ file: SuiteFile) -> FileDescriptor? {
    guard let descriptor = try? PrivateFile.open(file.lockPath, flags: O_NONBLOCK) else {
      return nil
    }
    let patience = min(.seconds(1), file.patience)
    _ = try? FileLock.lock(descriptor, .shared, Deadline(after: patience))
    return descriptor
  }

  private static func makeFolder() throws(PreferencesError) -> String {
    let base = (try? EnvironmentVariables.process.absolutePath("TMPDIR")) ?? "/tmp"
    // SQLite follows no links on the way to a file.
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

  /// Copies a file, or removes the copy if there is no such file.
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
