internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// The place of a vault, and what a handle knows about its file.
final class VaultFile: Sendable {
  /// The contents of the file at a status.
  private struct Known {
    let file: any DiskFile
    let status: DiskStatus
    let head: VaultHead
    var contents: VaultContents?

    /// The keys and the seen records with which a read last accepted the contents.
    var approval: (keys: TierKeysIdentity, seen: Seen)?
  }

  /// The result of this handle's commit for one item.
  struct OwnChange {
    let id: ItemID
    /// The version; `nil` if the item was removed.
    let version: UInt64?
    let n: UInt64
  }

  let disk: any VaultDisk

  /// This handle's changes since the last scan of its observers, in order; `nil` if there are no
  /// observers.
  let own = PosixMutex<[OwnChange]?>(nil)

  /// If there are more own changes, observers may be notified of one twice.
  private static let greatestOwnCount = 1 << 18

  /// The known services and servers of the vault.
  let services = PosixMutex<KnownServices?>(nil)

  private let configuration: VaultConfiguration
  private let locations: Locations
  private let resolved = PosixMutex<TrustedPath?>(nil)
  private let seen = PosixMutex<SeenRecords?>(nil)
  private let known = PosixMutex<Known?>(nil)
  private let notedNames = PosixMutex(false)
  private let lists = PosixMutex<(head: VaultHead, list: MemberList)?>(nil)
  private let process = getpid()

  init(_ configuration: VaultConfiguration) {
    self.configuration = configuration
    disk = configuration.disk
    locations = Locations(environment: configuration.environment)
  }

  /// A file that was found, its head, and what this user had seen before it was opened.
  struct Opened: Sendable {
    let path: String
    let file: any DiskFile
    let status: DiskStatus
    let head: VaultHead
    let records: SeenRecords
    var seen: Seen
    /// Whether its writer holds the lock; a writer always compares contents, whatever the file's
    /// time is.
    var isLocked = false

    /// The record of this vault.
    var record: SeenRecord? { seen.record(of: head.id) }
  }

  func path() throws(KeychainError) -> TrustedPath {
    if let path = resolved.withLock({ $0 }) { return path }
    let named = try namedPath()
    let path = try translated(TrustedPath(resolving: named))
    guard !path.othersCanAddFiles else {
      throw KeychainError(
        .insecurePermissions, "other users can make files in \(path.folder), next to the vault",
        recovery: "use a folder of your own")
    }
    // A path that does not exist yet may lead elsewhere later.
    if try translated(PrivateFile.inspect(path.path)) != nil { resolved.withLock { $0 = path } }
    return path
  }

  var isNamed: Bool { configuration.path != nil || locations.namesVault }

  private var isPathGiven: Bool {
    configuration.path != nil || configuration.environment.isSet("KEYCHAIN_VAULT")
  }

  var isStateNamed: Bool { locations.namesState }

  /// The former path of the default vault; `nil` for a vault at another path.
  var formerName: String? { (try? namedPath()).flatMap(locations.formerVaultPath) }

  private func namedPath() throws(KeychainError) -> String {
    if let path = configuration.path { path } else { try locations.defaultVaultPath() }
  }

  /// Returns the seen records; it fails if the default vault still has its former name.
  func records() throws(KeychainError) -> SeenRecords {
    if let records = seen.withLock({ $0 }) { return records }
    let path = try path()
    let former = try formerPath(of: path)
    let records = try SeenRecords(
      stateFolder: locations.stateFolder(), vault: path, former: former)
    if resolved.withLock({ $0 }) != nil { seen.withLock { $0 = records } }
    return records
  }

  /// Returns the former path of the default vault, if nothing is there; `nil` for a vault
  /// elsewhere.
  ///
  /// A vault that is named explicitly can be opened regardless of the former one, so that people
  /// can compare the two files.
  private func formerPath(of path: TrustedPath) throws(KeychainError) -> TrustedPath? {
    guard let formerName else { return nil }
    let former = try translated(TrustedPath(resolving: formerName))
    // One may be a link to the other, for programs that know only one name.
    guard !isPathGiven, !former.path.hasSameBytes(as: path.path),
      try disk.status(at: formerName) != nil
    else { return former }
    throw try disk.status(at: path.path) == nil
      ? .formerName(formerName, of: namedPath()) : .twoNames(formerName, namedPath())
  }

  /// Whether what this user has seen at the vault's path vouches for the administration key of a
  /// head.
  func vouches(for head: VaultHead) throws(KeychainError) -> Bool {
    guard let seen = try? records().read() else { return false }
    return try seen.vouches(for: head)
  }

