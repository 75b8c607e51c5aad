internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// The record of what this user has seen at one path.
struct SeenRecordFile: Sendable {
  let path: String
  let name: String
  let vaultPath: String

  /// Whether it is the record of a former name; if it is missing, it is not created.
  let isFormer: Bool

  private let folder: KnownFolder
  private let folderPath: String
  private let last = LastRecord()

  enum Content: Hashable, Sendable {
    case none
    case unreadable
    case record(SeenRecord)

    var record: SeenRecord? { if case .record(let record) = self { record } else { nil } }
  }

  /// Creates the record of a path, or that of `formerPath` for a vault whose path is now another
  /// one.
  init(folder: String, vaultPath: String, formerPath: String? = nil) throws(KeychainError) {
    folderPath = folder
    self.folder = KnownFolder(folder)
    self.vaultPath = vaultPath
    isFormer = formerPath != nil
    name = try SeenRecord.name(of: formerPath ?? vaultPath)
    path = folder + "/" + name
  }

  /// Reads the record; it fails if the contents or the existence are unknown: the record is not
  /// missing then.
  func read() throws(KeychainError) -> Content {
    let descriptor: FileDescriptor
    do throws(Errno) {
      // If there is a pipe in its place, opening doesn't block, and nothing is read from it.
      descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
    } catch {
      switch error {
      case .noSuchFileOrDirectory, .notDirectory: return .none
      case .tooManySymbolicLinkLevels, .noSuchAddressOrDevice: return .unreadable
      default:
        // Without free descriptors, a program continues with the record that it has read, if it is
        // unchanged.
        if let record = last.record(of: FileStamp(path)) { return .record(record) }
        if isMissing { return .none }
        throw .system(error, "read", path)
      }
    }
    defer { try? descriptor.close() }
    // The record has a checksum, so the lock is only needed while somebody writes it.
    if let record = try contents(descriptor) { return .record(record) }
    // Writers hold the lock for microseconds. If it isn't free, the record is read without it.
    _ = try? FileLock.lock(descriptor, .shared, Deadline(after: .milliseconds(200)))
    guard let record = try contents(descriptor) else { return .unreadable }
    return .record(record)
  }

  private var isMissing: Bool {
    do throws(Errno) {
      _ = try unsafe Stat(path, followTargetSymlink: false)
      return false
    } catch { return error == .noSuchFileOrDirectory }
  }

  /// Raises the record to a newer one of the same vault and administration key, or of a key to
  /// which valid successions led from the record `followed`; leaves other records unchanged.
  func raise(to new: SeenRecord, following followed: SeenRecord? = nil) throws(KeychainError) {
    try change(synced: false) { old in
      guard var old else { return new }
      guard old.id == new.id, old.trusts(new.administration) || old == followed else { return nil }
      return old.raise(by: new) ? old : nil
    }
  }

  /// Replaces the record durably; it is never lowered, except from one that a person has discarded.
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

  /// Writes the result of `body` for the record, which is `nil` if it is missing or damaged.
  private func change(synced: Bool, _ body: (SeenRecord?) -> SeenRecord?) throws(KeychainError) {
    if let lock = try existing() { return try write(body, to: lock, synced: synced) }
    guard !isFormer, let new = body(nil) else { return }
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
    let old = try contents(lock.descriptor)
    guard let new = body(old), new != old else { return }
    do throws(Errno) {
      try Self.write(new, to: lock.descriptor)
      // A damaged record may be longer, and may not be on the disk.
      guard old != nil || ftruncate(lock.descriptor.rawValue, off_t(SeenRecord.count)) == 0,
        !(synced || old == nil) || fsync(lock.descriptor.rawValue) == 0
      else { throw .current }
    } catch { throw .system(error, "write", path) }
  }

  /// Creates the record completely or not at all; `false` if another process was faster.
  private func make(_ record: SeenRecord) throws(FileError) -> Bool {
    // The record is not secret.
    try PrivateFile.createIfAbsent(path, openTo: PrivateFile.everybody) {
      descriptor throws(Errno) in
      try Self.write(record, to: descriptor)
    }
  }

  /// Writes a record in place; it lies within one sector, so it is never half written.
  private static func write(_ record: SeenRecord, to descriptor: FileDescriptor) throws(Errno) {
    try DescriptorIO.write(record.encoded, to: descriptor, at: 0)
  }

  /// Returns the record; `nil` if it is damaged, or if something else is in its place.
  private func contents(_ descriptor: FileDescriptor) throws(KeychainError) -> SeenRecord? {
    do throws(Errno) {
      let stamp = FileStamp(try Stat(descriptor))
      return last.record(
        in: Data(try DescriptorIO.read(descriptor, SeenRecord.count + 1, at: 0)), stamp)
    } catch {
      guard error == .isDirectory || error == .illegalSeek else {
        throw .system(error, "read", path)
      }
      return nil
    }
  }
}

/// What this user has seen at a vault's path: a record for the real path, one for each path on the
/// way that a symbolic link has replaced, and then those of the default vault's former paths.
///
/// What was seen counts for every name that leads to it. So a link in a vault's place, or one that
/// now leads elsewhere, invalidates nothing. The record of a former path is raised with the others
/// as long as it exists, so that a program that knows only the former name does not create an empty
/// vault there. Removing one record does not help an attacker: any of them is enough to refuse an
/// older vault.
struct SeenRecords: Sendable {
  /// The records, beginning with that of the real path.
  let files: [SeenRecordFile]

