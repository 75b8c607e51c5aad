internal import CPrephirencesSystem
internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

/// The file operations of a vault, by real paths: few, so that tests can model a disk.
protocol VaultDisk: Sendable {
  /// Returns the status of a name, without following a link; `nil` if nothing is there.
  func status(of path: String) throws(Errno) -> DiskStatus?

  /// Opens a file; `Errno.tooManySymbolicLinkLevels` if it is a link.
  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile

  /// Creates an empty file, for the user alone and marked as unfinished; `Errno.fileExists` if the
  /// name is taken.
  func makeTemporary(_ path: String) throws(Errno) -> any DiskFile

  /// Renames a file within its folder; `Errno.fileExists` if the new name is taken.
  func rename(_ path: String, to name: String) throws(Errno)

  /// Exchanges the names of two files in one step, so that neither is lost, whatever has the names
  /// by then.
  ///
  /// It returns `false` if the file system can't exchange; then the first file has replaced the
  /// second.
  func exchange(_ path: String, _ name: String) throws(Errno) -> Bool

  func remove(_ path: String) throws(Errno)

  /// Makes the names in the folder of a file durable.
  func syncFolder(of path: String) throws(Errno)

  /// Returns the number of bytes that the user can still write to the file system of a file or
  /// folder.
  func freeBytes(at path: String) throws(Errno) -> UInt64

  /// Returns why no new file can take the name of a file, if that is visible: `Errno.resourceBusy`
  /// for a mount.
  func obstacleToReplacing(_ path: String) -> Errno?
}

/// An open file of a vault.
protocol DiskFile: AnyObject, Sendable {
  func status() throws(Errno) -> DiskStatus

  /// Reads bytes, fewer at the end of the file. It never allocates more than the file has.
  func read(_ range: Range<Int>) throws(Errno) -> Data

  /// Writes all bytes, or fails after writing some of them. It writes none if this process may not
  /// make a file that long.
  func write(_ bytes: Data, at offset: Int) throws(Errno)

  func truncate(to size: Int) throws(Errno)

  /// Makes the contents and the size durable.
  func syncData() throws(Errno)

  /// Makes the contents and all attributes durable.
  func sync() throws(Errno)

  /// Locks the file against all who opened it, even in this process; `false` if it was locked until
  /// the deadline.
  func lock(until deadline: Deadline) throws(Errno) -> Bool

  /// Releases the lock, as the last reference to the file does, too.
  func unlock()

  /// Copies mode, group and label of another file, as far as possible, but marks the file as
  /// unfinished. Without another file, opens it to the user alone.
  func takeAttributes(of old: (any DiskFile)?)

  /// Sets or clears the mark of a vault's next or last file, if the file system keeps it.
  func mark(isUnfinished: Bool)
}

extension VaultDisk {
  func status(at path: String) throws(KeychainError) -> DiskStatus? {
    try translated(onFile(path, "read", status(of: path)))
  }
}

extension DiskFile {
  func read(_ range: Range<Int>, of path: String) throws(KeychainError) -> Data {
    try translated(onFile(path, "read", read(range)))
  }

  func status(of path: String) throws(KeychainError) -> DiskStatus {
    try translated(onFile(path, "read", status()))
  }
}

/// The status of a file.
struct DiskStatus: Hashable, Sendable {
  let identity: FileIdentity
  let size: Int
  /// The time of the last change, by the file system's clock.
  let changed: Duration
  /// The number of its hard links.
  let links: Int
  let isRegular: Bool
  let owner: UInt32
  let group: UInt32
  let mode: CInterop.Mode

  /// The sticky bit, which the system ignores on files.
  static let unfinishedMark: CInterop.Mode = 0o1000

  /// Whether it is marked as a vault's next or last file.
  var isUnfinished: Bool { mode & Self.unfinishedMark != 0 }
}

extension KeychainError {
  /// A system call has failed, and changed nothing; the action is an infinitive.
  static func vault(_ path: String, _ error: Errno, doing action: String) -> Self {
    func failure(_ message: String, _ recovery: Recovery, _ code: Code = .inputOutput) -> Self {
      Self(
        code, "\(message): \(path)", recovery: recovery, underlying: .system(errno: error.rawValue))
    }
    return switch error {
    case .noSpace: failure("the disk is full; the vault is unchanged", "free some space")
    case .diskQuotaExceeded:
      failure(
        "your share of the disk is used up; the vault is unchanged",
        "free some space, or have your quota raised")
    case .fileTooLarge:
      failure(
        "the vault would be longer than this process or file system allows",
        "raise LimitFSIZE= of the service, or 'ulimit -f'")
    case .readOnlyFileSystem: failure("the vault is read-only here", "use a writable medium")
    case .notPermitted:
      failure(
        "an attribute of the file forbids to change the vault",
        "if that is not meant, as root: chattr -a -i \(ShellText.quoted(path))")
    case .permissionDenied where isWriteProtected(path):
      failure(
        "the vault's own permissions let nobody write it",
        "if that is not meant: chmod 600 \(ShellText.quoted(path))", .insecurePermissions)
    case .resourceBusy, .improperLink: replacing(path, error)
    default: .system(error, action, path)
    }
  }

