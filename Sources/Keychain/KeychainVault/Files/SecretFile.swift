internal import FoundationEssentials
internal import Glibc
package import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
package import PrephirencesSystem
internal import SystemPackage

enum SecretFile {
  static let passphraseLimit = 65536

  /// Reads a whole file; `nil` if it has more than `limit` bytes.
  static func contents(
    of path: String, limit: Int, within timeout: Duration = .seconds(10)
  ) throws(KeychainError) -> SecretBytes? {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path)
      defer { try? descriptor.close() }
      do throws(SecretsError) {
        return try SecretBytes.reading(
          fileDescriptor: descriptor.rawValue, limit: limit,
          awaiting: Deadline(after: timeout).awaitInput)
      } catch { throw error.code == .outOfMemory ? .noMemory : Errno(rawValue: error.systemError) }
    } catch {
      if error == .timedOut { throw KeychainError(FileError(.endless, path)) }
      throw .system(error, "read", path)
    }
  }

  /// Reads a passphrase or key file that the user named, which may belong to root.
  ///
  /// `name` is how errors name the source.
  static func named(
    _ path: String, name: String, policy: SecretFilePolicy
  ) throws(KeychainError) -> SecretBytes {
    let described = describe(path, name)
    if let number = DescriptorPath.number(path),
      let contents = try InheritedSecrets.contents(of: number, described, within: policy.timeout)
    {
      return contents
    }
    let resolved = try translated(TrustedPath(resolving: path))
    let stat = try translated(
      onFile(described, "read", Stat(FilePath(resolved.path), followTargetSymlink: false)))
    let forbidden = try readers(of: resolved, policy).forbiddenBits
    do throws(FileError) {
      // Then only the user and root can replace it before it is opened: the folders above were checked.
      try PrivateFile.check(stat, resolved.path, ownerMayBeRoot: true, forbidden: forbidden)
    } catch { throw KeychainError(ofSecretFile: error) }
    let contents = try contents(of: resolved.path, limit: passphraseLimit, within: policy.timeout)
    guard let contents else { throw tooLarge(described) }
    return contents
  }

  fileprivate static func tooLarge(_ described: String) -> KeychainError {
    KeychainError(.tooLarge, "\(described) has more than 64 KiB")
  }

  /// Makes a file durable that the user named, before the vault depends on it.
  static func sync(_ path: String) throws(KeychainError) {
    guard DescriptorPath.number(path) == nil else { return }
    try translated(PrivateFile.sync(TrustedPath(resolving: path).path))
  }

  /// Returns who may read the file: in and below the folder of the system's credentials, where Kubernetes
  /// puts links to a folder of the same volume, the system sets group permissions.
  fileprivate static func readers(
    of file: TrustedPath, _ policy: SecretFilePolicy
  ) throws(KeychainError) -> SecretFileReaders {
    let readers = try policy.readers()
    guard readers == .owner, let folder = try policy.credentialsFolder() else { return readers }
    let isInside = try file.path.hasPrefix(translated(TrustedPath(resolving: folder)).path + "/")
    return isInside ? .group : .owner
  }

  /// Returns how errors name a file and its source.
  static func describe(_ path: String, _ source: String) -> String {
    path == source ? path : "\(path), named by \(source)"
  }
}

/// Secrets from pipes that this process inherited, whose text as a link names nothing that could be opened.
///
/// Who made the pipe started this process, or was started by who did. A pipe is read once, and the secret may be
/// needed again.
private enum InheritedSecrets {
  private struct Kept {
    let number: Int32
    let identity: FileIdentity
    let secret: SharedSecret
  }

  private static let kept = PosixMutex<[Kept]>([])

  /// Reads a pipe to its end, or what it had before; `nil` if the descriptor is none.
  static func contents(
    of number: Int32, _ described: String, within timeout: Duration
  ) throws(KeychainError) -> SecretBytes? {
    guard let stat = try? Stat(FileDescriptor(rawValue: number)),
      stat.type == .fifo || stat.type == .socket
    else { return nil }
    return try kept.withLock { kept throws(KeychainError) in
      if let found = kept.first(where: { $0.number == number && $0.identity == stat.identity }) {
        return try found.secret.copy()
      }
      let secret = try read(number, described, within: timeout)
      kept.append(Kept(number: number, identity: stat.identity, secret: secret))
      return try secret.copy()
    }
  }

  private static func read(
    _ number: Int32, _ described: String, within timeout: Duration
  ) throws(KeychainError) -> SharedSecret {
    let secret: SecretBytes?
    do throws(SecretsError) {
      secret = try SecretBytes.reading(
        fileDescriptor: number, limit: SecretFile.passphraseLimit,
        awaiting: Deadline(after: timeout).awaitInput)
    } catch {
      throw error.systemError == ETIMEDOUT
        ? KeychainError(FileError(.endless, described))
        : .system(Errno(rawValue: error.systemError), "read", described)
    }
    guard let secret else { throw SecretFile.tooLarge(described) }
    return SharedSecret(secret)
  }
}

extension KeychainError {
  /// The error of a file with a secret: only for such files, other readers can be allowed.
  fileprivate init(ofSecretFile error: FileError) {
    self.init(error)
    guard case .insecure(.fileOpenToOthers(_, let mode, _)) = error.kind, mode & 0o022 == 0 else {
      return
    }
    let way: Recovery =
      mode & 0o007 == 0
      ? "if its group may read it, as in a container: \(.allowReaders(.group)), or "
        + "\(SecretFilePolicy.variable)=group"
      : "if everybody here may read it, as in a container: \(.allowReaders(.others)), or "
        + "\(SecretFilePolicy.variable)=others"
    self.init(
      code, message, recovery: [recovery, way].compactMap(\.self).joined(separator: "; "),
      underlying: underlying)
  }

