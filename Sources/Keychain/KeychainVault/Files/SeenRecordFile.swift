internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

struct SeenRecordFile: Sendable {
  let path: String
  private let name: String
  private let folder: KnownFolder
  private let folderPath: String
  private let last = LastRecord()

  enum Content: Hashable, Sendable {
    case none
    case unreadable
    case record(SeenRecord)

    var record: SeenRecord? { if case .record(let record) = self { record } else { nil } }
  }

  init(stateFolder: String, vaultPath: String) throws(KeychainError) {
    let state = try translated(TrustedPath(resolving: stateFolder)).path
    try self.init(folder: state + "/seen", vaultPath: vaultPath)
  }

  private init(folder: String, vaultPath: String) throws(KeychainError) {
    folderPath = folder
    self.folder = KnownFolder(folder)
    name = try SeenRecord.name(of: vaultPath)
    path = folder + "/" + name
  }

  /// Returns the records of what was seen at a path, also before a link took its place, whose contents
  /// others may be able to change: by forgetting the keys that they name, at worst another vault of the
  /// user is locked.
  static func withoutTrust(
    stateFolder: String, vaultPath: String
  ) throws(KeychainError) -> [SeenRecordFile] {
    let folder = try translated(TrustedPath.withoutTrust(stateFolder)) + "/seen"
    return try translated(TrustedPath.pastAndPresent(vaultPath)).map { path throws(KeychainError) in
      try Self(folder: folder, vaultPath: path)
    }
  }

  func read() -> Content {
    let descriptor: FileDescriptor
    do throws(Errno) {
      // Doesn't block if there is a pipe in its place; nothing is read from that.
      descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
    } catch { return isMissing ? .none : .unreadable }
    defer { try? descriptor.close() }
    // The record has its own checksum, so the lock is needed only while it is being written.
    if let record = contents(descriptor) { return .record(record) }
    // Writers hold the lock for microseconds. If it cannot be taken, the record is read without it.
    _ = try? FileLock.lock(descriptor, .shared, Deadline(after: .milliseconds(200)))
    guard let record = contents(descriptor) else { return .unreadable }
    return .record(record)
  }

  private var isMissing: Bool { unsafe (try? Stat(path, followTargetSymlink: false)) == nil }

  /// Raises the record to a newer one of the same vault and administration key, or of one to which
  /// successions were followed from the record `followed`; others are left unchanged.
  func raise(to new: SeenRecord, following followed: SeenRecord? = nil) throws(KeychainError) {
    try change(synced: false) { old in
      guard var old else { return new }
      guard old.id == new.id, old.trusts(new.administration) || old == followed else { return nil }
      return old.raise(by: new) ? old : nil
    }
  }

  /// Replaces the record, durably; it is never lowered, except from one that a person has discarded.
  func replace(by record: SeenRecord, lettingGo known: SeenRecord? = nil) throws(KeychainError) {
    try change(synced: true) { old in
      guard let old, old != known, old.id == record.id,
        old.trusts(record.administration) || record.trusts(old.administration)
      else { return record }
      var record = record
      _ = record.raise(by: old)
      return record
    }
  }

  /// Writes what `body` returns for the record, which is `nil` if it is missing or damaged.
  private func change(synced: Bool, _ body: (SeenRecord?) -> SeenRecord?) throws(KeychainError) {
    if let lock = try existing() { return try write(body, to: lock, synced: synced) }
    guard let new = body(nil) else { return }
    try translated(PrivateFile.makeFolder(folderPath))
    if try translated(make(new)) { return }
    guard let lock = try existing() else {
      throw KeychainError(.inputOutput, "\(path) vanished while it was written")
    }
    try write(body, to: lock, synced: synced)
  }

  /// Opens and locks the record; `nil` if there is none.
  private func existing() throws(KeychainError) -> FileLock? {
    guard let descriptor = try translated(folder.open(name, .readWrite)) else { return nil }
    return try translated(
      FileLock(exclusive: descriptor, path, deadline: Deadline(after: .seconds(1))))
  }

  private func write(
    _ body: (SeenRecord?) -> SeenRecord?, to lock: borrowing FileLock, synced: Bool
  ) throws(KeychainError) {
    let old = contents(lock.descriptor)
    guard let new = body(old), new != old else { return }
    do throws(Errno) {
      try Self.write(new, to: lock.descriptor)
      // A damaged record may be longer, and nothing says that it lies on the disk.
      guard old != nil || ftruncate(lock.descriptor.rawValue, off_t(SeenRecord.count)) == 0,
        !(synced || old == nil) || fsync(lock.descriptor.rawValue) == 0
      else { throw .current }
    } catch { throw .system(error, "write", path) }
  }

  /// Creates the record whole or not at all; `false` if another process was faster.
  private func make(_ record: SeenRecord) throws(FileError) -> Bool {
    // It holds no secret.
    try PrivateFile.createIfAbsent(path, openTo: PrivateFile.everybody) {
      descriptor throws(Errno) in
      try Self.write(record, to: descriptor)
    }
  }

  /// Writes a record in place: it lies within one sector, so it is never half written.
  private static func write(_ record: SeenRecord, to descriptor: FileDescriptor) throws(Errno) {
    do {
      _ = unsafe try record.encoded.withUnsafeBytes {
        try unsafe descriptor.writeAll(toAbsoluteOffset: 0, $0)
      }
    } catch { throw error as? Errno ?? .ioError }
  }

  private func contents(_ descriptor: FileDescriptor) -> SeenRecord? {
    var bytes = Data(count: SeenRecord.count + 1)
    let count = unsafe try? bytes.withUnsafeMutableBytes {
      try unsafe descriptor.read(fromAbsoluteOffset: 0, into: $0)
    }
    guard let count else { return nil }
    return last.record(in: bytes.prefix(count))
  }
}

/// What the file held when it was read last, so that the same bytes are decoded once.
private final class LastRecord: Sendable {
  private let last = Mutex<(bytes: Data, record: SeenRecord)?>(nil)

  func record(in bytes: Data) -> SeenRecord? {
    if let last = last.withLock({ $0 }), last.bytes == bytes { return last.record }
    guard let record = SeenRecord(encoded: bytes) else { return nil }
    last.withLock { $0 = (bytes, record) }
    return record
  }
}
