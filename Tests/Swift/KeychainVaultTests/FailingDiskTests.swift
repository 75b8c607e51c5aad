import Foundation
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesSystem
import Synchronization
import SystemPackage
import Testing

@testable import KeychainVault

/// What a writer says when the disk fails.
@Suite("Outcomes of writes")
struct FailingDiskTests {
  private let vault: TestVault
  private let disk = FailingDisk()

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "old")
  }

  private var handle: Vault { vault.handle { [disk] in $0.disk = disk } }

  @Test func failedWriteLeavesTheOldState() throws {
    let before = try vault.bytes
    disk.fail(.syncData, times: 1)
    let error = failure { try handle.put("a", "new") }
    #expect(error?.code == .inputOutput)
    #expect(try vault.bytes == before)
    #expect(try vault.handle().text("a") == "old" && handle.text("a") == "old")
  }

  @Test func outcomeIsUnknownIfTheCutFailsToo() throws {
    let handle = handle
    disk.fail(.syncData, times: 2)
    let error = failure { try handle.put("a", "new") }
    #expect(error?.code == .outcomeUnknown)
    // Whoever reads next makes durable what is there.
    #expect(["old", "new"].contains(try vault.handle().text("a")))
    try handle.put("a", "newer")
    #expect(try vault.handle().text("a") == "newer")
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func outcomeIsUnknownIfTheNameOfANewBaseMayBeLost() throws {
    let handle = handle
    disk.fail(.syncFolder, times: 1)
    #expect(failure { try handle.compact() }?.code == .outcomeUnknown)
    #expect(try vault.handle().text("a") == "old" && handle.text("a") == "old")
    #expect(try vault.handle().verify().problems == [])
  }

  /// A base that is due is made after the write was acknowledged.
  @Test func baseThatFailsIsANotice() throws {
    let told = Told()
    let handle = vault.handle { [disk] in
      $0.disk = disk
      $0.notice = told.add
    }
    disk.fail(.makeTemporary, times: .max)
    for number in 0..<120 { try handle.put("a", "\(number)") }
    #expect(told.kinds.contains(.oldContentLeft))
    #expect(try vault.handle().text("a") == "119")
  }

  /// It is removed in the log, where no new file can be made.
  @Test func removalWorksWithoutANewFile() throws {
    let told = Told()
    let handle = vault.handle { [disk] in
      $0.disk = disk
      $0.notice = told.add
    }
    disk.fail(.makeTemporary, times: .max)
    #expect(try handle.remove(.test("a")))
    #expect(try vault.handle().text("a") == nil)
    #expect(told.kinds == [.oldContentLeft])
    #expect(told.messages.first?.contains("because it could not be compacted: ") == true)
  }

  /// What may not be durable is read, and not recorded.
  @Test func failedSettlingEndsWritesAndNotReads() throws {
    let seen = try FileManager.default.contentsOfDirectory(atPath: vault.seenFolder)
    let record = vault.seenFolder + "/" + (try #require(seen.first))
    let before = FileManager.default.contents(atPath: record)
    try vault.handle().put("a", "new")
    try #require(before).write(to: URL(filePath: record))
    let bytes = try vault.bytes
    disk.fail(.syncData, times: .max)
    #expect(try handle.text("a") == "new")
    #expect(failure { try handle.put("a", "newer") }?.code == .inputOutput)
    #expect(FileManager.default.contents(atPath: record) == before)
    #expect(try vault.bytes == bytes)
  }
}

/// The machine's disk, on which the next calls of a kind fail.
private final class FailingDisk: VaultDisk {
  enum Call: Hashable {
    case syncData, syncFolder, makeTemporary
  }

  private let disk = LinuxDisk()
  private let failures = Mutex<[Call: Int]>([:])

  func fail(_ call: Call, times: Int) { failures.withLock { $0[call] = times } }

  fileprivate func check(_ call: Call) throws(Errno) {
    let fails = failures.withLock { failures in
      guard let left = failures[call], left > 0 else { return false }
      failures[call] = left - 1
      return true
    }
    if fails { throw .ioError }
  }

  func status(of path: String) throws(Errno) -> DiskStatus? { try disk.status(of: path) }

  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile {
    FailingFile(try disk.open(path, writing: writing), self)
  }

  func makeTemporary(_ path: String) throws(Errno) -> any DiskFile {
    try check(.makeTemporary)
    return FailingFile(try disk.makeTemporary(path), self)
  }

  func rename(_ path: String, to name: String) throws(Errno) { try disk.rename(path, to: name) }

  func exchange(_ path: String, _ name: String) throws(Errno) -> Bool {
    try disk.exchange(path, name)
  }

  func remove(_ path: String) throws(Errno) { try disk.remove(path) }

  func syncFolder(of path: String) throws(Errno) {
    try check(.syncFolder)
    try disk.syncFolder(of: path)
  }

  func freeBytes(at path: String) throws(Errno) -> UInt64 { try disk.freeBytes(at: path) }

  func obstacleToReplacing(_ path: String) -> Errno? { disk.obstacleToReplacing(path) }
}

private final class FailingFile: DiskFile {
  private let file: any DiskFile
  private let disk: FailingDisk

  init(_ file: any DiskFile, _ disk: FailingDisk) {
    self.file = file
    self.disk = disk
  }

  func status() throws(Errno) -> DiskStatus { try file.status() }
  func read(_ range: Range<Int>) throws(Errno) -> Data { try file.read(range) }

  func write(_ bytes: Data, at offset: Int) throws(Errno) {
    try file.write(bytes, at: offset)
  }

  func truncate(to size: Int) throws(Errno) { try file.truncate(to: size) }

  func syncData() throws(Errno) {
    try disk.check(.syncData)
    try file.syncData()
  }

  func sync() throws(Errno) { try file.sync() }

  func lock(until deadline: Deadline) throws(Errno) -> Bool {
    try file.lock(until: deadline)
  }

  func unlock() { file.unlock() }

  func mark(isUnfinished: Bool) { file.mark(isUnfinished: isUnfinished) }

  func takeAttributes(of old: (any DiskFile)?) {
    file.takeAttributes(of: (old as? FailingFile)?.file ?? old)
  }
}
