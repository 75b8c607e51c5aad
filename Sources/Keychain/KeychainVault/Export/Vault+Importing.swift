internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

extension Vault {
  /// Imports the credentials of an export, creating the vault if there is none.
  ///
  /// It imports all of them in one step, or none: nothing is changed before the whole export has
  /// been read. Existing credentials stay unless `overwriting` is `true`. Dates are those of the
  /// export. Everybody who knows its passphrase is trusted. While the import writes, other
  /// programs can read the vault, but must wait to write.
  ///
  /// - Parameters:
  ///   - overwriting: Whether to replace existing credentials that differ.
  ///   - isDryRun: Whether to change nothing and only return the report.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/foreign`` if the file is not an export,
  ///   ``KeychainError/Code/incorrectSecret`` if the passphrase is wrong,
  ///   ``KeychainError/Code/damaged`` if the export was changed or cut off, or if an existing item
  ///   is damaged, ``KeychainError/Code/tooLarge`` if items have longer texts than a store allows,
  ///   ``KeychainError/Code/locked`` if the vault is locked, or ``KeychainError/Code/otherDevice``
  ///   if a credential to overwrite is bound to another device.
  @discardableResult
  public func importItems(
    from path: String, passphrase: borrowing SecretBytes, overwriting: Bool = false,
    isDryRun: Bool = false, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> ImportReport {
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.open(
        FilePath(path), .readOnly, options: .init(rawValue: O_CLOEXEC | O_NOCTTY))
    } catch { throw .system(error as? Errno ?? .ioError, "open", path) }
    defer { try? descriptor.close() }
    return try importItems(
      from: descriptor.rawValue, name: path, passphrase, overwriting: overwriting,
      isDryRun: isDryRun, progress)
  }

