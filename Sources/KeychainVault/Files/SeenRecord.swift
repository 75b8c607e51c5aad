internal import Foundation
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import SystemPackage

/// The newest state of a vault that this user has seen.
struct SeenRecord: Hashable, Sendable {
  /// The checks of tier T0 that are valid: two while the vault gets a new root key.
  var checks: [Data]
  var counter: UInt64

  static let count = 57

  var encoded: Data {
    var bytes = Data([UInt8(checks.count)])
    bytes += checks[0]
    bytes += checks.count > 1 ? checks[1] : Data(repeating: 0, count: 16)
    bytes += FieldWriter.fields { $0.integer(counter) }
    return bytes + ((try? Derivation.hash(bytes, count: 16)) ?? Data())
  }

  init(checks: [Data], counter: UInt64) {
    self.checks = checks
    self.counter = counter
  }

  /// A record as it was read, or `nil` if it is torn.
  init?(encoded: Data) {
    guard encoded.count == Self.count, 1...2 ~= encoded[0],
      encoded[0] == 2 || encoded[17..<33].allSatisfy({ $0 == 0 }),
      let sum = try? Derivation.hash(encoded.prefix(41), count: 16), sum == encoded.suffix(16)
    else { return nil }
    checks = [Data(encoded[1..<17])]
    if encoded[0] == 2 { checks.append(Data(encoded[17..<33])) }
    counter = encoded.bytes.littleEndian(at: 33, as: UInt64.self)
    guard counter <= StateRow.maximumCounter else { return nil }
  }
}

/// The file of a seen record.
struct SeenRecordFile: Sendable {
  let path: String
  private let folder: String

  enum Content: Hashable, Sendable {
    case none
    case unreadable
    case record(SeenRecord)
  }

  init(stateFolder: String, vaultPath: String) throws(KeychainError) {
    folder = try TrustedPath(resolving: stateFolder).path + "/seen"
    path = try folder + "/" + Self.name(of: vaultPath)
  }

  /// The name of the record of a vault.
  static func name(of vaultPath: String) throws(KeychainError) -> String {
    try Derivation.hash(Data(vaultPath.utf8), count: 16).hexadecimal
  }

  func read() -> Content {
    let descriptor: FileDescriptor
    do throws(Errno) {
      // Without waiting, should there be a pipe in its place; from that nothing is read.
      descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
    } catch {
      return isMissing ? .none : .unreadable
    }
    defer { try? descriptor.close() }
    // The record carries its own checksum, so only one that is being written needs the lock.
    if let record = contents(descriptor) { return .record(record) }
    // Writers hold the lock for microseconds; a lock that is not to be had tells nothing.
    _ = FileLock.lock(descriptor, LOCK_SH, Deadline(after: .milliseconds(200)))
    guard let record = contents(descriptor) else { return .unreadable }
    return .record(record)
  }

  private var isMissing: Bool { unsafe (try? Stat(path, followTargetSymlink: false)) == nil }

  /// Raises the counter to at least `counter`; a record of another vault is left alone.
  func raise(check: Data, to counter: UInt64) throws(KeychainError) {
    try change(synced: false) { old in
      guard case .record(let record) = old else {
        return SeenRecord(checks: [check], counter: counter)
      }
      guard record.checks.contains(check), record.counter < counter else { return nil }
      // A newer state tells which of two keys the vault got.
      return SeenRecord(checks: [check], counter: counter)
    }
  }

  /// Replaces the record, durably; the counter of the same vault is not lowered.
  func replace(by record: SeenRecord) throws(KeychainError) {
    try change(synced: true) { old in
      guard case .record(let old) = old, old.checks.contains(where: record.checks.contains) else {
        return record
      }
      return SeenRecord(checks: record.checks, counter: max(old.counter, record.counter))
    }
  }

  private func change(
    synced: Bool, _ body: (Content) -> SeenRecord?
  ) throws(KeychainError) {
    try PrivateFile.makeFolder(folder)
    let lock = try FileLock(exclusive: path, deadline: Deadline(after: .seconds(1)))
    let old = contents(lock.descriptor).map { Content.record($0) } ?? .none
    guard let new = body(old), .record(new) != old else { return }
    do {
      _ = unsafe try new.encoded.withUnsafeBytes {
        try unsafe lock.descriptor.writeAll(toAbsoluteOffset: 0, $0)
      }
      if synced {
        guard fsync(lock.descriptor.rawValue) == 0 else { throw Errno.current }
        try PrivateFile.syncFolder(folder)
      }
    } catch {
      throw .system(error as? Errno ?? .ioError, "write", path)
    }
  }

  private func contents(_ descriptor: FileDescriptor) -> SeenRecord? {
    var bytes = Data(count: SeenRecord.count + 1)
    let count = unsafe try? bytes.withUnsafeMutableBytes {
      try unsafe descriptor.read(fromAbsoluteOffset: 0, into: $0)
    }
    guard let count else { return nil }
    return SeenRecord(encoded: Data(bytes.prefix(count)))
  }
}
