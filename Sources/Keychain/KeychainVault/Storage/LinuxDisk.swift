internal import CPrephirencesSystem
internal import FoundationEssentials
internal import Glibc
internal import PrephirencesSystem
internal import SystemPackage

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
    // A pipe would block.
    LinuxFile(try PrivateFile.open(path, writing ? .readWrite : .readOnly, flags: O_NONBLOCK))
  }

  func openTemporary(_ path: String) throws(Errno) -> any DiskFile {
    LinuxFile(try PrivateFile.open(path, .readWrite, flags: O_CREAT | O_NONBLOCK))
  }

  func rename(_ path: String, to name: String, replacing: Bool) throws(Errno) {
    guard !replacing else {
      guard unsafe Glibc.rename(path, name) == 0 else { throw .current }
      return
    }
    let noReplacing: UInt32 = 1
    if unsafe renameat2(AT_FDCWD, path, AT_FDCWD, name, noReplacing) == 0 { return }
    // Not all file systems know that.
    guard [EINVAL, ENOSYS].contains(errno) else { throw .current }
    guard unsafe link(path, name) == 0 else { throw .current }
    // If this fails, the next writer removes the name.
    unsafe unlink(path)
  }

  func remove(_ path: String) throws(Errno) {
    guard unsafe unlink(path) == 0 else { throw .current }
  }

  func syncFolder(of path: String) throws(Errno) {
    do throws(FileError) {
      try PrivateFile.syncFolder(FilePath(path).removingLastComponent().string)
    } catch {
      let cause = error.systemError ?? .ioError
      // A folder that cannot be read is not ours to sync, and some file systems sync no folders.
      guard [.permissionDenied, .invalidArgument, .notSupported].contains(cause) else {
        throw cause
      }
    }
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
      let read = unsafe data.withUnsafeMutableBytes { bytes in
        unsafe pread(
          descriptor.rawValue, bytes.baseAddress?.advanced(by: count), wanted - count,
          off_t(range.lowerBound + count))
      }
      if read == 0 { return data.prefix(count) }
      if read > 0 { count += read } else if errno != EINTR { throw .current }
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
      let place = Int64(end - rest.count)
      do {
        let written = unsafe try rest.withUnsafeBytes {
          try unsafe descriptor.write(toAbsoluteOffset: place, $0)
        }
        guard written > 0 else { throw Errno.ioError }
        rest = rest.dropFirst(written)
      } catch { throw error as? Errno ?? .ioError }
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
    // A child that was forked meanwhile has the descriptor too, and would keep the lock.
    flock(descriptor.rawValue, LOCK_UN)
  }

  func takeAttributes(of old: (any DiskFile)?) {
    guard let old = old as? LinuxFile, let status = try? old.status() else {
      fchmod(descriptor.rawValue, 0o600)
      return
    }
    let keepsGroup = fchown(descriptor.rawValue, .max, status.group) == 0
    // What the old group could do must not become possible to another one.
    fchmod(descriptor.rawValue, status.mode & (keepsGroup ? 0o777 : 0o707))
    var label = [UInt8](repeating: 0, count: 1024)
    let count = unsafe fgetxattr(old.descriptor.rawValue, Self.label, &label, label.count)
    if count > 0 { unsafe _ = fsetxattr(descriptor.rawValue, Self.label, label, count, 0) }
  }

  private static let label = "security.selinux"

  /// What is read without asking for the length of the file first.
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