  /// No new file can take the name of a vault's file.
  static func replacing(_ path: String, _ error: Errno) -> Self {
    let underlying = Underlying.system(errno: error.rawValue)
    return switch error {
    case .resourceBusy, .improperLink:
      Self(
        .refused, "the change needs a new file, and this one is mounted by itself: \(path)",
        recovery: "mount its folder instead", underlying: underlying)
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
      Self(
        .refused,
        "the change needs a new file, and the folder of the vault takes none: \(path): "
          + error.words,
        recovery: "make the folder writable, or move the vault to a folder of your own",
        underlying: underlying)
    default: vault(path, error, doing: "make")
    }
  }

  /// The file was removed or replaced outside, where it is mounted from.
  static func replacedOutside(_ path: String) -> Self {
    Self(
      .refused,
      "the vault was replaced outside of this container, where it is mounted as a single file, so "
        + "a change would be lost: \(path)",
      recovery: "start the container again, and mount the folder of the vault instead")
  }

  static func held(_ path: String) -> Self {
    Self(.busy, "another process held the vault for too long: \(path)", recovery: .tryAgain)
  }

  static func writing(_ path: String, _ failure: WriteFailure) -> Self {
    switch failure {
    case .unchanged(let error): vault(path, error, doing: "write")
    case .unknown(.noLocks):
      outcomeUnknown(
        ofChanging: "the vault \(path)",
        because:
          "somebody else wrote at the same time, so the locks of its file system do not work",
        underlying: .system(errno: Errno.noLocks.rawValue))
    case .overtaken:
      Self(
        .busy,
        "another program replaced the vault \(path), or the file "
          + "\(UnfinishedVault.name(for: path)) in which it is rewritten, at the same time; "
          + "nothing was changed", recovery: .tryAgain)
    case .unknown(let error):
      outcomeUnknown(ofChanging: "the vault \(path)", underlying: .system(errno: error.rawValue))
    }
  }

  /// Whether the owner of the file may only read it.
  private static func isWriteProtected(_ path: String) -> Bool {
    guard let status = try? LinuxDisk().status(of: path) else { return false }
    return status.mode & 0o200 == 0
  }
}

/// The files of this machine.
struct LinuxDisk: VaultDisk {
  func status(of path: String) throws(Errno) -> DiskStatus? {
    do throws(Errno) {
      return DiskStatus(try unsafe Stat(path, followTargetSymlink: false))
    } catch let error where error == .noSuchFileOrDirectory || error == .notDirectory {
      return nil
    }
  }

  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile {
    // Opening a pipe must not block.
    LinuxFile(try PrivateFile.open(path, writing ? .readWrite : .readOnly, flags: O_NONBLOCK))
  }

  func makeTemporary(_ path: String) throws(Errno) -> any DiskFile {
    LinuxFile(
      try PrivateFile.open(
        path, .readWrite, flags: O_CREAT | O_EXCL, permissions: 0o600 | DiskStatus.unfinishedMark))
  }

  func rename(_ path: String, to name: String) throws(Errno) {
    let noReplacing: UInt32 = 1
    if unsafe renameat2(AT_FDCWD, path, AT_FDCWD, name, noReplacing) == 0 { return }
    // Some file systems don't support this.
    guard [EINVAL, ENOSYS].contains(errno) else { throw .current }
    guard unsafe link(path, name) == 0 else { throw .current }
    // If this fails, the mark stays, and a writer removes the name.
    unsafe unlink(path)
  }

  func exchange(_ path: String, _ name: String) throws(Errno) -> Bool {
    let exchanging: UInt32 = 2
    if unsafe renameat2(AT_FDCWD, path, AT_FDCWD, name, exchanging) == 0 { return true }
    guard [EINVAL, ENOSYS].contains(errno) else { throw .current }
    guard unsafe Glibc.rename(path, name) == 0 else { throw .current }
    return false
  }

  func remove(_ path: String) throws(Errno) {
    guard unsafe unlink(path) == 0 else { throw .current }
  }

  func syncFolder(of path: String) throws(Errno) {
    do throws(FileError) {
      try PrivateFile.syncFolder(FilePath(path).removingLastComponent().string)
    } catch { throw error.systemError ?? .ioError }
  }

