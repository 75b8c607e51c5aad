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
      let status: DiskStatus
      do throws(Errno) {
        guard try file.lock(until: deadline) else { break }
        status = try file.status()
        // Who held the lock may have given the name to a new file.
        guard try disk.status(of: path)?.identity == status.identity else { continue }
      } catch { throw .vault(path, error, doing: "lock") }
      guard !writing || status.links > 0 else { throw .replacedOutside(path) }
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
}

/// The file `<vault>.new`, in which a vault is made anew; its maker holds a lock on it, and takes it before the vault's.
struct UnfinishedVault: ~Copyable {
  let file: any DiskFile
  private let vault: String
  private let disk: any VaultDisk
  private var isNamed = true

  /// Makes the empty file, with mode, group and label of the present one.
  ///
  /// Without a present one, it fails if the file system opens the file to more than these others.
  init(
    for vault: String, on disk: any VaultDisk, like old: (any DiskFile)?, until deadline: Deadline,
    openTo others: CInterop.Mode = 0
  ) throws(KeychainError) {
    let name = Self.name(for: vault)
    let file = try Self.locked(name, on: disk, notBeing: old, deadline)
    file.takeAttributes(of: old)
    do throws(KeychainError) {
      if old == nil { try Self.requireClosed(file, vault, name, openTo: others) }
    } catch {
      try? disk.remove(name)
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
    let name = Self.name(for: vault)
    guard isNamed, let named = try? disk.status(of: name), let own = try? file.status(),
      named.identity == own.identity
    else { return }
    try? disk.remove(name)
  }

  /// Refuses what needs a new file, before a person is asked for anything, if there can be none.
  static func requirePossible(for vault: String, on disk: any VaultDisk) throws(KeychainError) {
    guard let obstacle = disk.obstacleToReplacing(vault) else { return }
    throw .replacing(vault, obstacle)
  }

  /// Removes what a killed maker has left, if it is no other file.
  static func removeLeftover(for vault: String, on disk: any VaultDisk, like old: any DiskFile) {
    guard let left = try? disk.status(of: name(for: vault)), left.isRegular else { return }
    do throws(KeychainError) {
      _ = try UnfinishedVault(for: vault, on: disk, like: old, until: Deadline(after: .zero))
    } catch {
      // It is another's, or can't be removed: who needs the name says so.
    }
  }

  static func name(for vault: String) -> String { vault + ".new" }

  private static func locked(
    _ name: String, on disk: any VaultDisk, notBeing old: (any DiskFile)?, _ deadline: Deadline
  ) throws(KeychainError) -> any DiskFile {
    do throws(Errno) {
      // Another name of the vault, which is locked: its maker was killed who could not rename it.
      if let old, try disk.status(of: name)?.identity == old.status().identity {
        try disk.remove(name)
      }
      repeat {
        let file = try disk.openTemporary(name)
        guard try file.lock(until: deadline) else { break }
        let status = try file.status()
        // Its last maker may have given it the name of the vault, or removed it.
        guard try disk.status(of: name)?.identity == status.identity else { continue }
        guard status.isRegular, status.owner == geteuid() else { throw .fileExists }
        guard status.links == 1 else {
          // It may be the vault under its other name, here too.
          try disk.remove(name)
          continue
        }
        try file.truncate(to: 0)
        return file
      } while !deadline.hasPassed
    } catch {
      switch error {
      case .fileExists, .tooManySymbolicLinkLevels, .isDirectory, .noSuchAddressOrDevice:
        throw KeychainError(
          .refused, "\(name), in which the vault is made anew, is not a file of yours",
          recovery: "move it away")
      default: throw .replacing(name, error)
      }
    }
    throw .held(name)
  }

  /// Makes the contents durable, and gives the file the name of the vault, durably; it stays locked.
  ///
  /// It may replace a file that this process has locked; another one fails with `Errno.fileExists`.
  consuming func takeName(replacing: Bool) throws(WriteFailure) -> LockedLog {
    do throws(Errno) {
      try file.sync()
      try disk.rename(Self.name(for: vault), to: vault, replacing: replacing)
    } catch {
      // Over a network, the answer may be lost.
      guard let named = try? disk.status(of: vault), let own = try? file.status(),
        named.identity == own.identity
      else { throw .unchanged(error) }
      throw .unknown(error)
    }
    isNamed = false
    do throws(Errno) {
      try disk.syncFolder(of: vault)
      return LockedLog(path: vault, disk: disk, file: file, status: try file.status())
    } catch { throw .unknown(error) }
  }
}
