import FaultTesting
import Foundation
import Glibc
import KeychainCredentials
import PrephirencesSystem
import Synchronization
import SystemPackage
import Testing

@testable import KeychainVault

/// The calls of a vault on real files.
@Suite("Files of a vault")
struct LinuxDiskTests {
  /// A folder with a vault, which is removed afterwards.
  private final class Place: Sendable {
    let folder = NSTemporaryDirectory() + "/disk-\(UUID().uuidString)"
    var vault: String { folder + "/vault" }
    var new: String { vault + ".new" }

    init() { mkdir(folder, 0o700) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func make(_ path: String, _ contents: String = "vault") throws {
      try Data(contents.utf8).write(to: URL(filePath: path))
      chmod(path, 0o600)
    }

    func contents(_ path: String) -> String? {
      FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  private let disk = LinuxDisk()
  private let place = Place()
  private let soon = Deadline(after: .zero)
  private let hour = Deadline(after: .seconds(3600))

  private func locked(_ deadline: Deadline? = nil) throws -> LockedLog? {
    try LockedLog.take(place.vault, on: disk, until: deadline ?? soon)
  }

  // MARK: - Contents

  @Test func bytesAreWrittenAndReadBack() throws {
    let file = try disk.makeTemporary(place.new)
    let all = Data((0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    try file.write(all, at: 3)
    #expect(try file.status().size == all.count + 3)
    #expect(try file.read(3..<all.count + 3) == all)
    #expect(try file.read(0..<4) == Data([0, 0, 0, all[0]]))
    // The end of the file ends what is read, and what is allocated.
    #expect(try file.read(all.count..<1 << 60) == all.suffix(3))
    #expect(try file.read(1 << 60..<Int.max).isEmpty)
    #expect(throws: Errno.fileTooLarge) { try file.write(all, at: .max) }
    try file.truncate(to: 10)
    try file.syncData()
    try file.sync()
    #expect(try file.status().size == 10)
  }

  /// The kernel would kill the process.
  @Test func limitOfFileSizeIsAnError() async {
    await #expect(processExitsWith: .success) {
      let place = Place()
      let file = try LinuxDisk().makeTemporary(place.new)
      try file.write(Data(count: 100), at: 0)
      var limit = rlimit(rlim_cur: 600, rlim_max: 600)
      setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit)
      #expect(throws: Errno.fileTooLarge) {
        try file.write(Data(count: 501), at: 100)
      }
      #expect(try file.status().size == 100)
      try file.write(Data(count: 500), at: 100)
      try file.truncate(to: 100)
      #expect(
        KeychainError.writing(place.vault, .unchanged(.fileTooLarge)).code == .inputOutput)
    }
  }

  /// A small file system takes a part of the bytes.
  @Test func shortWriteOfFullDiskIsCutBack() throws {
    // Writing to it fails like a full disk.
    let full = try disk.open("/dev/full", writing: true)
    #expect(throws: Errno.noSpace) { try full.write(Data(count: 10), at: 0) }
    let error = KeychainError.writing(place.vault, .unchanged(.noSpace))
    #expect(error.code == .inputOutput)
    #expect(error.message.contains("unchanged") && error.message.contains(place.vault))
  }

  // MARK: - Names

  @Test func renamingReplacesNothing() throws {
    try place.make(place.vault, "old")
    try place.make(place.new, "new")
    #expect(throws: Errno.fileExists) { try disk.rename(place.new, to: place.vault) }
    #expect(place.contents(place.vault) == "old" && place.contents(place.new) == "new")
    #expect(try disk.exchange(place.new, place.vault))
    #expect(place.contents(place.vault) == "new" && place.contents(place.new) == "old")
    try disk.remove(place.new)
    #expect(throws: Errno.noSuchFileOrDirectory) { _ = try disk.exchange(place.new, place.vault) }
    try disk.rename(place.vault, to: place.new)
    #expect(try disk.status(of: place.vault) == nil)
    #expect(try disk.status(of: place.new)?.links == 1)
    try disk.syncFolder(of: place.new)
    #expect(try disk.freeBytes(at: place.folder) > 0)
    #expect(disk.obstacleToReplacing(place.new) == nil)
    try disk.remove(place.new)
    #expect(throws: Errno.noSuchFileOrDirectory) { try disk.remove(place.new) }
  }

