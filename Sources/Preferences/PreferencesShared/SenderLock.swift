internal import Glibc
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesSystem
internal import SystemPackage

/// The lock of the process that sends and receives for a file.
///
/// It is a lock on the file `SUITE.preferences-sync`, which contains
///
/// - the number of the process that took it last,
/// - a number that others change to request a retry,
/// - a number that changes when the server has accepted changes,
/// - and why that process cannot record its status. These bytes exist already, so a full disk does
///   not prevent it.
///
/// Unchecked because one thread takes and releases it, and others only read the descriptor between.
final class SenderLock: @unchecked Sendable {
  static let suffix = "-sync"

  private let path: String

  /// Kept open between attempts: closing it would wake other waiting processes.
  private var file: FileLock?
  private var identity: FileIdentity?

  init(besides path: String) { self.path = path + Self.suffix }

  deinit { release() }

  /// Takes the lock, unless another process has it.
  func tryTake() throws(PreferencesError) -> Bool {
    if (try? PrivateFile.look(path))??.identity != identity { release() }
    if file == nil { try open() }
    guard let descriptor = file?.descriptor else { return false }
    guard try performing("lock", path, { try FileLock.tryLock(descriptor, .exclusive) }) else {
      return false
    }
    // If this fails, `status` cannot name the process; nothing else depends on it.
    try? DescriptorIO.write(Self.text(getpid()), to: descriptor, at: 0)
    // Write the number now: a file that grows later would look like a request.
    announce()
    keep(failure: nil)
    return true
  }

  func release() {
    if let descriptor = file?.descriptor { UninheritedFiles.forget(descriptor) }
    file = nil
    identity = nil
  }

  private func open() throws(PreferencesError) {
    do {
      // A forked child would keep the lock without sending anything.
      let descriptor = try UninheritedFiles.open { () throws(Errno) in
        try PrivateFile.open(path, .readWrite, flags: O_CREAT | O_NONBLOCK)
      }
      file = FileLock(descriptor)
      let stat = try Stat(descriptor)
      try PrivateFile.check(stat, path)
      identity = stat.identity
    } catch {
      release()
      if let error = error as? FileError { throw PreferencesError(error) }
      throw PreferencesError(.failed(error as? Errno ?? .ioError, "open", path))
    }
  }

  // MARK: - Other processes

  /// The number that ``requestRetry(besides:)`` changes.
  static func retryRequest(besides path: String) -> [UInt8] {
    let descriptor = try? PrivateFile.open(path + suffix)
    defer { try? descriptor?.close() }
    let request = read(descriptor, at: requestOffset, 8)
    // A new or short file has none.
    return request.count == 8 ? request : Array(repeating: 0, count: 8)
  }

  /// Announces to waiting processes that the server has accepted changes.
  ///
  /// An acknowledgement does not change the file of preferences, so nothing else notifies them.
  func announce() {
    let number = withUnsafeBytes(of: UInt64.random(in: 0 ... .max)) { Array($0) }
    guard let descriptor = file?.descriptor else { return }
    try? DescriptorIO.write(number, to: descriptor, at: Self.announcementOffset)
  }

  /// Records for other processes why nothing can be recorded; `nil` clears it.
  func keep(failure: String?) {
    var bytes = Array((failure ?? "").utf8.prefix(Self.failureCount))
    bytes += Array(repeating: 0, count: Self.failureCount - bytes.count)
    guard let descriptor = file?.descriptor,
      Self.read(descriptor, at: Self.failureOffset, Self.failureCount) != bytes
    else { return }
    try? DescriptorIO.write(bytes, to: descriptor, at: Self.failureOffset)
  }

  /// Why the process that holds the lock cannot record its status; `nil` if it can.
  static func failure(besides path: String) -> String? {
    guard let descriptor = try? PrivateFile.open(path + suffix) else { return nil }
    defer { try? descriptor.close() }
    let bytes = read(descriptor, at: failureOffset, failureCount).prefix { $0 != 0 }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Makes the sending process, and those that wait for a password, retry now.
  static func requestRetry(besides path: String) {
    guard let descriptor = try? PrivateFile.open(path + suffix, .readWrite) else { return }
    defer { try? descriptor.close() }
    let number = withUnsafeBytes(of: UInt64.random(in: 0 ... .max)) { Array($0) }
    try? DescriptorIO.write(number, to: descriptor, at: requestOffset)
  }

  /// The process that holds the lock, or `nil`.
  static func holder(besides path: String) -> Int32? {
    // Open for writing: closing it then wakes the waiting processes, in case the probe had the
    // lock.
    guard let descriptor = try? PrivateFile.open(path + suffix, .readWrite) else { return nil }
    let lock = FileLock(descriptor)
    guard (try? FileLock.tryLock(lock.descriptor, .shared)) == false else { return nil }
    let text = read(lock.descriptor, at: 0, numberCount).prefix { $0 != UInt8(ascii: " ") }
    return Int32(String(decoding: text, as: UTF8.self))
  }

  private static let numberCount = 15
  private static let requestOffset: Int64 = 16
  private static let announcementOffset: Int64 = 24
  private static let failureOffset: Int64 = 32
  private static let failureCount = 256

  private static func text(_ process: pid_t) -> [UInt8] {
    let digits = Array(String(process).utf8)
    return digits + Array(repeating: UInt8(ascii: " "), count: numberCount - digits.count)
      + Array("\n".utf8)
  }

  private static func read(_ descriptor: FileDescriptor?, at offset: Int64, _ count: Int) -> [UInt8]
  {
    guard let descriptor else { return [] }
    return (try? DescriptorIO.read(descriptor, count, at: offset)) ?? []
  }
}