  func freeBytes(at path: String) throws(Errno) -> UInt64 {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { throw .current }
    let (bytes, isTooMany) = UInt64(status.f_bavail)
      .multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooMany ? .max : bytes
  }

  func obstacleToReplacing(_ path: String) -> Errno? {
    if FileSystemKind(of: path).mountPoint == path { return .resourceBusy }
    let folder = FilePath(path).removingLastComponent().string
    return unsafe access(folder, W_OK | X_OK) == 0 ? nil : .current
  }
}

/// A descriptor, which is closed with its last reference.
final class LinuxFile: DiskFile {
  private let descriptor: FileDescriptor

  init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  deinit {
    unlock()
    try? descriptor.close()
  }

  func status() throws(Errno) -> DiskStatus { DiskStatus(try Stat(descriptor)) }

  func read(_ range: Range<Int>) throws(Errno) -> Data {
    var wanted = range.count
    if wanted > Self.trustedCount {
      let (left, isBefore) = try status().size.subtractingReportingOverflow(range.lowerBound)
      wanted = isBefore ? 0 : max(0, min(wanted, left))
    }
    var data = Data(count: wanted)
    var count = 0
    while count < wanted {
      let read = try Interruptions.repeating {
        unsafe data.withUnsafeMutableBytes { bytes in
          unsafe pread(
            descriptor.rawValue, bytes.baseAddress?.advanced(by: count), wanted - count,
            off_t(range.lowerBound + count))
        }
      }
      if read == 0 { return data.prefix(count) }
      count += read
    }
    return data
  }

  func write(_ bytes: Data, at offset: Int) throws(Errno) {
    let (end, isTooLong) = offset.addingReportingOverflow(bytes.count)
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
      throw .current
    }
    // Above its limit, the kernel would kill this process.
    guard !isTooLong, end >= 0, rlim_t(end) <= limit.rlim_cur else { throw .fileTooLarge }
    var rest = bytes
    while !rest.isEmpty {
      let place = off_t(end - rest.count)
      let written = try Interruptions.repeating {
        unsafe rest.withUnsafeBytes {
          unsafe pwrite(descriptor.rawValue, $0.baseAddress, $0.count, place)
        }
      }
      guard written > 0 else { throw .ioError }
      rest = rest.dropFirst(written)
    }
  }

  func truncate(to size: Int) throws(Errno) {
    guard ftruncate(descriptor.rawValue, off_t(size)) == 0 else { throw .current }
  }

  func syncData() throws(Errno) {
    guard fdatasync(descriptor.rawValue) == 0 else { throw .current }
  }

  func sync() throws(Errno) { guard fsync(descriptor.rawValue) == 0 else { throw .current } }

  func lock(until deadline: Deadline) throws(Errno) -> Bool {
    try FileLock.lock(descriptor, .exclusive, deadline)
  }

  func unlock() {
    // A child that was forked meanwhile has the descriptor, too, and would keep the lock.
    flock(descriptor.rawValue, LOCK_UN)
  }

  func takeAttributes(of old: (any DiskFile)?) {
    let mark = DiskStatus.unfinishedMark
    guard let old = old as? LinuxFile, let status = try? old.status() else {
      fchmod(descriptor.rawValue, 0o600 | mark)
      return
    }
    let keepsGroup = fchown(descriptor.rawValue, .max, status.group) == 0
    // Another group must not get the permissions of the old one.
    fchmod(descriptor.rawValue, status.mode & (keepsGroup ? 0o777 : 0o707) | mark)
    var label = [UInt8](repeating: 0, count: 1024)
    let count = unsafe fgetxattr(old.descriptor.rawValue, Self.label, &label, label.count)
    if count > 0 { unsafe _ = fsetxattr(descriptor.rawValue, Self.label, label, count, 0) }
  }

  func mark(isUnfinished: Bool) {
    guard let mode = try? status().mode & 0o777 else { return }
    fchmod(descriptor.rawValue, isUnfinished ? mode | DiskStatus.unfinishedMark : mode)
  }

  private static let label = "security.selinux"

  /// The number of bytes that are read without first asking for the length of the file.
  private static let trustedCount = 65_536
}

extension DiskStatus {
  init(_ stat: Stat) {
    identity = stat.identity
    size = Int(clamping: stat.size)
    changed = .seconds(stat.st_ctim.tv_sec) + .nanoseconds(stat.st_ctim.tv_nsec)
    links = stat.linkCount
    isRegular = stat.type == .regular
    owner = stat.userID.rawValue
    group = stat.groupID.rawValue
    mode = stat.permissions.rawValue
  }
}