  @Test func linksAreNotFollowed() throws {
    try place.make(place.folder + "/other")
    symlink("other", place.vault)
    #expect(throws: Errno.tooManySymbolicLinkLevels) {
      try disk.open(place.vault, writing: false)
    }
    #expect(try disk.status(of: place.vault)?.isRegular == false)
  }

  @Test func replacedFileKeepsModeAndGroup() throws {
    try place.make(place.vault)
    chmod(place.vault, 0o640)
    let old = try disk.open(place.vault, writing: false)
    let new = try disk.makeTemporary(place.new)
    new.takeAttributes(of: old)
    #expect(try new.status().mode == 0o1640)
    #expect(try new.status().group == old.status().group)
    new.takeAttributes(of: nil)
    #expect(try new.status().mode == 0o1600)
  }

  // MARK: - Locks

  @Test func absentVaultHasNoLock() throws { #expect(try locked() == nil) }

  @Test func lockExcludesThreads() throws {
    try place.make(place.vault, "")
    let count = 8
    let each = 20
    concurrently(count) { [place] number in
      for _ in 0..<each {
        do {
          let log = try #require(
            try LockedLog.take(place.vault, on: LinuxDisk(), until: Deadline(after: .seconds(60))))
          defer { log.unlock() }
          try log.append(
            Data("\(number)\n".utf8), at: log.status.size, cutting: false, syncsFolder: false)
        } catch { Issue.record(error) }
      }
    }
    let lines = try #require(place.contents(place.vault)).split(separator: "\n")
    #expect(lines.count == count * each)
    for number in 0..<count { #expect(lines.count { $0 == "\(number)" } == each) }
  }

  @Test func heldLockIsBusyAtDeadline() throws {
    try place.make(place.vault)
    let holder = try #require(try locked())
    let start = ContinuousClock.now
    let error = #expect(throws: KeychainError.self) {
      try locked(Deadline(after: .milliseconds(50)))
    }
    #expect(error?.code == .busy)
    #expect(.now - start >= .milliseconds(50))
    holder.unlock()
    #expect(try locked(hour) != nil)
  }

  /// Who waited locks the file that has the name then.
  @Test func waiterFollowsTheName() async throws {
    try place.make(place.vault)
    let holder = try #require(try locked())
    let waiting = Task.detached { [place, hour] in
      try LockedLog.take(place.vault, on: LinuxDisk(), until: hour)?.status.identity
    }
    let new = try UnfinishedVault(for: place.vault, on: disk, like: holder.file, until: soon)
    try new.file.write(Data("new".utf8), at: 0)
    try await Task.sleep(for: .milliseconds(10))
    let replaced = try new.takeName(replacing: holder)
    #expect(replaced.status.identity != holder.status.identity)
    #expect(replaced.status.size == 3 && !replaced.hasOtherNames)
    // Both files are locked still.
    #expect(throws: KeychainError.self) { try locked() }
    holder.unlock()
    replaced.unlock()
    #expect(try await waiting.value == replaced.status.identity)
    #expect(try disk.status(of: place.new) == nil)
  }

