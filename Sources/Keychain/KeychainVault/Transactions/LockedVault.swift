internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// A vault under its lock, with its contents; the session's file is the one that has the name.
struct LockedVault {
  let session: VaultSession
  let lock: LockedLog
  let keys: TierKeys
  private(set) var contents: VaultContents

  /// Verifies the contents, and makes them durable, so that the seen record has the newest commit.
  ///
  /// Without `mustBeDurable`, failing to make the last commit durable is not an error. `refuses:
  /// false` is for accepting a restored file.
  init(
    _ session: VaultSession, _ lock: LockedLog, _ keys: TierKeys, anew: Bool = false,
    mustBeDurable: Bool = true, refuses: Bool = true
  ) throws(KeychainError) {
    let opened = session.opened
    (self.session, self.lock, self.keys) = (session, lock, keys)
    guard refuses else {
      contents = try session.file.contentsAsFarAsGood(opened, keys)
      return
    }
    contents = try session.file.contents(opened, keys, anew: anew)
    let relation = try contents.relation(to: opened.seen, keys)
    if let failure = relation.failure { throw failure }
    for notice in relation.notices { session.report(notice) }
    if relation.isAhead {
      do throws(KeychainError) {
        try makeDurable()
      } catch let error where !mustBeDurable && error.code == .inputOutput {
        return
      }
    }
    let now = contents.record(keys)
    let isEnded = try opened.records.change(opened.seen) { record in
      guard record.nextAdministration != nil else { return }
      // Missing keys prove nothing new, so their earlier proofs stay.
      record.nextAdministration = nil
      _ = record.raise(by: now)
    }
    if !isEnded { session.remember(contents, keys) }
  }

  /// Makes the last commit durable, in case its writer has not.
  private func makeDurable() throws(KeychainError) {
    let frame = contents.lastFrame
    let bytes =
      contents.isBaseAlone ? Data() : try contents.read(frame.place..<frame.boxes.upperBound)
    do throws(Errno) {
      try lock.write(bytes, at: frame.place, syncsFolder: contents.digests.count <= 2)
    } catch { throw .vault(session.path, error, doing: "write") }
  }

  /// An optional base doesn't wait, because its writer holds the vault's lock.
  private static var shortly: Deadline { Deadline(after: .milliseconds(100)) }

  /// Commits a writer's changes, by an append or, if they are too large, by a new base.
  mutating func commit(_ writer: borrowing VaultWriter) throws(KeychainError) {
    guard writer.hasChanges || writer.makesBase else { return }
    guard contents.newest.n < contents.list.numbers.upperBound else {
      throw KeychainError(
        .refused,
        "the vault \(session.path) has the maximum number of changes for one list of what opens it",
        recovery: "make the next list with \(.rekey)")
    }
    // The contents under a hard link must not change.
    let needsFile = writer.makesBase || !writer.fitsInCommit || lock.hasOtherNames
    // In a smaller vault, deleted items are removed at once, with everything else that was
    // replaced.
    let removesForGood = writer.removesSecrets && contents.end < 1 << 20
    var rewriteFailure: KeychainError?
    if keys.hasAll, needsFile || removesForGood {
      let base = try NewBase(writer.contents, keys)
      do throws(KeychainError) {
        return try session.file.noting(writer.versions, in: contents.newest.n + 1) {
          () throws(KeychainError) in
          try replaceBase(base, until: needsFile ? nil : Self.shortly)
        }
      } catch let error where !needsFile && error.code != .outcomeUnknown {
        // If the folder accepts no new file, or the disk is full, an append may succeed.
        rewriteFailure = error
      }
    }
    guard writer.fitsInCommit, !lock.hasOtherNames else {
      throw KeychainError(
        .locked,
        "the vault \(session.path) is locked, and so large a change, or one of a file with "
          + "another name, needs all of its keys",
        recovery: .unlockOrGivePassphrase)
    }
    let (commit, header, frame) = try writer.sealed()
    let isDue = contents.growth.isDue(after: header, preceding: contents.head.lengths.log)
    let status = try session.file.noting(writer.versions, in: commit.n) {
      () throws(KeychainError) in
      do throws(WriteFailure) {
        return try lock.append(
          frame, at: contents.end, cutting: contents.hasUnfinishedWrite,
          syncsFolder: contents.isBaseAlone)
      } catch { throw .writing(session.path, error) }
    }
    contents.add(
      commit,
      VaultContents.LastFrame(
        place: contents.end, header: header,
        beginning: Data(frame.prefix(VaultContents.LastFrame.beginningCount))))
    contents.hasUnfinishedWrite = false
    // The proofs were made with these keys, after all earlier ones were checked.
    contents.provedKeys = keys.identity
    session.file.keep(contents, status)
    session.remember(contents, keys)
    UnfinishedVault.removeLeftover(for: session.path, on: session.file.disk, like: lock.file)
    if writer.removesSecrets {
      session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the secrets that were deleted stay in the file, sealed, "
            + (rewriteFailure.map { "because it could not be compacted: \($0.message)" }
              ?? "until it is compacted"),
          recovery: "\(.compact) removes them"))
    }
    if isDue, keys.hasAll { compactIfPossible() }
  }

  /// Compacts the log after a change that reached its limit; a failure is only a notice, because
  /// the change is already reported as done.
  private mutating func compactIfPossible() {
    let free = try? session.file.disk.freeBytes(at: session.path)
    guard let free, free / 2 > contents.end else { return }
    do throws(KeychainError) {
      try replaceBase(NewBase(contents, keys), until: Self.shortly)
    } catch {
      guard error.code != .busy, error.code != .timedOut else { return }
      session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the vault \(session.path) could not be compacted: \(error.message)"))
    }
  }

  /// Writes a new base, and gives it the vault's name, after `beforeRename` has written its
  /// records.
  ///
  /// The renaming is the commit: a failure before it has changed nothing, and nothing fails after
  /// it.
  mutating func replaceBase(
    _ new: NewBase, until deadline: Deadline? = nil,
    beforeRename: ((VaultContents) throws(KeychainError) -> Void)? = nil
  ) throws(KeychainError) {
    let unfinished = try UnfinishedVault(
      for: session.path, on: session.file.disk, like: lock.file, until: deadline ?? session.deadline
    )
    let made = try new.write(to: unfinished.file, path: session.path)
    if let beforeRename {
      // Records must not name a file that may not become durable.
      do throws(Errno) { try unfinished.file.sync() } catch {
        throw .vault(session.path, error, doing: "write")
      }
      try beforeRename(made)
    }
    let renamed: LockedLog
    do throws(WriteFailure) {
      renamed = try unfinished.takeName(replacing: lock)
    } catch { throw .writing(session.path, error) }
    defer { renamed.unlock() }
    if renamed.oldFileStays {
      session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the old file of the vault could not be removed, and opens as before: "
            + UnfinishedVault.name(for: session.path), recovery: "remove it"))
    }
    contents = made
    session.file.keep(made, renamed.status)
    if new.keys.binding == keys.binding { session.remember(made, keys) }
  }
}

extension TierKeys {
  var hasAll: Bool { first != nil && unlocked != nil }
}
