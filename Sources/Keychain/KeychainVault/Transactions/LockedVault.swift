internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// A vault under its lock, with what it holds; the session's file is the one that has the name.
struct LockedVault {
  let session: VaultSession
  let lock: LockedLog
  let keys: TierKeys
  private(set) var contents: VaultContents

  /// Verifies the contents, and settles: what this user's record has is durable, and nothing in the file is above it.
  ///
  /// Without `mustSettle`, a failure to make the last commit durable is no error. Whoever accepts a restored file refuses nothing.
  init(
    _ session: VaultSession, _ lock: LockedLog, _ keys: TierKeys, anew: Bool = false,
    mustSettle: Bool = true, refuses: Bool = true
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
        try settle()
      } catch let error where !mustSettle && error.code == .inputOutput {
        return
      }
    }
    let now = contents.record(keys)
    let isEnded = try opened.records.change(opened.seen) { record in
      guard record.nextAdministration != nil else { return }
      // Keys that are not at hand prove nothing new, so what they proved stays.
      record.nextAdministration = nil
      _ = record.raise(by: now)
    }
    if !isEnded { session.remember(contents, keys) }
  }

  /// Makes the last commit durable, which its writer may not have done.
  private func settle() throws(KeychainError) {
    let frame = contents.lastFrame
    let bytes =
      contents.isBaseAlone ? Data() : try contents.read(frame.place..<frame.boxes.upperBound)
    do throws(Errno) {
      try lock.write(bytes, at: frame.place, syncsFolder: contents.digests.count <= 2)
    } catch { throw .vault(session.path, error, doing: "write") }
  }

  /// A base that need not be made doesn't wait: its maker holds the vault's lock.
  private static var shortly: Deadline { Deadline(after: .milliseconds(100)) }

  /// Commits what a writer changed, by an append or, if that is too large, by a new base.
  mutating func commit(_ writer: borrowing VaultWriter) throws(KeychainError) {
    guard writer.hasChanges || writer.makesBase else { return }
    guard contents.newest.n < contents.list.numbers.upperBound else {
      throw KeychainError(
        .refused,
        "the vault \(session.path) counts as many changes as one list of what opens it can have",
        recovery: "make the next list with \(.rekey)")
    }
    // What has another name must not change under that one.
    let needsFile = writer.makesBase || !writer.fitsInCommit || lock.hasOtherNames
    // From smaller vaults, deleted items go at once, with the rest of what was replaced.
    let removesForGood = writer.removesSecrets && contents.end < 1 << 20
    if keys.hasAll, needsFile || removesForGood {
      let base = try NewBase(writer.contents, keys)
      do throws(KeychainError) {
        return try session.file.noting(writer.versions, in: contents.newest.n + 1) {
          () throws(KeychainError) in
          try replaceBase(base, until: needsFile ? nil : Self.shortly)
        }
      } catch let error where !needsFile && error.code != .outcomeUnknown {
        // An append may do where the folder takes no new file, and where it doesn't fit on the disk.
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
    // They were made with these keys, after all before were right.
    contents.provedKeys = keys.identity
    session.file.keep(contents, status)
    session.remember(contents, keys)
    UnfinishedVault.removeLeftover(for: session.path, on: session.file.disk, like: lock.file)
    if writer.removesSecrets {
      session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the secrets that were deleted stay in the file, sealed, until it is compacted",
          recovery: "\(.compact) removes them"))
    }
    if isDue, keys.hasAll { compactIfPossible() }
  }

  /// The change that brought the log to its limit is acknowledged, so a failure is a notice at most.
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

  /// Writes a new base, and gives it the vault's name, after `beforeRename` has recorded what must be before it counts.
  ///
  /// The name is the commit: what fails before it has changed nothing, and nothing fails after it.
  mutating func replaceBase(
    _ new: NewBase, until deadline: Deadline? = nil,
    beforeRename: ((VaultContents) throws(KeychainError) -> Void)? = nil
  ) throws(KeychainError) {
    let unfinished = try UnfinishedVault(
      for: session.path, on: session.file.disk, like: lock.file, until: deadline ?? session.deadline
    )
    let made = try new.write(to: unfinished.file, path: session.path)
    if let beforeRename {
      // Nothing is recorded of a file that may not become durable.
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