  /// A process that is stopped keeps its lock, and a child that it forked does not.
  @Test func lockOfOtherProcess() async {
    await #expect(processExitsWith: .success) {
      let place = Place()
      try place.make(place.vault)
      // Swift forbids to call it by name.
      let fork = unsafeBitCast(
        try #require(dlsym(nil, "fork")), to: (@convention(c) () -> pid_t).self)
      var ends: [CInt] = [0, 0]
      #expect(pipe(&ends) == 0)
      let holder = fork()
      if holder == 0 {
        guard
          let log = try? LockedLog.take(
            place.vault, on: LinuxDisk(), until: Deadline(after: .zero))
        else { _exit(1) }
        var byte: UInt8 = 0
        write(ends[1], &byte, 1)
        read(ends[0], &byte, 0)
        while true { pause() }
        log.unlock()
      }
      var byte: UInt8 = 0
      #expect(read(ends[0], &byte, 1) == 1)
      kill(holder, SIGSTOP)
      let start = ContinuousClock.now
      let error = #expect(throws: KeychainError.self) {
        try LockedLog.take(
          place.vault, on: LinuxDisk(), until: Deadline(after: .milliseconds(100)))
      }
      #expect(error?.code == .busy)
      #expect(ContinuousClock.now - start >= .milliseconds(100))
      kill(holder, SIGKILL)
      var status: Int32 = 0
      waitpid(holder, &status, 0)
      // A waiter that was given up releases the lock if it gets it.
      let log = try #require(
        try LockedLog.take(
          place.vault, on: LinuxDisk(), until: Deadline(after: .seconds(60))))
      let child = fork()
      if child == 0 { while true { pause() } }
      log.unlock()
      #expect(
        try LockedLog.take(place.vault, on: LinuxDisk(), until: Deadline(after: .zero)) != nil)
      kill(child, SIGKILL)
      waitpid(child, &status, 0)
    }
  }

  @Test func fileWithoutNameIsReadOnly() throws {
    let nameless = DiskStatus(
      identity: FileIdentity(device: 1, inode: 1), size: 0, changed: .zero, links: 0,
      isRegular: true,
      owner: geteuid(), group: getegid(), mode: 0o600)
    try place.make(place.vault)
    let mounted = FixedStatusDisk(disk: disk, status: nameless)
    let error = #expect(throws: KeychainError.self) {
      try LockedLog.take(place.vault, on: mounted, until: soon)
    }
    #expect(error?.code == .refused)
    #expect(try LockedLog.take(place.vault, on: mounted, writing: false, until: soon) != nil)
  }

  @Test func hardLinkIsSeen() throws {
    try place.make(place.vault)
    link(place.vault, place.folder + "/copy")
    #expect(try locked()?.hasOtherNames == true)
  }

  @Test(.enabled(if: geteuid() != 0)) func readOnlyFileIsRefusedAndReadable() throws {
    try place.make(place.vault)
    chmod(place.vault, 0o400)
    let error = #expect(throws: KeychainError.self) { try locked() }
    #expect(error?.code == .insecurePermissions)
    #expect(try LockedLog.take(place.vault, on: disk, writing: false, until: soon) != nil)
  }

  // MARK: - The new file

  @Test func unfinishedVaultIsRemoved() throws {
    do {
      let new = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: soon)
      try new.file.write(Data("new".utf8), at: 0)
      #expect(place.contents(place.new) == "new")
    }
    #expect(try disk.status(of: place.new) == nil)
  }

  /// What a killed maker leaves is marked, whatever it holds.
  ///
  /// Who has it open, or another name of it, changes no vault.
  @Test func leftoverIsReplaced() throws {
    for contents in ["", "torn", String(repeating: "huge", count: 1_000_000)] {
      try place.make(place.new, contents)
      chmod(place.new, 0o1644)
      let left = try disk.open(place.new, writing: true)
      let new = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: soon)
      #expect(try new.file.status().size == 0)
      #expect(try new.file.status().mode == 0o1600)
      #expect(try left.status().size == contents.utf8.count)
      #expect(try left.status().links == 0)
    }
  }

  /// A file that somebody else made is neither emptied nor removed, also if it is a copy of the vault.
  @Test func filesOfOthersStay() throws {
    for contents in ["", "n", "notes\n", "vault", String(repeating: "\0", count: 300)] {
      try place.make(place.vault, "vault")
      try place.make(place.new, contents)
      let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
      let error = #expect(throws: KeychainError.self) {
        _ = try UnfinishedVault(for: place.vault, on: disk, like: log.file, until: soon)
      }
      #expect(error?.code == .refused && error?.message.contains(place.new) == true)
      UnfinishedVault.removeLeftover(for: place.vault, on: disk, like: log.file)
      #expect(place.contents(place.new) == contents)
    }
  }

  /// If a maker is killed at any step, the next one knows its files by their mark, which the vault does not have.
  @Test func marksFollowTheNames() throws {
    try place.make(place.vault, "old")
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    let new = try UnfinishedVault(for: place.vault, on: disk, like: log.file, until: soon)
    #expect(try new.file.status().isUnfinished && !log.file.status().isUnfinished)
    let replaced = try new.takeName(replacing: log)
    #expect(try !replaced.file.status().isUnfinished)
    #expect(try disk.status(of: place.vault)?.mode == 0o600)
    #expect(try disk.status(of: place.new) == nil)
  }

  /// A copy of the old file, made by a hard link, may get any name later.
  @Test func otherNamesOfTheOldFileHaveNoMark() throws {
    try place.make(place.vault, "old")
    let copy = place.folder + "/copy"
    link(place.vault, copy)
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    let new = try UnfinishedVault(for: place.vault, on: disk, like: log.file, until: soon)
    _ = try new.takeName(replacing: log)
    #expect(try disk.status(of: copy)?.isUnfinished == false)
    #expect(place.contents(copy) == "old")
  }

  /// A maker that was killed between its steps leaves marks on the vault, which may get another name later.
  @Test func nextWriterEndsWhatAKilledMakerBegan() throws {
    try place.make(place.vault, "old")
    chmod(place.vault, 0o1600)
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    #expect(!log.status.isUnfinished)
    #expect(try disk.status(of: place.vault)?.mode == 0o600)
  }

  /// If one of the names is given to another file, neither that file nor the vault is lost.
  @Test func replacedFilesAreNotLost() throws {
    for name in [place.new, place.vault] {
      try place.make(place.vault, "old")
      let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
      let theirs = place.folder + "/theirs"
      try place.make(theirs, "theirs")
      let failure = #expect(throws: WriteFailure.self) {
        let new = try UnfinishedVault(for: place.vault, on: disk, like: log.file, until: soon)
        try new.file.write(Data("new".utf8), at: 0)
        #expect(rename(theirs, name) == 0)
        _ = try new.takeName(replacing: log)
      }
      #expect(failure == .overtaken)
      #expect(place.contents(place.vault) == (name == place.vault ? "theirs" : "old"))
      #expect(place.contents(place.new) == (name == place.vault ? nil : "theirs"))
      unlink(place.new)
      unlink(place.vault)
    }
  }

  /// What is moved over the old file, once the new one has the vault's name, leaves the new one alone.
  @Test func fileThatIsMovedOverTheOldOneDoesNotReplaceTheNewOne() throws {
    try place.make(place.vault, "old")
    let theirs = place.folder + "/theirs"
    try place.make(theirs, "theirs")
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    let racing = ChangedDisk(exchanging: { [place] (path, name) throws(Errno) in
      let isExchanged = try LinuxDisk().exchange(path, name)
      rename(theirs, place.new)
      return isExchanged
    })
    let failure = #expect(throws: WriteFailure.self) {
      let new = try UnfinishedVault(for: place.vault, on: racing, like: log.file, until: soon)
      try new.file.write(Data("new".utf8), at: 0)
      _ = try new.takeName(replacing: log)
    }
    #expect(failure == .unknown(.fileExists))
    #expect(place.contents(place.vault) == "new" && place.contents(place.new) == "theirs")
  }

  /// A vault that can't get its name back stays where it is, no matter who needs that name next.
  @Test func unrestoredVaultIsNotALeftover() throws {
    try place.make(place.vault, "old")
    let theirs = place.folder + "/theirs"
    try place.make(theirs, "theirs")
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    let failing = ChangedDisk(exchanging: { [place] (path, name) throws(Errno) in
      guard rename(theirs, place.new) == 0 else { throw .ioError }
      return try LinuxDisk().exchange(path, name)
    })
    let failure = #expect(throws: WriteFailure.self) {
      let new = try UnfinishedVault(for: place.vault, on: failing, like: log.file, until: soon)
      _ = try new.takeName(replacing: log)
    }
    #expect(failure == .unknown(.ioError))
    #expect(place.contents(place.vault) == "theirs" && place.contents(place.new) == "old")
    log.unlock()
    let error = #expect(throws: KeychainError.self) {
      _ = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: soon)
    }
    #expect(error?.code == .refused && place.contents(place.new) == "old")
  }

  /// A link is made first where no rename spares the file that has the name.
  @Test func otherNameOfANewVaultIsRemovedUntilThatWorks() throws {
    let failing = ChangedDisk(
      renaming: { path, name in #expect(link(path, name) == 0) },
      removing: { path throws(Errno) in throw .ioError })
    let new = try UnfinishedVault(for: place.vault, on: failing, like: nil, until: soon)
    try new.takeName(replacing: nil).unlock()
    #expect(try disk.status(of: place.new)?.links == 2)
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    #expect(log.status.links == 1 && !log.status.isUnfinished)
    #expect(try disk.status(of: place.new) == nil)
  }

  /// Without a rename that replaces nothing, a maker that is killed leaves the vault two names, and the mark.
  @Test func leftoverNameOfVaultIsRemoved() throws {
    try place.make(place.vault)
    link(place.vault, place.new)
    chmod(place.vault, 0o1600)
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    #expect(log.status.links == 1 && !log.hasOtherNames)
    #expect(place.contents(place.vault) == "vault")
    #expect(try disk.status(of: place.new) == nil)
  }

  /// A person's other name of a vault is theirs, whatever it is.
  @Test func otherNameOfVaultStays() throws {
    try place.make(place.vault)
    link(place.vault, place.new)
    let log = try #require(try LockedLog.take(place.vault, on: disk, until: soon))
    let error = #expect(throws: KeychainError.self) {
      _ = try UnfinishedVault(for: place.vault, on: disk, like: log.file, until: hour)
    }
    #expect(error?.code == .refused && error?.message.contains(place.new) == true)
    #expect(place.contents(place.new) == "vault")
  }

  @Test func foreignLeftoversStay() throws {
    let makers: [(String) throws -> Void] = [
      { symlink("vault", $0) }, { mkfifo($0, 0o600) }, { mkdir($0, 0o700) },
    ]
    try place.make(place.vault)
    for make in makers {
      try make(place.new)
      let error = #expect(throws: KeychainError.self) {
        _ = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: soon)
      }
      #expect(error?.code == .refused)
      #expect(error?.message.contains(place.new) == true)
      #expect(try disk.status(of: place.new)?.isRegular == false)
      #expect(remove(place.new) == 0)
    }
    #expect(place.contents(place.vault) == "vault")
  }

  @Test func secondMakerIsBusy() throws {
    let first = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: soon)
    try first.file.write(Data("first".utf8), at: 0)
    let error = #expect(throws: KeychainError.self) {
      _ = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: soon)
    }
    #expect(error?.code == .busy)
    let vault = try first.takeName(replacing: nil)
    #expect(place.contents(place.vault) == "first")
    vault.unlock()
    let failure = #expect(throws: WriteFailure.self) {
      let loser = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: soon)
      _ = try loser.takeName(replacing: nil)
    }
    #expect(failure == .unchanged(.fileExists))
    #expect(try disk.status(of: place.new) == nil)
    #expect(place.contents(place.vault) == "first")
  }

  /// Each of many makers waits for the others, and none empties a vault that was just renamed.
  @Test func makersWaitForEachOther() throws {
    try place.make(place.vault, "0")
    concurrently(6) { [place, disk] _ in
      for _ in 0..<5 {
        do {
          let deadline = Deadline(after: .seconds(60))
          let new = try UnfinishedVault(for: place.vault, on: disk, like: nil, until: deadline)
          let log = try #require(try LockedLog.take(place.vault, on: disk, until: deadline))
          defer { log.unlock() }
          let text = String(decoding: try log.file.read(0..<log.status.size), as: UTF8.self)
          try new.file.write(Data("\((Int(text) ?? -1000) + 1)".utf8), at: 0)
          try new.takeName(replacing: log).unlock()
        } catch { Issue.record(error) }
      }
    }
    #expect(place.contents(place.vault) == "30")
  }

  // MARK: - Texts

  @Test func failuresSayWhatToDo() {
    let path = place.vault
    for (failure, code) in [
      (WriteFailure.unchanged(.ioError), KeychainError.Code.inputOutput),
      (.unchanged(.diskQuotaExceeded), .inputOutput), (.unchanged(.notPermitted), .inputOutput),
      (.unchanged(.resourceBusy), .refused), (.unchanged(.improperLink), .refused),
      (.unknown(.ioError), .outcomeUnknown), (.unknown(.noLocks), .outcomeUnknown),
    ] {
      let error = KeychainError.writing(path, failure)
      #expect(error.code == code)
      #expect(error.message.contains(path))
      #expect(error.underlying != nil)
      #expect(error.recovery != nil || failure == .unchanged(.ioError))
    }
    for obstacle in [Errno.resourceBusy, .permissionDenied, .readOnlyFileSystem] {
      #expect(KeychainError.replacing(path, obstacle).code == .refused)
    }
  }

  @Test func mountedPathCannotBeReplaced() {
    #expect(disk.obstacleToReplacing("/proc") == .resourceBusy)
    let error = #expect(throws: KeychainError.self) {
      try UnfinishedVault.requirePossible(for: "/proc", on: disk)
    }
    #expect(error?.code == .refused)
  }
}

