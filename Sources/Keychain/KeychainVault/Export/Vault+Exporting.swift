internal import FoundationEssentials
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

extension Vault {
  /// Writes the credentials into a new file that a passphrase opens, for import into another vault.
  ///
  /// The export verifies the vault and shows its state at one moment. Items that are bound to a
  /// device are left out. Meanwhile other programs can read and change the vault.
  ///
  /// - Parameters:
  ///   - path: The path of the export, where no file may exist. The file gets mode 0600, and
  ///     appears when it is complete.
  ///   - passphrase: The passphrase of the export, not empty. It is independent of the vault's.
  ///   - queries: Items that match one of these are exported; `nil` for everything.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if the file exists,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if its items cannot be read,
  ///   ``KeychainError/Code/noStore`` if there is no vault, ``KeychainError/Code/refused`` for an
  ///   empty passphrase, or ``KeychainError/Code/inputOutput``. A partial file is removed.
  @discardableResult
  public func export(
    to path: String, passphrase: borrowing SecretBytes, matching queries: [CredentialQuery]? = nil,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> ExportReport {
    try translated(NewFile.requireAbsent(path))
    let key = try newExportKey(passphrase, queries)
    // The export is encrypted, and a memory stick may have no modes.
    let file = try translated(NewFile(path, openTo: PrivateFile.everybody))
    let report = try export(to: file.descriptor, key, queries, progress)
    do throws(FileError) { try file.publish() } catch { throw KeychainError(error) }
    return report
  }

  /// Writes the credentials to an open descriptor, such as a pipe, as
  /// ``export(to:passphrase:matching:progress:)`` writes them to a file.
  ///
  /// The export is complete before any of it is written to the descriptor, so a slow reader blocks
  /// nobody. The descriptor stays open.
  ///
  /// - Throws: As ``export(to:passphrase:matching:progress:)``. If writing fails, a part of the
  ///   export may have been written; no import accepts a part.
  @discardableResult
  public func export(
    toFileDescriptor descriptor: Int32, passphrase: borrowing SecretBytes,
    matching queries: [CredentialQuery]? = nil,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> ExportReport {
    let key = try newExportKey(passphrase, queries)
    let spool = try newSpool()
    let report = try export(to: spool.descriptor, key, queries, progress)
    try translated(spool.copy(to: FileDescriptor(rawValue: descriptor)))
    return report
  }

  /// Creates a temporary file for data that does not fit into memory.
  func newSpool() throws(KeychainError) -> SpoolFile {
    let folder = try Locations(environment: configuration.environment).stateFolder()
    return try translated(SpoolFile(in: TrustedPath(resolving: folder).path))
  }

  /// Hashes the passphrase, after checking that there is a readable vault.
  private func newExportKey(
    _ passphrase: borrowing SecretBytes, _ queries: [CredentialQuery]?
  ) throws(KeychainError) -> ExportKey {
    guard passphrase.count > 0 else { throw .emptyExportPassphrase }
    try existingSession().requireReadable(itemCounts(matching: queries).requirementOfExport)
    let head = try ExportHead(parameters: passwordHashForNewPassphrase())
    let lock = try unlocker.passwordHashLock(.passphrase, configuration.deadlineOfCall())
    defer { extendLifetime(lock) }
    try PasswordHashPolicy.requireMemory(for: head.parameters)
    return try ExportKey(head, passphrase: passphrase)
  }

  private func export(
    to output: FileDescriptor, _ key: borrowing ExportKey, _ queries: [CredentialQuery]?,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> ExportReport {
    let session = try existingSession()
    let (report, requirement) = try session.read(.nothing) {
      contents, sealing throws(KeychainError)
        -> VaultSession.Attempt<(ExportReport, Accessibility.UnlockRequirement)> in
      let counts = try contents.itemCounts(matching: queries, sealing)
      let exported = counts.filter { !$0.key.isThisDeviceOnly }
      let requirements = exported.keys.map(\.unlockRequirement)
      if let missing = requirements.filter({ !sealing.keys.satisfies($0) }).max() {
        return .needs(.keys(missing))
      }
      let count = exported.values.reduce(0, +)
      let report = ExportReport(itemCount: count, leftOutCount: counts.values.reduce(0, +) - count)
      let verification = VaultVerification(contents: contents, sealing: sealing, progress: progress)
      try Self.write(report, queries, verification, ExportWriter(key, to: output))
      return .done((report, counts.requirementOfExport))
    }
    if requirement == .unlockedNow { prolong(session) }
    return report
  }

  /// Writes everything and verifies the vault; both use the same opening of each item.
  private static func write(
    _ report: ExportReport, _ queries: [CredentialQuery]?, _ verification: VaultVerification,
    _ writer: ExportWriter
  ) throws(KeychainError) {
    try writer.begin(itemCount: report.itemCount, leftOutCount: report.leftOutCount)
    var written = 0
    let verified = try verification.run { item throws(KeychainError) in
      let credential = item.credential
      guard !credential.accessibility.isThisDeviceOnly,
        queries?.contains(where: { $0.matches(credential) }) ?? true
      else { return }
      try writer.append(item)
      written += 1
    }
    try verified.requireIntact()
    guard written == report.itemCount else {
      throw KeychainError(
        .damaged, "the vault has \(report.itemCount) items to export, and \(written) were found",
        recovery: .verify)
    }
    try writer.finish()
  }

  /// Returns, by accessibility, the number of items that match, or may match, one of several
  /// searches.
  ///
  /// If no key of this device is available, this may ask for a secret that unlocks the vault.
  package func itemCounts(
    matching queries: [CredentialQuery]?
  ) throws(KeychainError) -> [Accessibility: Int] {
    try existingSession().read(.nothing) { contents, sealing throws(KeychainError) in
      .done(try contents.itemCounts(matching: queries, sealing))
    }
  }
}

extension VaultContents {
  /// Returns, by accessibility, the number of items that match one of several searches, or may
  /// match because they are locked, damaged, or bound to another device.
  ///
  /// Those on damaged pages don't count.
  fileprivate func itemCounts(
    matching queries: [CredentialQuery]?, _ sealing: ItemSealing
  ) throws(KeychainError) -> [Accessibility: Int] {
    guard let queries else { return try itemCounts(sealing.keys).known }
    let matchers = try queries.map { query throws(KeychainError) in
      try ItemMatcher(query, sealing)
    }
    var counts: [Accessibility: Int] = [:]
    try forEachPage(sealing.keys) { walked throws(KeychainError) in
      for item in walked.items {
        for matcher in matchers {
          if case .nothing = try matcher.match(item) { continue }
          counts[item.accessibility, default: 0] += 1
          break
        }
      }
    }
    return counts
  }
}

extension [Accessibility: Int] {
  /// The unlock state needed to export the items that may leave the machine.
  package var requirementOfExport: Accessibility.UnlockRequirement {
    keys.filter { !$0.isThisDeviceOnly }.map(\.unlockRequirement).max() ?? .nothing
  }
}

/// The contents of an export.
public struct ExportReport: Hashable, Sendable {
  /// The number of items.
  public var itemCount: Int

  /// The number of items that were left out because they are bound to a device.
  public var leftOutCount: Int
}

/// Writes the content of an export by chunks, so that it needs memory for only one.
final class ExportWriter {
  /// The number of content bytes in each chunk except the last.
  static let chunkCount = 65536

  private let output: FileDescriptor
  private var sealer: SecretStream.Sealer
  private var pending: SecretBuffer
  private var additionalData: [UInt8]

  /// Writes everything before the first chunk.
  init(_ key: borrowing ExportKey, to output: FileDescriptor) throws(KeychainError) {
    self.output = output
    sealer = try SecretStream.Sealer(key: key.key)
    pending = try SecretBuffer()
    additionalData = key.beginning + sealer.header
    try write(additionalData)
  }

  func append(_ write: (inout FieldWriter) -> Void) throws(KeychainError) {
    let fields = FieldWriter.fields(write)
    try unsafe append(fields.span.bytes)
  }

  func begin(itemCount: Int, leftOutCount: Int) throws(KeychainError) {
    let time = Date().microseconds ?? 0
    try append {
      $0.integer(time)
      $0.integer(UInt64(itemCount))
      $0.integer(UInt64(leftOutCount))
    }
  }

  func append(_ item: borrowing OpenedItem) throws(KeychainError) {
    let accessibility = item.credential.accessibility.rawValue
    let (metadata, count) = (item.metadata, UInt32(truncatingIfNeeded: item.secret.count))
    try append {
      $0.integer(accessibility)
      $0.byteString(metadata)
      $0.integer(count)
    }
    try item.secret.withBytes { bytes throws(KeychainError) in try append(bytes) }
  }

  /// Ends the content, without which it is incomplete.
  func finish() throws(KeychainError) { try seal(.final) }

  private func append(_ bytes: RawSpan) throws(KeychainError) {
    var offset = 0
    while offset < bytes.byteCount {
      // Sealed only if more follows, because the last chunk may be full.
      if pending.count == Self.chunkCount { try seal(.message) }
      let end = min(bytes.byteCount, offset + Self.chunkCount - pending.count)
      try pending.append(bytes.extracting(offset..<end))
      offset = end
    }
  }

  private func seal(_ tag: SecretStream.Tag) throws(KeychainError) {
    try write(sealer.seal(pending, tag: tag, additionalData: additionalData))
    additionalData = []
    pending.removeLast(pending.count)
  }

  private func write(_ bytes: [UInt8]) throws(KeychainError) {
    try translated(onFile("the export", "write", DescriptorIO.write(bytes, to: output)))
  }
}
