internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

extension ImportCommand {
  /// Takes the passwords of a netrc file, and removes them from it if that is agreed.
  func importNetrc(in session: Session) throws(KeychainError) {
    if isFromInput {
      guard isatty(STDIN_FILENO) == 0 else { throw .netrcFromTerminal }
      guard !StandardDescriptors.wasClosed(STDIN_FILENO) else {
        throw .inputClosed(NetrcImportText.onInput)
      }
      let text = try SecretBytes.readingNetrc(
        STDIN_FILENO, named: "standard input", by: session.asking.deadline)
      let report = try store(text, in: session)
      return try write(report, removedCount: 0)
    }
    guard let path = file ?? NetrcPlaces.usual else { throw .noNetrc }
    let source = try NetrcSource(path)
    if source.isOpenToOthers {
      session.interface.say(NetrcImportText.isOpenToOthers(source.path))
      session.interface.hint(NetrcImportText.close(source.path))
    }
    let text: SecretBytes
    do { text = try source.text.copy() } catch { throw KeychainError(error) }
    let report = try store(text, in: session)
    let removedCount: Int
    do throws(KeychainError) {
      removedCount = try removeStored(report, from: source, in: session)
    } catch {
      // What was stored is stored.
      try write(report, removedCount: 0)
      throw error
    }
    try write(report, removedCount: removedCount)
  }

  /// Stores what a netrc file has, unless it is a dry run, and reports it.
  private func store(
    _ text: consuming SecretBytes, in session: Session
  ) throws(KeychainError) -> NetrcImport {
    let report = try NetrcImport(text, into: session.stores, overwriting: overwrite)
    if !dryRun { try perform(report, in: session) }
    let interface = session.interface
    if dryRun || !overwrite {
      for item in report.items(.differing) {
        interface.say(
          ExportText.differs(item.identity, isOverwriting: overwrite, isDryRun: dryRun))
      }
    }
    for obstacle in NetrcImportPlan.Obstacle.allCases {
      let entries = report.plan.left.filter { $0.obstacle == obstacle }.map(\.entry)
      if !entries.isEmpty { interface.say(NetrcImportText.left(obstacle, entries)) }
    }
    for host in report.plan.repeatedHosts { interface.say(NetrcImportText.repeated(host)) }
    interface.say(NetrcImportText.summary(report, isDryRun: dryRun))
    if !overwrite, !report.items(.differing).isEmpty {
      interface.hint(ExportText.overwriteToReplace)
    }
    return report
  }

  /// Stores everything, or nothing: in the vault in one step, in the desktop keyring one by one.
  private func perform(
    _ report: borrowing NetrcImport, in session: Session
  ) throws(KeychainError) {
    for item in report.changed
    where try session.stores.decision(for: item.identity).place != .vault {
      return try report.perform()
    }
    guard !report.changed.isEmpty else { return }
    do {
      try session.vault.withTransaction { transaction in
        try report.forEachChange { identity, update, password throws(KeychainError) in
          try transaction.merge(update, secret: password, into: identity)
        }
      }
    } catch {
      throw error as? KeychainError
        ?? KeychainError(.internalFailure, "the import failed: \(error)")
    }
  }

  /// Removes the entries that are stored, which are read back first.
  ///
  /// - Returns: How many entries were removed, or would be.
  private func removeStored(
    _ report: borrowing NetrcImport, from source: borrowing NetrcSource, in session: Session
  ) throws(KeychainError) -> Int {
    let interface = session.interface
    guard !dryRun else {
      if remove { try source.requireReplaceable() }
      let items =
        report.items(.absent) + report.items(.same)
        + (overwrite ? report.items(.differing) : [])
      let count = items.reduce(0) { $0 + $1.entries.count }
      if remove, count > 0 { interface.say(NetrcImportText.wouldRemove(count, source.path)) }
      return remove ? count : 0
    }
    let entries = try report.storedEntries()
    guard !entries.isEmpty else { return 0 }
    guard try agreesToRemoving(entries.count, from: source.path, session) else {
      interface.say(NetrcImportText.stays(entries.count, source.path))
      if !keep, !stores.sessionOnly, session.prompt == nil {
        interface.hint(NetrcImportText.removeThem)
      }
      return 0
    }
    let isGone = try source.replace(by: try report.file.text(without: entries))
    interface.say(NetrcImportText.removed(entries.count, source.path, isFileRemoved: isGone))
    return entries.count
  }

  private func agreesToRemoving(
    _ count: Int, from path: String, _ session: Session
  ) throws(KeychainError) -> Bool {
    // The passwords would be gone after the logout.
    if remove || keep || stores.sessionOnly { return remove }
    do throws(KeychainError) {
      return try session.prompt?.confirm(NetrcImportText.question(count, path)) ?? false
    } catch {
      throw error.code == .cancelled ? .netrcStaysCancelled(path) : error
    }
  }

  private func write(
    _ report: borrowing NetrcImport, removedCount: Int
  ) throws(KeychainError) {
    guard json else { return }
    try CommandOutput.write(
      try CommandOutput.json(
        NetrcImportJSON(report, isDryRun: dryRun, removedCount: removedCount)))
  }
}

extension KeychainError {
  static let noNetrc = KeychainError(
    .notFound, "there is no .netrc in the home folder", recovery: "name the file")

  static let netrcFromTerminal = KeychainError(
    .refused, "a netrc file is not read from a terminal",
    recovery: "name a file, or redirect one to standard input")
}
