import Foundation
import PrephirencesSystem
import SystemPackage
import Testing

@testable import KeychainVault

/// The power fails while a log is appended to, settled, cut and replaced.
@Suite("Power failures of a log")
struct LogPowerTests {
  @Test func acknowledgedFramesStay() throws {
    let disk = ModelDisk()
    let log = SampleLog(disk)
    for mark in 0..<4 { try log.append(mark) }
    try disk.forEachPowerLoss { try SampleLog.check($0) }
    #expect(try log.content()?.frames.count == 4)
  }

  @Test func replacedFilesAreOldOrNew() throws {
    let disk = ModelDisk()
    let log = SampleLog(disk)
    for mark in 0..<2 { try log.append(mark) }
    try log.replace(0)
    for mark in 2..<4 { try log.append(mark) }
    try disk.forEachPowerLoss { try SampleLog.check($0) }
    #expect(try log.content()?.frames.count == 5)
  }

  @Test func leftoversOfKilledWritersAreMadeDurable() throws {
    let disk = ModelDisk()
    let log = SampleLog(disk)
    for mark in 0..<2 { try log.append(mark) }
    try log.appendKilled(3)
    try log.append(4)
    try log.appendKilled(5)
    try log.replace(0)
    try log.replaceKilled(1)
    try log.append(6)
    try disk.forEachPowerLoss { try SampleLog.check($0) }
    #expect(try log.content()?.frames.map(\.mark) == [500, 1, 3, 4, 5, 500, 501, 6])
  }

  @Test func unfinishedFramesAreCutOff() throws {
    for count in [1, 31, 32, 200, 700] {
      let disk = ModelDisk()
      let log = SampleLog(disk)
      for mark in 0..<2 { try log.append(mark) }
      let end = try #require(try log.content()).end
      let file = try disk.open(SampleLog.path, writing: true)
      try file.write(SampleLog.Frame(3, 3).bytes.prefix(count), at: end)
      try log.append(4)
      #expect(try log.content().map { $0.size == $0.end } == true)
      try disk.forEachPowerLoss { try SampleLog.check($0) }
    }
  }

  private struct Failure: CustomTestStringConvertible {
    let error: Errno
    var written = 0
    /// How many calls fail, one after the other.
    var count = 1

    var testDescription: String { "\(error), \(written) bytes, \(count) calls" }
  }

  @Test(arguments: [
    Failure(error: .ioError), Failure(error: .noSpace, written: 100),
    Failure(error: .noSpace, written: 600, count: 2), Failure(error: .ioError, count: 3),
  ])
  private func failedWritesLeaveOldState(_ failure: Failure) throws {
    let first = ModelDisk()
    try Self.write(SampleLog(first), 3)
    for number in 0..<first.calls.count
    where ![.note, .remove].contains(first.calls[number]) {
      let disk = ModelDisk(failing: { call, _ in
        (number..<number + failure.count).contains(call)
          ? ModelDisk.Fault(failure.error, written: failure.written) : nil
      })
      let log = SampleLog(disk)
      do {
        try Self.write(log, 3)
        Issue.record("call \(number) has failed, and nobody was told")
      } catch let error as WriteFailure where failure.count == 1 {
        // A single failure is undone, unless the new file has its name already.
        let isRenamed =
          disk.calls[number] == .syncFolder && [.rename, .remove].contains(disk.calls[number - 1])
        #expect((error == .unknown(failure.error)) == isRenamed, "call \(number)")
        if error == .unchanged(failure.error) {
          let noted = disk.states.last?.notes.last.map(SampleLog.Frame.init(note:))
          #expect(try log.content()?.frames.last == noted, "call \(number)")
        }
      } catch {}
      while disk.calls.count < number + failure.count { _ = try? log.append(7) }
      // The next writer finds a state that can be written.
      try log.append(8)
      try log.append(9)
      try disk.forEachPowerLoss(limit: 6) { try SampleLog.check($0, again: 0) }
    }
  }

  private static func write(_ log: SampleLog, _ count: Int) throws {
    for mark in 0..<count { try log.append(mark) }
    try log.replace(0)
    try log.append(count)
  }

  /// On a file system whose locks don't exclude, another machine may write at the same place.
  @Test func foreignBytesAreNoticed() throws {
    let disk = ModelDisk()
    let log = SampleLog(disk)
    try log.append(0)
    let locked = try #require(
      try LockedLog.take(SampleLog.path, on: disk, until: .init(after: .zero)))
    let file = OverwrittenFile(locked.file)
    let overwritten = LockedLog(
      path: locked.path, disk: disk, file: file, status: locked.status)
    let error = #expect(throws: WriteFailure.self) {
      try overwritten.append(
        SampleLog.Frame(2, 1).bytes, at: locked.status.size, cutting: false, syncsFolder: false)
    }
    #expect(error == .unknown(.noLocks))
    #expect(try locked.file.read(locked.status.size..<locked.status.size + 5) == Data("other".utf8))
  }
}
