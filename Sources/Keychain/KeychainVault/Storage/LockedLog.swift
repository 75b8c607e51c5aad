internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

/// The file of a vault whose lock this process holds, until ``unlock()`` or until nothing refers to ``file`` any more.
struct LockedLog: Sendable {
  let path: String
  let disk: any VaultDisk
  let file: any DiskFile

  /// The file's status when it was locked.
  let status: DiskStatus

  /// Whether the file that this one has replaced could not be removed, and has the name of the unfinished one.
  var oldFileStays = false

  /// Opens the file that has the name, if any, and locks it against everybody else, other threads included.
  ///
  /// Without `writing`, it is one to look at, which need not be writable.
  static func take(
    _ path: String, on disk: any VaultDisk, writing: Bool = true, until deadline: Deadline
  ) throws(KeychainError) -> LockedLog? {
    repeat {
      let file: any DiskFile
      do throws(Errno) { file = try disk.open(path, writing: writing) } catch {
        guard error != .noSuchFileOrDirectory else { return nil }
        throw .vault(path, error, doing: "open")
      }
      var status: DiskStatus
      do throws(Errno) {
        guard try file.lock(until: deadline) else { break }
        status = try file.status()
        // Who held the lock may have given the name to a new file.
        guard try disk.status(of: path)?.identity == status.identity else { continue }
      } catch { throw .vault(path, error, doing: "lock") }
      guard !writing || status.links > 0 else { throw .replacedOutside(path) }
      if writing, status.isUnfinished {
        UnfinishedVault.finish(file, named: path, on: disk)
        do throws(Errno) { status = try file.status() } catch {
          throw .vault(path, error, doing: "read")
        }
      }
      return LockedLog(path: path, disk: disk, file: file, status: status)
    } while !deadline.hasPassed
    throw .held(path)
  }

  /// Whether a write must make a new file, so that what has another name doesn't change.
  var hasOtherNames: Bool { status.links > 1 }

  func unlock() { file.unlock() }

  /// Appends a frame at the end of the last good one, durably, or cuts it off again; see "Appending" in VaultReaders.
  ///
  /// - Returns: The file's status with the frame: what changes it later shows in that.
  @discardableResult func append(
    _ frame: Data, at end: Int, cutting unfinished: Bool, syncsFolder: Bool
  ) throws(WriteFailure) -> DiskStatus {
    if unfinished {
      do throws(Errno) { try file.truncate(to: end) } catch { throw .unchanged(error) }
    }
    do throws(Errno) { try write(frame, at: end, syncsFolder: syncsFolder) } catch {
      do throws(Errno) {
        try file.truncate(to: end)
        try file.syncData()
      } catch { throw .unknown(error) }
      throw .unchanged(error)
    }
    // Where locks don't exclude other machines, one of two writers finds the other's bytes: a header and a nonce.
    let beginning = frame.prefix(64)
    let (status, found): (DiskStatus, Data)
    do throws(Errno) {
      status = try file.status()
      found = try file.read(end..<end + beginning.count)
    } catch { throw .unknown(error) }
    guard found == beginning, status.size == end + frame.count else { throw .unknown(.noLocks) }
    return status
  }

  /// Writes a frame durably; also one that is there already, as a failed sync may have left it in memory alone.
  func write(_ frame: Data, at offset: Int, syncsFolder: Bool) throws(Errno) {
    try file.write(frame, at: offset)
    try file.syncData()
    if syncsFolder { try disk.syncFolder(of: path) }
  }
}

/// How a write to a vault has failed.
enum WriteFailure: Error, Hashable {
  /// The old state holds.
  case unchanged(Errno)

  /// The old state may hold, or the new one; `Errno.noLocks` if somebody else wrote at the same place.
  case unknown(Errno)

  /// Somebody else replaced one of the files meanwhile: nothing was changed, and theirs is in its place.
  case overtaken
}

/// The file `<vault>.new`, in which a vault is made anew; its maker holds a lock on it.
///
/// Its mode has a mark, the sticky bit, until it has the vault's name: a file of somebody else has none, and is neither
/// changed nor removed.
struct UnfinishedVault: ~Copyable {
  let file: any DiskFile
  private let vault: String
  private let disk: any VaultDisk
  private var isNamed = true