  init(
    stateFolder: String, vault: TrustedPath, former: TrustedPath? = nil
  ) throws(KeychainError) {
    try self.init(
      folder: translated(TrustedPath(resolving: stateFolder)).path + "/seen",
      paths: vault.pastAndPresent,
      formerPaths: former?.pastAndPresent ?? [])
  }

  private init(
    folder: String, paths: [String], formerPaths: [String]
  ) throws(KeychainError) {
    let files = try paths.map { path throws(KeychainError) in
      try SeenRecordFile(folder: folder, vaultPath: path)
    }
    let former = try formerPaths.map { path throws(KeychainError) in
      try SeenRecordFile(folder: folder, vaultPath: paths.first ?? path, formerPath: path)
    }
    self.files = files + former.filter { file in !files.contains { $0.name == file.name } }
  }

  /// Returns the records of a path that others may be able to change; they are used to forget the
  /// keys that they name: at worst, another vault of the user is locked.
  static func withoutTrust(
    stateFolder: String, vaultPath: String, formerPath: String?
  ) throws(KeychainError) -> SeenRecords {
    let former = try formerPath.map { path throws(KeychainError) in
      try translated(TrustedPath.pastAndPresent(path))
    }
    return try SeenRecords(
      folder: translated(TrustedPath.withoutTrust(stateFolder)) + "/seen",
      paths: translated(TrustedPath.pastAndPresent(vaultPath)), formerPaths: former ?? [])
  }

  var path: String { files.first?.path ?? "" }

  /// The names of the paths in the unlock cache.
  var names: [String] { files.filter { !$0.isFormer }.map(\.name) }

  func read() throws(KeychainError) -> Seen {
    Seen(
      contents: try files.map { file throws(KeychainError) in try file.read() },
      paths: files.map(\.vaultPath))
  }

  /// Whether every required record is at least as new as `new`.
  func have(_ new: SeenRecord, _ seen: Seen) -> Bool {
    zip(files, seen.contents).allSatisfy { file, content in
      guard var known = content.record else { return file.isFormer && content == .none }
      return !known.raise(by: new)
    }
  }

  /// Raises each record as ``SeenRecordFile/raise(to:following:)`` does, and creates missing ones.
  func raise(to new: SeenRecord, following seen: Seen) throws(KeychainError) {
    for (file, old) in zip(files, seen.contents) {
      try file.raise(to: new, following: old.record)
    }
  }

  /// Replaces each record durably.
  ///
  /// None is lowered, except from one of `known`, which a person has discarded.
  func replace(by record: SeenRecord, lettingGo known: Seen? = nil) throws(KeychainError) {
    for (index, file) in files.enumerated() {
      try file.replace(by: record, lettingGo: known?.contents[index].record)
    }
  }

  /// Replaces each record by what a person accepted, and changes nothing else; if it can't be made
  /// durable, it may still count.
  func replaceAlone(by record: SeenRecord, lettingGo known: Seen) throws(KeychainError) {
    do throws(KeychainError) { try replace(by: record, lettingGo: known) } catch {
      guard error.code == .inputOutput else { throw error }
      throw .outcomeUnknown(
        ofChanging: "the seen record", underlying: error.underlying)
    }
  }

  /// Replaces durably the records that `change` changes; `false` if there were none.
  @discardableResult
  func change(
    _ seen: Seen, _ change: (inout SeenRecord) throws(KeychainError) -> Void
  ) throws(KeychainError) -> Bool {
    var isChanged = false
    for (file, old) in zip(files, seen.contents) {
      guard let old = old.record else { continue }
      var new = old
      try change(&new)
      guard new != old else { continue }
      try file.replace(by: new, lettingGo: old)
      isChanged = true
    }
    return isChanged
  }
}

/// The contents of the records of a vault's path.
struct Seen: Hashable, Sendable {
  /// The contents in the order of ``SeenRecords/files``.
  var contents: [SeenRecordFile.Content]

  /// The path of each record's vault: errors name the one that was seen.
  let paths: [String]

  /// The path at which something was seen; `nil` if nothing was.
  var pathWithRecord: String? { zip(paths, contents).first { $0.1 != .none }?.0 }
  var isNone: Bool { pathWithRecord == nil }
  var isUnreadable: Bool { contents.contains(.unreadable) }
  var records: [SeenRecord] { contents.compactMap(\.record) }

  /// Returns what all records together have seen of a vault; `nil` if they have seen nothing.
  func record(of vault: VaultID) -> SeenRecord? {
    let records = records.filter { $0.id == vault }
    return records.dropFirst().reduce(into: records.first) { all, record in
      _ = all?.raise(by: record)
    }
  }
}

/// The record as it was last read, so that the same bytes are decoded once.
private final class LastRecord: Sendable {
  private let last = PosixMutex<(bytes: Data, record: SeenRecord, stamp: FileStamp)?>(nil)

  func record(in bytes: Data, _ stamp: FileStamp) -> SeenRecord? {
    let known = last.withLock { last in
      if last?.bytes == bytes { last?.stamp = stamp }
      return last
    }
    if let known, known.bytes == bytes { return known.record }
    guard let record = SeenRecord(encoded: bytes) else { return nil }
    last.withLock { $0 = (bytes, record, stamp) }
    return record
  }

  /// Returns the record if the file has not changed since.
  func record(of stamp: FileStamp?) -> SeenRecord? {
    guard let known = last.withLock({ $0 }), known.stamp == stamp else { return nil }
    return known.record
  }
}
