internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

/// The locked file of a vault, until ``unlock()`` or until nothing refers to ``file`` any more.
struct LockedLog: Sendable {
  let path: String
  let disk: any VaultDisk
  let file: any DiskFile

  /// The file's status when it was locked.
  let status: DiskStatus

  /// Whether the replaced file could not be removed, and has the name of the unfinished one.
  var oldFileStays = false

  /// Opens the file that has the name, if any, and locks it against all others, including other
  /// threads.
  ///
  /// Without `writing`, it need not be writable.
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
        // The previous holder of the lock may have given the name to a new file.
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

  /// Whether a write must create a new file, so that hard links keep the old contents.
  var hasOtherNames: Bool { status.links > 1 }

  func unlock() { file.unlock() }

  /// Appends a frame durably after the last good one, or removes it again; see "Appending" in
  /// VaultReaders.
  ///
  /// It returns the file's status with the frame, in which later changes show.
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
    // If locks don't exclude other machines, one of two writers finds the other's bytes: a header
    // and a nonce.
    let beginning = frame.prefix(64)
    let (status, found): (DiskStatus, Data)
    do throws(Errno) {
      status = try file.status()
      found = try file.read(end..<end + beginning.count)
    } catch { throw .unknown(error) }
    guard found == beginning, status.size == end + frame.count else { throw .unknown(.noLocks) }
    return status
  }

  /// Writes a frame durably, even if it is already there: a failed sync may have left it in memory
  /// alone.
  func write(_ frame: Data, at offset: Int, syncsFolder: Bool) throws(Errno) {
    try file.write(frame, at: offset)
    try file.syncData()
    if syncsFolder { try disk.syncFolder(of: path) }
  }
}

/// How a write to a vault failed.
enum WriteFailure: Error, Hashable {
  /// The vault has the old state.
  case unchanged(Errno)

  /// The vault has the old or the new state; `Errno.noLocks` if somebody else wrote at the same
  /// place.
  case unknown(Errno)

  /// Somebody else replaced one of the files in the meantime. Nothing was changed, and their file
  /// is there.
  case overtaken
}

/// The file `<vault>.new`, in which a vault is rewritten; its writer holds a lock on it.
///
/// It has the sticky bit as a mark until it gets the vault's name. A file of somebody else has no
/// mark, and is neither changed nor removed.
struct UnfinishedVault: ~Copyable {
  let file: any DiskFile
  private let vault: String
  private let disk: any VaultDisk
  private var isNamed = true

  /// Creates the empty file, with mode, group and label of the present one.
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

  /// Fails if no new file can be created, before a person is asked for anything.
  static func requirePossible(for vault: String, on disk: any VaultDisk) throws(KeychainError) {
    guard let obstacle = disk.obstacleToReplacing(vault) else { return }
    throw .replacing(vault, obstacle)
  }

  /// Removes what a killed writer left, unless it is another file.
  static func removeLeftover(
    for vault: String, on disk: any VaultDisk, like old: any DiskFile
  ) {
    let name = name(for: vault)
    guard let left = try? disk.status(of: name), left.isUnfinished else { return }
    // If it can't be removed, the next writer who needs the name reports it.
    try? removeLeftover(name, on: disk, notBeing: old, Deadline(after: .zero))
  }

  /// Removes a leftover that nobody has locked; `Errno.fileExists` if the file is somebody else's.
  ///
  /// It is never reused: a program that has it open, or a hard link to it, could change the vault.
  private static func removeLeftover(
    _ name: String, on disk: any VaultDisk, notBeing old: (any DiskFile)?, _ deadline: Deadline
  ) throws(Errno) {
    // If it is a hard link to the vault, it is locked already.
    if let old, try disk.status(of: name)?.identity == old.status().identity { throw .fileExists }
    let file: any DiskFile
    do throws(Errno) { file = try disk.open(name, writing: true) } catch {
      switch error {
      case .noSuchFileOrDirectory: return
      case .permissionDenied: throw .fileExists
      default: throw error
      }
    }
    // Its writer may have given it the name of the vault, or removed it.
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

  /// Finishes for a killed writer: removes the vault's unfinished name, and then the mark.
  static func finish(_ file: any DiskFile, named vault: String, on disk: any VaultDisk) {
    // If the file system can't rename without replacing, the file was linked first. The mark tells
    // whose hard link it is.
    guard let own = try? file.status(), remove(name(for: vault), ifIs: own.identity, on: disk)
    else { return }
    file.mark(isUnfinished: false)
  }

  static func name(for vault: String) -> String { vault + ".new" }

  /// Removes a name of a file; `false` if the file still has the name.
  @discardableResult
  private static func remove(
    _ name: String, ifIs identity: FileIdentity, on disk: any VaultDisk
  ) -> Bool {
    do throws(Errno) {
      if try disk.status(of: name)?.identity == identity { try disk.remove(name) }
      return true
    } catch { return false }
  }

  /// Creates an empty file and locks it, after removing what a killed writer left.
  private static func made(
    for vault: String, on disk: any VaultDisk, notBeing old: (any DiskFile)?, _ deadline: Deadline
  ) throws(KeychainError) -> any DiskFile {
    let name = name(for: vault)
    do throws(Errno) {
      var attempts = 0
      // The second attempt is after a leftover was removed.
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

  /// Makes the contents durable, and gives the file the name of the vault, durably; it stays
  /// locked.
  ///
  /// It may replace only a file that this process has locked. If a new name is taken, it fails with
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
      // Without an exchange, another writer may already have the name.
      let left = try isExchanged ? disk.status(of: name)?.identity : nil
      if named == own {
        isNamed = false
        Self.finish(file, named: vault, on: disk)
        // Somebody gave the other name to their file at this moment. That file stays, and so does
        // the new one: the old file may have had no other name.
        guard left == nil || left == old?.status.identity else {
          old?.file.mark(isUnfinished: false)
          throw .fileExists
        }
        let isGone = left.map { Self.remove(name, ifIs: $0, on: disk) } ?? true
        // The old file may have hard links, which are not leftovers.
        if isGone { old?.file.mark(isUnfinished: false) }
        try disk.syncFolder(of: vault)
        return LockedLog(
          path: vault, disk: disk, file: file, status: try file.status(), oldFileStays: !isGone)
      }
      // Somebody had given this file's name to theirs, and it now has the vault's: exchange them
      // back. If that fails, the old file is not a leftover.
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