  /// Makes the empty file, with mode, group and label of the present one.
  ///
  /// Without a present one, it fails if the file system opens the file to more than these others.
  init(
    for vault: String, on disk: any VaultDisk, like old: (any DiskFile)?,
    until deadline: Deadline, openTo others: CInterop.Mode = 0
  ) throws(KeychainError) {
    let name = Self.name(for: vault)
    let file = try Self.made(for: vault, on: disk, notBeing: old, deadline)
    file.takeAttributes(of: old)
    do throws(KeychainError) {
      if old == nil { try Self.requireClosed(file, vault, name, openTo: others) }
    } catch {
      if let own = try? file.status() { Self.remove(name, ifIs: own.identity, on: disk) }
      throw error
    }
    self.file = file
    self.vault = vault
    self.disk = disk
  }

  private static func requireClosed(
    _ file: any DiskFile, _ vault: String, _ name: String, openTo others: CInterop.Mode
  ) throws(KeychainError) {
    let forbidden = 0o077 & ~others
    guard let mode = try? file.status().mode, mode & forbidden != 0,
      try translated(PrivateFile.isOpen(name, to: forbidden))
    else { return }
    let error = FileError(.insecure(.mediumWithoutModes(mode)), vault)
    // A vault that others can use is not opened either.
    throw others == 0 ? KeychainError(error) : KeychainError(ofNewSecretFile: error)
  }

  deinit {
    guard isNamed, let own = try? file.status() else { return }
    Self.remove(Self.name(for: vault), ifIs: own.identity, on: disk)
  }

  /// Refuses what needs a new file, before a person is asked for anything, if there can be none.
  static func requirePossible(for vault: String, on disk: any VaultDisk) throws(KeychainError) {
    guard let obstacle = disk.obstacleToReplacing(vault) else { return }
    throw .replacing(vault, obstacle)
  }

  /// Removes what a killed maker has left, if it is no other file.
  static func removeLeftover(
    for vault: String, on disk: any VaultDisk, like old: any DiskFile
  ) {
    let name = name(for: vault)
    guard let left = try? disk.status(of: name), left.isUnfinished else { return }
    // One that can't be removed is told of by who needs the name.
    try? removeLeftover(name, on: disk, notBeing: old, Deadline(after: .zero))
  }

  /// Removes a leftover that nobody has locked; `Errno.fileExists` if the file is somebody else's.
  ///
  /// It is never used again: a program that has it open, or another name of it, would change the vault.
  private static func removeLeftover(
    _ name: String, on disk: any VaultDisk, notBeing old: (any DiskFile)?, _ deadline: Deadline
  ) throws(Errno) {
    // The vault itself, by another name, is locked already.
    if let old, try disk.status(of: name)?.identity == old.status().identity { throw .fileExists }
    let file: any DiskFile
    do throws(Errno) { file = try disk.open(name, writing: true) } catch {
      switch error {
      case .noSuchFileOrDirectory: return
      case .permissionDenied: throw .fileExists
      default: throw error
      }
    }
    // Its maker may have given it the name of the vault, or removed it.
    guard try file.lock(until: deadline), try hasName(name, file, on: disk) else { return }
    let status = try file.status()
    guard status.isRegular, status.owner == geteuid(), status.isUnfinished else {
      throw .fileExists
    }
    try disk.remove(name)
  }

  private static func hasName(
    _ name: String, _ file: any DiskFile, on disk: any VaultDisk
  ) throws(Errno) -> Bool {
    try disk.status(of: name)?.identity == file.status().identity
  }

  /// Ends what the maker of a locked vault could not, who was killed: it is no unfinished file, whatever name it gets later.
  static func finish(_ file: any DiskFile, named vault: String, on disk: any VaultDisk) {
    // Where no rename spares the file that has the name, it was linked first. The mark says whose the other name is.
    guard let own = try? file.status(), remove(name(for: vault), ifIs: own.identity, on: disk)
    else { return }
    file.mark(isUnfinished: false)
  }

  static func name(for vault: String) -> String { vault + ".new" }