/// Files of this machine, on which some calls do something else.
private struct ChangedDisk: VaultDisk {
  let disk = LinuxDisk()
  var renaming: @Sendable (String, String) throws(Errno) -> Void = {
    (path, name) throws(Errno) in try LinuxDisk().rename(path, to: name)
  }
  var exchanging: @Sendable (String, String) throws(Errno) -> Bool = {
    (path, name) throws(Errno) in try LinuxDisk().exchange(path, name)
  }
  var removing: @Sendable (String) throws(Errno) -> Void = { path throws(Errno) in
    try LinuxDisk().remove(path)
  }

  func status(of path: String) throws(Errno) -> DiskStatus? { try disk.status(of: path) }
  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile {
    try disk.open(path, writing: writing)
  }
  func makeTemporary(_ path: String) throws(Errno) -> any DiskFile {
    try disk.makeTemporary(path)
  }
  func rename(_ path: String, to name: String) throws(Errno) { try renaming(path, name) }
  func exchange(_ path: String, _ name: String) throws(Errno) -> Bool {
    try exchanging(path, name)
  }
  func remove(_ path: String) throws(Errno) { try removing(path) }
  func syncFolder(of path: String) throws(Errno) { try disk.syncFolder(of: path) }
  func freeBytes(at path: String) throws(Errno) -> UInt64 { try disk.freeBytes(at: path) }
  func obstacleToReplacing(_ path: String) -> Errno? { disk.obstacleToReplacing(path) }
}

/// Files whose status is another one, as mounts of single files have.
private struct FixedStatusDisk: VaultDisk {
  let disk: LinuxDisk
  let status: DiskStatus

  func status(of path: String) -> DiskStatus? { status }
  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile {
    FixedStatusFile(try disk.open(path, writing: writing), status)
  }
  func makeTemporary(_ path: String) throws(Errno) -> any DiskFile {
    try disk.makeTemporary(path)
  }
  func rename(_ path: String, to name: String) throws(Errno) {
    try disk.rename(path, to: name)
  }
  func exchange(_ path: String, _ name: String) throws(Errno) -> Bool {
    try disk.exchange(path, name)
  }
  func remove(_ path: String) throws(Errno) { try disk.remove(path) }
  func syncFolder(of path: String) throws(Errno) { try disk.syncFolder(of: path) }
  func freeBytes(at path: String) throws(Errno) -> UInt64 { try disk.freeBytes(at: path) }
  func obstacleToReplacing(_ path: String) -> Errno? { disk.obstacleToReplacing(path) }
}