  /// Returns the records of the vault's present and former paths, without checking who may change
  /// the path.
  func seenForLocking() -> [SeenRecordFile] {
    let found = try? SeenRecords.withoutTrust(
      stateFolder: locations.stateFolder(), vaultPath: namedPath(), formerPath: formerName)
    return found?.files ?? []
  }

  /// Notes that the file has hard links; `false` if that was noted before.
  func noteOtherNames() -> Bool {
    notedNames.withLock { noted in
      defer { noted = true }
      return !noted
    }
  }

  /// Opens the file that has the name now; `nil` if there is no vault, and none was seen here.
  func open() throws(KeychainError) -> Opened? {
    guard getpid() == process else {
      throw KeychainError(
        .refused, "a vault that was opened before a fork cannot be used in the child",
        recovery: "open it again in the child")
    }
    return try find()
  }

  /// Opens the file that has the name now, for a call that has begun in this process.
  func find() throws(KeychainError) -> Opened? {
    let path = try path()
    let records = try records()
    // Read before the file: otherwise, a record that was raised in between would be newer than the
    // file.
    let seen = try records.read()
    guard let stat = try translated(PrivateFile.inspect(path.path)), stat.size > 0,
      let status = try disk.status(at: path.path)
    else {
      if let seenPath = seen.pathWithRecord { throw Self.missing(seenPath) }
      try Self.refuseHidden(path.path)
      return nil
    }
    if let known = known.withLock({ $0 }), known.status == status {
      return Opened(
        path: path.path, file: known.file, status: status, head: known.head, records: records,
        seen: seen)
    }
    return try read(path.path, records, seen)
  }

  /// Reads the head of the file that has the name now, or that a writer has locked.
  func read(
    _ path: String, _ records: SeenRecords, _ seen: Seen,
    from locked: (any DiskFile)? = nil
  ) throws(KeychainError) -> Opened {
    let (file, status): (any DiskFile, DiskStatus)
    do throws(Errno) {
      file = if let locked { locked } else { try disk.open(path, writing: false) }
      status = try file.status()
    } catch { throw .system(error, "open", path) }
    let known = known.withLock { $0 }
    let head =
      if let known, known.status == status { known.head } else {
        try VaultHead(file, size: status.size, path: path)
      }
    let continues = known.map { $0.status.identity == status.identity && $0.head == head } ?? false
    if !continues, locked == nil {
      self.known.withLock { $0 = Known(file: file, status: status, head: head) }
    }
    return Opened(
      path: path, file: file, status: status, head: head, records: records, seen: seen,
      isLocked: locked != nil)
  }

  /// Returns the verified contents of a file.
  ///
  /// Known contents are continued if they are still valid, unless everything is to be read again.
  func contents(
    _ opened: Opened, _ keys: TierKeys, anew: Bool = false
  ) throws(KeychainError) -> VaultContents {
    if !anew, let known = known.withLock({ $0 }), let old = known.contents,
      known.status.identity == opened.status.identity, old.head == opened.head
    {
      // Within one clock tick, another write of the same length leaves the status unchanged, so
      // writers always compare.
      if known.status == opened.status, !opened.isLocked, !old.hasUnfinishedWrite {
        var known = old
        try known.requireProofs(keys)
        return known
      }
      let continued = try old.continued(
        on: opened.file, size: opened.status.size, keys: keys, seen: opened.record)
      if let continued {
        keep(continued, opened.status)
        return continued
      }
    }
    let contents = try VaultContents(
      reading: opened.file, size: opened.status.size, path: opened.path, head: opened.head,
      list: list(opened.head, keys.open), keys: keys, seen: opened.record,
      deadline: configuration.commonDeadline)
    keep(contents, opened.status)
    return contents
  }

  /// Returns the good part of a file, whatever was seen before, and whatever follows it.
  func contentsAsFarAsGood(
    _ opened: Opened, _ keys: TierKeys
  ) throws(KeychainError) -> VaultContents {
    try VaultContents(
      reading: opened.file, size: opened.status.size, path: opened.path, head: opened.head,
      list: list(opened.head, keys.open), keys: keys, seen: nil, isLenient: true,
      deadline: configuration.commonDeadline)
  }

  /// Returns the contents that a read with the same keys and record has approved; `nil` if the file
  /// has changed since.
  func approvedContents(_ opened: Opened, _ keys: TierKeys) -> VaultContents? {
    known.withLock { known in
      guard let known, known.status == opened.status, !opened.isLocked,
        known.contents?.hasUnfinishedWrite == false, let approval = known.approval,
        approval.keys === keys.identity, approval.seen == opened.seen
      else { return nil }
      return known.contents
    }
  }

