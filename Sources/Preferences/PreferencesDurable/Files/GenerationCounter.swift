internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

/// The file next to the database with the writers' lock, the number of the last change, and the
/// commit record.
///
/// The number is a hint that saves reading the database: twice the generation, and odd while a
/// commit is under way. It is read by a system call, not in mapped memory, because another process
/// may truncate the file.
final class GenerationCounter: Sendable {
  private let path: String
  private let descriptor: FileDescriptor
  private let identity: FileIdentity

  /// Opens the file, or creates it.
  init(path: String) throws(PreferencesError) {
    self.path = path
    do throws(Errno) {
      // A forked child would keep the lock of a killed parent, and can use nothing.
      descriptor = try UninheritedFiles.open { () throws(Errno) in
        try PrivateFile.open(path, .readWrite, flags: O_CREAT | O_NONBLOCK)
      }
    } catch {
      if error == .tooManySymbolicLinkLevels {
        throw PreferencesError(FileError(.insecure(.notRegular), path))
      }
      throw PreferencesError(.failed(error, "open", path))
    }
    do {
      let stat = try Stat(descriptor)
      try PrivateFile.check(stat, path)
      // Last: once all properties are set, a failure would run `deinit` too, and close twice.
      identity = stat.identity
    } catch {
      UninheritedFiles.forget(descriptor)
      try? descriptor.close()
      throw (error as? FileError).map { PreferencesError($0) }
        ?? PreferencesError(.failed(error as? Errno ?? .ioError, "look at", path))
    }
  }

  deinit {
    UninheritedFiles.forget(descriptor)
    if isOpen { try? descriptor.close() }
  }

  /// Whether the descriptor still refers to the file.
  ///
  /// A process that closes all descriptors to become a daemon closes this one, too. The next file
  /// that it opens then gets the number.
  var isOpen: Bool { (try? Stat(descriptor))?.identity == identity }

  func requireOpen() throws(PreferencesError) {
    guard !isOpen else { return }
    throw PreferencesError(
      .inputOutput,
      "other code of this process has closed the files of the preferences; "
        + "close only what you have opened, and start the process again: \(path)",
      systemCode: EBADF)
  }

  /// The generation of the database, or `nil` if unknown.
  var generation: Int64? {
    var number: UInt64 = 0
    let count = unsafe withUnsafeMutableBytes(of: &number) { bytes in
      unsafe pread(descriptor.rawValue, bytes.baseAddress, 8, 0)
    }
    number = UInt64(littleEndian: number)
    guard count == 8, number & 1 == 0, number > 0 else { return nil }
    return Int64(number >> 1)
  }

  /// Resets the file to its state after creation.
  func clear() throws(PreferencesError) {
    guard ftruncate(descriptor.rawValue, 0) == 0 else {
      throw PreferencesError(.failed(.current, "empty", path))
    }
  }

  /// Records that the generation is about to change, or may have changed.
  func setUncertain(after generation: Int64) throws(PreferencesError) {
    try write(UInt64(generation) << 1 | 1)
  }

  func set(_ generation: Int64) throws(PreferencesError) { try write(UInt64(generation) << 1) }

  // MARK: - Mark

  /// Whether committed changes may be missing on the disk although the kernel no longer reports it.
  var isMarked: Bool {
    var byte: UInt8 = 0
    let count = unsafe pread(descriptor.rawValue, &byte, 1, 8)
    return count < 0 || count == 1 && byte != 0
  }

  func setMarked(_ isMarked: Bool) throws(PreferencesError) {
    try write([isMarked ? 1 : 0], at: 8)
  }

  // MARK: - Record

  private static let recordOffset = 16

  /// The record of what was committed, or `nil` if unknown.
  var record: CommitRecord? { Self.record(of: descriptor) }

  /// Reads the record of a file that may be read-only, or returns `nil`.
  static func record(at path: String) -> CommitRecord? {
    guard let descriptor = try? PrivateFile.open(path, flags: O_NONBLOCK) else { return nil }
    defer { try? descriptor.close() }
    return record(of: descriptor)
  }

  private static func record(of descriptor: FileDescriptor) -> CommitRecord? {
    var bytes = [UInt8](repeating: 0, count: CommitRecord.size)
    let count = unsafe pread(descriptor.rawValue, &bytes, bytes.count, recordOffset)
    return count == bytes.count ? CommitRecord(bytes) : nil
  }

  /// Records that a generation was committed; the caller holds the writers' lock.
  func record(_ record: CommitRecord) throws(PreferencesError) {
    try write(record.bytes, at: Self.recordOffset)
  }

  private func write(_ number: UInt64) throws(PreferencesError) {
    try write((0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }, at: 0)
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(PreferencesError) {
    let count = unsafe pwrite(descriptor.rawValue, bytes, bytes.count, offset)
    guard count == bytes.count else {
      throw PreferencesError(.failed(count < 0 ? .current : .noSpace, "write", path))
    }
  }

  // MARK: - Lock

  func lock(_ deadline: Deadline) throws(PreferencesError) -> Bool {
    let isLocked = try performing("lock", path) {
      try FileLock.lock(descriptor, .exclusive, deadline)
    }
    guard isLocked else { throw .timedOut(FileLock.holder(of: descriptor), path) }
    return try verify()
  }

  /// Takes the lock unless another process holds it, and returns whether it did.
  func tryLock() throws(PreferencesError) -> Bool {
    guard try performing("lock", path, { try FileLock.tryLock(descriptor, .exclusive) }) else {
      return false
    }
    let isCurrent = try verify()
    if !isCurrent { unlock() }
    return isCurrent
  }

  func unlock() {
    // Explicit, because a child that was forked meanwhile has the descriptor, too.
    flock(descriptor.rawValue, LOCK_UN)
  }

  /// Whether the file is still at its path; without the lock, this may change at any time.
  var isAtItsPath: Bool { (try? PrivateFile.look(path))??.identity == identity }

  private func verify() throws(PreferencesError) -> Bool {
    do throws(FileError) {
      guard let stat = try PrivateFile.inspect(path) else { return false }
      return stat.identity == identity
    } catch {
      unlock()
      throw PreferencesError(error)
    }
  }
}