  /// Returns whether the file does not have the name any more.
  @discardableResult
  private static func remove(
    _ name: String, ifIs identity: FileIdentity, on disk: any VaultDisk
  ) -> Bool {
    do throws(Errno) {
      if try disk.status(of: name)?.identity == identity { try disk.remove(name) }
      return true
    } catch { return false }
  }

  /// Makes an empty file and locks it, once what a killed maker left is removed.
  private static func made(
    for vault: String, on disk: any VaultDisk, notBeing old: (any DiskFile)?, _ deadline: Deadline
  ) throws(KeychainError) -> any DiskFile {
    let name = name(for: vault)
    do throws(Errno) {
      var attempts = 0
      // The second one is after a leftover was removed.
      repeat {
        attempts += 1
        do throws(Errno) {
          let file = try disk.makeTemporary(name)
          if try file.lock(until: deadline), try hasName(name, file, on: disk) { return file }
        } catch {
          guard error == .fileExists else { throw error }
          try removeLeftover(name, on: disk, notBeing: old, deadline)
        }
      } while attempts < 2 || !deadline.hasPassed
    } catch {
      switch error {
      case .fileExists, .tooManySymbolicLinkLevels, .isDirectory, .noSuchAddressOrDevice:
        throw KeychainError(
          .refused,
          "the new version of \(vault) is written to \(name) first, and another file is there",
          recovery: "move it away")
      default: throw .replacing(name, error)
      }
    }
    throw .held(name)
  }

  /// Makes the contents durable, and gives the file the name of the vault, durably; it stays locked.
  ///
  /// It may replace a file that this process has locked, and no other one. A new name that is taken fails with
  /// `Errno.fileExists`.
  consuming func takeName(replacing old: LockedLog?) throws(WriteFailure) -> LockedLog {
    let name = Self.name(for: vault)
    let (own, found): (FileIdentity, FileIdentity?)
    do throws(Errno) {
      try file.sync()
      own = try file.status().identity
      found = try disk.status(of: vault)?.identity
    } catch { throw .unchanged(error) }
    if let old, found != old.status.identity { throw .overtaken }
    var isExchanged = false
    do throws(Errno) {
      if let old {
        // It has the other name until it is removed.
        old.file.mark(isUnfinished: true)
        try old.file.sync()
        isExchanged = try disk.exchange(name, vault)
      } else {
        try disk.rename(name, to: vault)
      }
    } catch {
      // Over a network, the answer may be lost.
      let named: FileIdentity?
      do throws(Errno) { named = try disk.status(of: vault)?.identity } catch {
        throw .unknown(error)
      }
      guard named == own else {
        old?.file.mark(isUnfinished: false)
        throw .unchanged(error)
      }
      isNamed = false
      throw .unknown(error)
    }
    do throws(Errno) {
      let named = try disk.status(of: vault)?.identity
      // Otherwise another maker may have the name already.
      let left = try isExchanged ? disk.status(of: name)?.identity : nil
      if named == own {
        isNamed = false
        Self.finish(file, named: vault, on: disk)
        // Somebody gave the other name to their file at this moment. It stays, and so does this one: the old file may have
        // had no other name.
        guard left == nil || left == old?.status.identity else {
          old?.file.mark(isUnfinished: false)
          throw .fileExists
        }
        let isGone = left.map { Self.remove(name, ifIs: $0, on: disk) } ?? true
        // It may have other names, which are nobody's leftovers.
        if isGone { old?.file.mark(isUnfinished: false) }
        try disk.syncFolder(of: vault)
        return LockedLog(
          path: vault, disk: disk, file: file, status: try file.status(), oldFileStays: !isGone)
      }
      // Somebody gave the name of this file to theirs before, and it has the vault's now: both go back. If they can't, the
      // old file is nobody's leftover.
      old?.file.mark(isUnfinished: false)
      guard isExchanged, left == old?.status.identity, try disk.exchange(name, vault) else {
        throw .fileExists
      }
      let back = try disk.status(of: vault)?.identity
      guard back == old?.status.identity else { throw .fileExists }
    } catch { throw .unknown(error) }
    throw .overtaken
  }
}