  /// Approves the contents, so that they are not compared again at each read.
  func approve(_ opened: Opened, _ keys: TierKeys) {
    guard !opened.seen.records.isEmpty else { return }
    known.withLock { known in
      guard known?.status == opened.status else { return }
      known?.approval = (keys.identity, opened.seen)
    }
  }

  /// Returns the list of a head, whose signature is checked once.
  func list(_ head: VaultHead, _ open: SharedSecret) throws(KeychainError) -> MemberList {
    if let known = lists.withLock({ $0 }), known.head == head { return known.list }
    let list: MemberList
    do throws(KeychainError) {
      list = try head.openList(open)
    } catch {
      guard error.code == .damaged, let path = try? path().path else { throw error }
      throw .damagedVault(path, error.message)
    }
    lists.withLock { $0 = (head, list) }
    return list
  }

  /// Keeps what was read, or the result of this process's append.
  func keep(_ contents: VaultContents, _ status: DiskStatus) {
    known.withLock {
      $0 = Known(file: contents.file, status: status, head: contents.head, contents: contents)
    }
  }

  func forget() { known.withLock { $0 = nil } }

  var knownHead: VaultHead? { known.withLock { $0?.head } }

  /// Notes what a commit changes before it is written, so that the note exists when others see the
  /// commit.
  ///
  /// If the commit certainly fails, the note is removed.
  func noting<Result>(
    _ versions: @autoclosure () -> [ItemID: UInt64?], in n: UInt64,
    _ commit: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    own.withLock { own in
      own?.append(contentsOf: versions().map { OwnChange(id: $0, version: $1, n: n) })
      // If scanning is impossible, nothing removes the notes.
      if let count = own?.count, count > Self.greatestOwnCount { own?.removeFirst(count / 2) }
    }
    do throws(KeychainError) {
      return try commit()
    } catch {
      if error.code != .outcomeUnknown { own.withLock { $0?.removeAll { $0.n == n } } }
      throw error
    }
  }

  private static func refuseHidden(_ path: String) throws(KeychainError) {
    guard let folder = ClosedFolder.above(path) else { return }
    throw KeychainError(
      .noStore,
      "whether there is a vault at \(path) is not known: the folder \(folder) is closed to "
        + "this process, for example by ProtectHome= of a service",
      recovery: "name a vault elsewhere with KEYCHAIN_VAULT, and its state with XDG_STATE_HOME; "
        + "in a unit of systemd, use StateDirectory=, or ProtectHome=no")
  }

  private static func missing(_ path: String) -> KeychainError {
    KeychainError(
      .noStore, "the vault \(path) was seen here before, and is gone or empty now",
      recovery:
        "mount its volume or restore a backup; begin with an empty one by "
        + "\(.createVault(startingAnew: true))")
  }
}

extension KeychainError {
  fileprivate static func formerName(_ former: String, of vault: String) -> Self {
    Self(
      .noStore,
      "the vault is at \(former), its usual path before, and is not at \(vault), its usual path "
        + "now",
      recovery: .advice("move it: mv -n -- \(ShellText.quoted(former)) \(ShellText.quoted(vault))"))
  }

  fileprivate static func twoNames(_ former: String, _ vault: String) -> Self {
    Self(
      .noStore,
      "there is a file at \(vault), the usual path of the vault, and one at \(former), its usual "
        + "path before, and only one of them can be the vault",
      recovery:
        "name each of them by its path to see what it holds, and move the one that is not the "
        + "vault to another folder")
  }
}

extension VaultHead {
  /// Reads the head of a file; nothing in it is proven yet.
  init(_ file: any DiskFile, size: Int, path: String) throws(KeychainError) {
    let prefix = try file.read(0..<min(size, Self.prefixCount), of: path)
    let lengths = try Self.lengths(prefix: prefix, fileLength: size, path: path)
    try self.init(file.read(0..<lengths.head, of: path), path: path)
  }
}

/// The services and servers of a vault's credentials.
///
/// One question is answered by a search. Many questions, as for an import, would need a search of
/// the whole vault each.
struct KnownServices: Sendable {
  /// The newest commit of the contents.
  let digest: Data

  /// The items that the keys open.
  let readable: Accessibility.UnlockRequirement

  /// From the second question on, the searches that find something; empty if some names cannot be
  /// read.
  var queries: Set<CredentialQuery>?
}