  /// The error of a new file with a secret: only for it, a file system without modes can be accepted.
  package init(ofNewSecretFile error: FileError) {
    self.init(error)
    guard case .insecure(.mediumWithoutModes(let mode)) = error.kind else { return }
    let way: Recovery = "or accept it with \(.allowReaders(mode & 0o007 == 0 ? .group : .others))"
    self.init(code, message, recovery: [recovery, way].compactMap(\.self).joined(separator: "; "))
  }
}

extension EnvironmentVariables {
  /// Returns the value of a variable that holds a secret, copied once, into guarded memory.
  func secret(_ name: String) throws(KeychainError) -> SecretBytes? {
    try translated(
      secrets: withBytes(of: name) { bytes throws(SecretsError) in
        try SecretBytes(copying: bytes)
      })
  }
}

/// Writes identity files: a reader finds either the old file or all of the new one.
struct IdentityWriting {
  private let file: TrustedPath
  var path: String { file.path }

  init(_ path: String) throws(KeychainError) {
    file = try translated(TrustedPath(resolving: path))
  }

  /// Creates a file with a new identity, which `readers` may use if the file system has no modes; fails if
  /// there is one already.
  func create(
    pins: [VaultCheck], readers: SecretFileReaders
  ) throws(KeychainError) -> VaultRecipient {
    let identity = try VaultIdentity.random()
    let text = try Self.text(identity, pins)
    do throws(FileError) {
      try PrivateFile.makeFolder(file.folder)
      try PrivateFile.create(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try text.write(to: descriptor)
      }
    } catch {
      guard error.kind == .alreadyExists else { throw KeychainError(ofNewSecretFile: error) }
      throw .fileExists(
        path, recovery: .nameNewFile + "; overwriting an identity loses what it opens")
    }
    return identity.recipient
  }

  /// Makes sure that the file has a pin, and removes the pins for which `isDropped` returns `true`.
  func pin(
    _ check: VaultCheck, name: String, policy: SecretFilePolicy,
    dropping isDropped: (VaultCheck) -> Bool
  ) throws(KeychainError) {
    let text = try SecretFile.named(path, name: name, policy: policy)
    let old = try IdentityFile(text: text, name: path)
    guard !old.pins.contains(check) || old.pins.contains(where: { $0 != check && isDropped($0) })
    else { return }
    let lines = try IdentityFile.lines(of: text, name: path)
    let kept = lines.enumerated().filter { index, line in
      // What follows the last line feed is not a line if it is empty.
      if index == lines.count - 1, line.isEmpty { return false }
      guard case .pin(let pin) = IdentityFile.content(of: text, line) else { return true }
      return pin != check && !isDropped(pin)
    }
    let new = try translating { () throws(SecretsError) in
      var buffer = try SecretBuffer()
      for (_, line) in kept {
        try text.withBytes { bytes throws(SecretsError) in
          try buffer.append(bytes.extracting(line))
        }
        try buffer.append("\n")
      }
      try buffer.append(IdentityFile.pinPrefix + "\(check)\n")
      return try buffer.finish()
    }
    let readers = try SecretFile.readers(of: file, policy)
    do throws(FileError) {
      try PrivateFile.replace(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try new.write(to: descriptor)
        if readers != .owner { try keepReaders(of: descriptor) }
      }
    } catch { throw KeychainError(ofNewSecretFile: error) }
  }

  /// Opens a new file to those who may read the one that it replaces.
  private func keepReaders(of new: FileDescriptor) throws(Errno) {
    let (old, made) = (try Stat(FilePath(path), followTargetSymlink: false), try Stat(new))
    // A file system without modes keeps its own.
    guard old.permissions != made.permissions, old.permissions.rawValue & 0o077 != 0 else { return }
    // Another group must not get the permissions of the old one.
    let keepsGroup = fchown(new.rawValue, .max, old.groupID.rawValue) == 0
    let mode = old.permissions.rawValue & (keepsGroup ? 0o777 : 0o707)
    guard fchmod(new.rawValue, mode) == 0 else { throw .current }
  }

  private static func text(
    _ identity: borrowing VaultIdentity, _ pins: [VaultCheck]
  ) throws(KeychainError) -> SecretBytes {
    try translating { () throws(SecretsError) in
      var buffer = try SecretBuffer()
      try buffer.append("# Whoever has this file opens the vaults of the recipient\n")
      try buffer.append("# \(identity.recipient)\n")
      try buffer.append("# fingerprint \(identity.recipient.fingerprint)\n")
      try identity.text().withBytes { bytes throws(SecretsError) in try buffer.append(bytes) }
      try buffer.append("\n")
      for pin in pins { try buffer.append(IdentityFile.pinPrefix + "\(pin)\n") }
      return try buffer.finish()
    }
  }
}

struct SeenRecordFile: Sendable {
  let path: String
  let name: String
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
    try DescriptorIO.write(record.encoded, to: descriptor, at: 0)
  }

  private func contents(_ descriptor: FileDescriptor) -> SeenRecord? {
    guard let bytes = try? DescriptorIO.read(descriptor, SeenRecord.count + 1, at: 0) else {
      return nil
    }
    return last.record(in: Data(bytes))
  }
}

/// What the file held when it was read last, so that the same bytes are decoded once.
private final class LastRecord: Sendable {
  private let last = PosixMutex<(bytes: Data, record: SeenRecord)?>(nil)

  func record(in bytes: Data) -> SeenRecord? {
    if let last = last.withLock({ $0 }), last.bytes == bytes { return last.record }
    guard let record = SeenRecord(encoded: bytes) else { return nil }
    last.withLock { $0 = (bytes, record) }
    return record
  }
}
