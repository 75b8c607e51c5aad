internal import Foundation
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesFiles
internal import Synchronization
internal import SystemPackage

/// The file of a vault: its place, whether it can be trusted, and the connection to it.
final class VaultFile: Sendable {
  private struct Connection {
    let storage: SQLiteVaultStorage
    let identity: FileIdentity
    var isInitialized: Bool
  }

  /// What the observers of the handle know.
  let ledger = ItemLedger()

  private let configuration: VaultConfiguration
  private let locations: Locations
  private let resolved = Mutex<TrustedPath?>(nil)
  private let seen = Mutex<SeenRecordFile?>(nil)
  private let connection = Mutex<Connection?>(nil)
  private let process = getpid()

  /// Connections that are never closed; see `VaultConfiguration.leavesConnectionToExit`.
  private static let untilExit = Mutex<[SQLiteVaultStorage]>([])

  init(_ configuration: VaultConfiguration) {
    self.configuration = configuration
    locations = Locations(environment: configuration.environment)
  }

  /// An open vault with its seen record, at the beginning of an operation.
  struct Opened: Sendable {
    let storage: any VaultStorage
    let path: String
    let identity: FileIdentity
    let seenFile: SeenRecordFile
    var seen: SeenRecordFile.Content
  }

  /// Returns the real path, after every folder above it was checked.
  func path() throws(KeychainError) -> TrustedPath {
    if let path = resolved.withLock({ $0 }) { return path }
    let named = try namedPath()
    let path = try translated(TrustedPath(resolving: named))
    guard !path.othersCanAddFiles else {
      // SQLite accepts any journal next to the vault, whoever made it.
      throw KeychainError(
        .insecurePermissions, "other users can make files in \(path.folder), next to the vault",
        recovery: "use a folder of your own")
    }
    // A path that does not exist yet may lead elsewhere once a volume is mounted.
    if try translated(PrivateFile.inspect(path.path)) != nil { resolved.withLock { $0 = path } }
    return path
  }

  /// Whether the place of the vault was set explicitly.
  var isNamed: Bool { configuration.path != nil || locations.namesVault }

  /// Whether the place of the state was set explicitly.
  var isStateNamed: Bool { locations.namesState }

  private func namedPath() throws(KeychainError) -> String {
    if let path = configuration.path { return path }
    return try locations.defaultVaultPath()
  }

  /// Returns the seen record's file, whose folders are checked once, like those of the vault.
  func seenFile() throws(KeychainError) -> SeenRecordFile {
    if let file = seen.withLock({ $0 }) { return file }
    let file = try SeenRecordFile(stateFolder: locations.stateFolder(), vaultPath: path().path)
    if resolved.withLock({ $0 }) != nil { seen.withLock { $0 = file } }
    return file
  }

  /// Returns the seen records for forgetting the keys of every vault that was seen at the path, even
  /// if others can change the folders.
  ///
  /// In that case somebody may be locking the vault in alarm, so the keys must not stay.
  func seenForLocking() -> [SeenRecordFile] {
    let found = try? SeenRecordFile.withoutTrust(
      stateFolder: locations.stateFolder(), vaultPath: namedPath())
    return found ?? []
  }

  /// Opens the vault.
  ///
  /// The seen record is read before any snapshot begins, so a state that is older than the record
  /// is never the result of a change in between.
  ///
  /// - Returns: The vault, or `nil` if there is none and none was seen here before.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault and one
  ///   was seen.
  func open(_ deadline: Deadline) throws(KeychainError) -> Opened? {
    guard getpid() == process else {
      throw KeychainError(
        .refused, "a vault that was opened before a fork cannot be used in the child",
        recovery: "open it again in the child")
    }
    let path = try path()
    let seenFile = try seenFile()
    let seen = seenFile.read()
    guard let stat = try translated(PrivateFile.inspect(path.path)), stat.size > 0 else {
      guard seen == .none else { throw Self.missing(path.path) }
      try Self.refuseHidden(path.path)
      return nil
    }
    let storage = try storage(path.path, stat.identity, deadline)
    guard try isInitialized(storage, deadline) else {
      try Self.checkNotCutOff(path.path)
      guard seen == .none else { throw Self.missing(path.path) }
      return nil
    }
    return Opened(
      storage: storage, path: path.path, identity: stat.identity, seenFile: seenFile, seen: seen)
  }