  /// Imports the credentials of an export from an open descriptor, such as a pipe, as
  /// ``importItems(from:passphrase:overwriting:isDryRun:progress:)`` does from a file.
  ///
  /// The descriptor is read from its current position, and stays open.
  ///
  /// - Throws: As ``importItems(from:passphrase:overwriting:isDryRun:progress:)``.
  @discardableResult
  public func importItems(
    fromFileDescriptor descriptor: Int32, passphrase: borrowing SecretBytes,
    overwriting: Bool = false, isDryRun: Bool = false,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> ImportReport {
    try importItems(
      from: descriptor, name: descriptor == STDIN_FILENO ? "standard input" : "the export",
      passphrase, overwriting: overwriting, isDryRun: isDryRun, progress)
  }

  /// Fails if a file that is not a pipe is not an export, so that nobody is asked for its
  /// passphrase.
  package static func requireExport(_ descriptor: Int32, name: String) throws(KeychainError) {
    var bytes = [UInt8](repeating: 0, count: ExportHead.count)
    let count = unsafe pread(descriptor, &bytes, bytes.count, lseek(descriptor, 0, SEEK_CUR))
    guard count >= 0 else { return }
    guard count > 0 else { throw .emptyExport(name) }
    _ = try ExportHead(Array(bytes.prefix(count)))
  }

  /// Imports from a descriptor, which errors call `name`.
  @discardableResult
  package func importItems(
    from descriptor: Int32, name: String, _ passphrase: borrowing SecretBytes,
    overwriting: Bool, isDryRun: Bool, _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> ImportReport {
    let input = try ReplayableInput(
      descriptor, name: name, by: configuration.commonDeadline
    ) { () throws(KeychainError) in try newSpool() }
    let export = try openExport(input, passphrase)
    let survey = try export.survey()
    let course = ImportCourse(survey, overwriting: overwriting, progress: progress)
    return isDryRun ? try rehearse(export, survey, course) : try take(export, survey, course)
  }

  /// Reads the head of an export, and hashes the passphrase.
  func openExport(
    _ input: ReplayableInput, _ passphrase: borrowing SecretBytes
  ) throws(KeychainError) -> ExportFile {
    let beginning = try translated(input.read(ExportHead.count))
    guard !beginning.isEmpty else { throw .emptyExport(input.name) }
    let head = try ExportHead(beginning)
    let commitment = try ExportKey.commitment(translated(input.read(4 + ExportKey.commitmentCount)))
    let lock = try unlocker.passwordHashLock(.passphrase, configuration.deadlineOfCall())
    defer { extendLifetime(lock) }
    try PasswordHashPolicy.requireMemory(for: head.parameters)
    let key = try ExportKey(head, passphrase: passphrase)
    try key.check(commitment, oddity: passphrase.oddity)
    return ExportFile(input: input, key: key)
  }

  /// Returns what an import would change.
  private func rehearse(
    _ export: borrowing ExportFile, _ survey: ExportFile.Survey, _ course: ImportCourse
  ) throws(KeychainError) -> ImportReport {
    guard let session = try session() else {
      var course = course
      try export.forEachItem { item throws(KeychainError) in course.note(item, .nothing) }
      return course.report
    }
    return try session.read(survey.requirement) {
      contents, sealing throws(KeychainError) -> VaultSession.Attempt<ImportReport> in
      var course = course
      var missing = Accessibility.UnlockRequirement.nothing
      try export.forEachItem { item throws(KeychainError) in
        let comparison = try sealing.comparison(of: item, in: contents)
        if case .locked(let requirement) = comparison { missing = max(missing, requirement) }
        course.note(item, comparison)
      }
      if missing > .nothing { return .needs(.keys(missing)) }
      return .done(course.report)
    }
  }

  private func take(
    _ export: borrowing ExportFile, _ survey: ExportFile.Survey, _ course: ImportCourse
  ) throws(KeychainError) -> ImportReport {
    let session = try sessionForFirstWrite()
    let course = try session.write(survey.requirement) {
      writer throws(KeychainError) -> VaultSession.Attempt<ImportCourse> in
      var course = course
      var missing = Accessibility.UnlockRequirement.nothing
      try export.forEachItem { item throws(KeychainError) in
        let comparison = try writer.sealing.comparison(of: item, in: writer.contents)
        switch comparison {
        case .nothing: try writer.put(item, replacing: nil)
        case .other(let old) where course.report.isOverwriting: try writer.put(item, replacing: old)
        case .locked(let requirement): missing = max(missing, requirement)
        case .itself, .other: break
        }
        course.note(item, comparison)
      }
      return missing > .nothing ? .needs(.keys(missing)) : .done(course)
    }
    if survey.requirement == .unlockedNow { prolong(session) }
    notifyObservers(course)
    return course.report
  }

  private func notifyObservers(_ course: ImportCourse) {
    for identity in course.added { observers.notify(CredentialChange(identity, .added)) }
    guard course.report.isOverwriting else { return }
    for identity in course.report.differing {
      observers.notify(CredentialChange(identity, .updated))
    }
  }
}

extension KeychainError {
  /// The error for empty input, for example because the program before a pipe failed.
  fileprivate static func emptyExport(_ name: String) -> Self {
    Self(
      .foreign, "\(name) is empty, so it is not an export",
      recovery: "check whether the program that makes it failed; \(.export) makes one")
  }
}

/// The result of an import, or of a dry run.
public struct ImportReport: Hashable, Sendable {
  /// The number of new items.
  public var addedCount = 0

  /// The number of items that the vault already has, equal in every detail.
  public var unchangedCount = 0

  /// The items that the vault has with other contents; they were overwritten only if that was
  /// requested.
  public var differing: [CredentialIdentity] = []

  /// Whether the differing items were overwritten.
  public var isOverwriting: Bool

  /// The number of items that the export left out because they are bound to a device.
  public var leftOutCount = 0
}

/// The vault's item for an item of an export.
enum ItemComparison {
  /// The vault has no item with this identity.
  case nothing

  /// The vault has the same item.
  case itself

  /// The vault has a different item with this identity.
  case other(VaultItem)

  /// The vault has an item with this identity that must be unlocked first.
  case locked(Accessibility.UnlockRequirement)
}

extension ItemSealing {
  /// Compares an exported item with the item of the same identity in the vault.
  func comparison(
    of item: borrowing OpenedItem, in contents: VaultContents
  ) throws(KeychainError) -> ItemComparison {
    let identity = item.credential.identity
    let old = try contents.item(id(of: identity), keys, name: "\(identity)")
    guard let old else { return .nothing }
    // It is bound to a device, so no export can contain the same item.
    guard !isOfOtherDevice(old.entry) else { return .other(old) }
    guard keys.satisfies(old.requirement) else { return .locked(old.requirement) }
    let (metadata, index) = try old.metadata(keys, name: "\(identity)")
    let secret = try secret(of: old, in: contents, name: "\(identity)")
    let isSame =
      old.accessibility == item.credential.accessibility
      && metadata.copy(at: index) == item.metadata && secret.isEqual(to: item.secret)
    return isSame ? .itself : .other(old)
  }
}

extension VaultWriter {
  /// Seals an exported item with its dates, in place of the vault's item.
  mutating func put(_ item: borrowing OpenedItem, replacing old: VaultItem?) throws(KeychainError) {
    var credential = item.credential
    if let old, sealing.isOfOtherDevice(old.entry) { throw .otherDevice("\(credential.identity)") }
    credential.version = ItemEntry.newVersion()
    try put(credential, secret: item.secret)
  }
}

/// The progress of an import, with the counts of the items so far.
struct ImportCourse {
  private(set) var report: ImportReport
  private(set) var added: [CredentialIdentity] = []
  private let total: Int
  private let progress: ((VaultProgress) -> Void)?
  private var completed = 0

  init(_ survey: ExportFile.Survey, overwriting: Bool, progress: ((VaultProgress) -> Void)?) {
    report = ImportReport(isOverwriting: overwriting, leftOutCount: survey.leftOutCount)
    total = survey.itemCount
    self.progress = progress
  }

  mutating func note(_ item: borrowing OpenedItem, _ comparison: ItemComparison) {
    switch comparison {
    case .nothing:
      report.addedCount += 1
      added.append(item.credential.identity)
    case .itself: report.unchangedCount += 1
    case .other, .locked: report.differing.append(item.credential.identity)
    }
    completed += 1
    if completed.isMultiple(of: 100) || completed == total {
      progress?(VaultProgress(completed: completed, total: total))
    }
  }
}