  /// Fails if the vault may be hidden, and so is not known to be missing.
  private static func refuseHidden(_ path: String) throws(KeychainError) {
    guard let folder = ClosedFolder.above(path) else { return }
    throw KeychainError(
      .noStore,
      "whether there is a vault at \(path) is not known: the folder \(folder) is closed to "
        + "this process, for example by ProtectHome= of a service",
      recovery: "name a vault elsewhere with KEYCHAIN_VAULT, and its state with XDG_STATE_HOME; "
        + "in a unit of systemd, use StateDirectory=, or ProtectHome=no")
  }

  /// Creates an empty file, closed to others, if there is none, and opens it.
  func create(_ deadline: Deadline) throws(KeychainError) -> Opened {
    let path = try path()
    let seenFile = try seenFile()
    try translated(PrivateFile.makeFolder(path.folder))
    do throws(Errno) {
      try PrivateFile.makeEmpty(path.path)
    } catch {
      guard error == .fileExists else { throw .system(error, "make the vault", path.path) }
    }
    try translated(PrivateFile.syncFolder(path.folder))
    guard let stat = try translated(PrivateFile.inspect(path.path)) else {
      throw KeychainError(.inputOutput, "the vault \(path.path) vanished while it was made")
    }
    let storage = try storage(path.path, stat.identity, deadline)
    return Opened(
      storage: storage, path: path.path, identity: stat.identity, seenFile: seenFile,
      seen: seenFile.read())
  }

  /// Returns the connection; a new one if another file lies at the path now.
  private func storage(
    _ path: String, _ identity: FileIdentity, _ deadline: Deadline
  ) throws(KeychainError) -> SQLiteVaultStorage {
    try connection.withLock { connection throws(KeychainError) in
      if let connection, connection.identity == identity { return connection.storage }
      let storage = try SQLiteVaultStorage(
        path: path, ledger: ledger, limitingMemory: configuration.limitsDatabaseMemory, deadline)
      connection = Connection(
        storage: storage, identity: identity, isInitialized: storage.hadTables)
      if configuration.leavesConnectionToExit { Self.untilExit.withLock { $0.append(storage) } }
      return storage
    }
  }

  /// Whether the file has its tables.
  ///
  /// Once there, they stay, so they are looked up only until then.
  private func isInitialized(
    _ storage: SQLiteVaultStorage, _ deadline: Deadline
  ) throws(KeychainError) -> Bool {
    if connection.withLock({ $0?.storage === storage && $0?.isInitialized == true }) { return true }
    let found = try storage.read(deadline) { rows throws(KeychainError) in
      try rows.isInitialized()
    }
    if found {
      connection.withLock { if $0?.storage === storage { $0?.isInitialized = true } }
    }
    return found
  }

  /// SQLite treats a file shorter than its header as an empty database, and would fill it.
  private static func checkNotCutOff(_ path: String) throws(KeychainError) {
    guard let stat = try translated(PrivateFile.inspect(path)),
      (1..<smallestPage).contains(stat.size)
    else { return }
    throw KeychainError(
      .damaged, "the vault \(path) is damaged: only \(stat.size) bytes are left of it",
      recovery: .restoreBackup)
  }

  /// The smallest page of an SQLite database; every database is at least one page.
  private static let smallestPage: Int64 = 512

  private static func missing(_ path: String) -> KeychainError {
    KeychainError(
      .noStore, "the vault \(path) was seen here before, and is gone or empty now",
      recovery:
        "mount its volume or restore a backup; begin with an empty one by "
        + "\(.createVault(startingAnew: true))")
  }
}
