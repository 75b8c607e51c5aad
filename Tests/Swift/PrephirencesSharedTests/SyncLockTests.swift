import Foundation
import Prephirences
import PrephirencesFiles
import Testing

@testable import PrephirencesShared

@Suite("Lock of the sender")
struct SyncLockTests {
  private let folder: SyncFolder
  private var path: String { folder.path + "/suite.preferences" }

  init() throws { folder = try SyncFolder() }

  @Test func oneHasTheLock() throws {
    let (first, second) = (SenderLock(besides: path), SenderLock(besides: path))
    #expect(SenderLock.holder(besides: path) == nil)
    #expect(try first.tryTake())
    #expect(try !second.tryTake())
    #expect(SenderLock.holder(besides: path) == getpid())
    first.release()
    #expect(SenderLock.holder(besides: path) == nil)
    #expect(try second.tryTake())
  }

  @Test func removedFileIsMadeAnew() throws {
    let (first, second) = (SenderLock(besides: path), SenderLock(besides: path))
    #expect(try first.tryTake())
    #expect(try !second.tryTake())
    try FileManager.default.removeItem(atPath: path + SenderLock.suffix)
    #expect(try second.tryTake())
    #expect(SenderLock.holder(besides: path) == getpid())
  }

  @Test func fileOfOthersIsRefused() throws {
    let isMade = FileManager.default.createFile(
      atPath: path + SenderLock.suffix, contents: nil, attributes: [.posixPermissions: 0o666])
    #expect(isMade)
    let error = #expect(throws: PreferencesError.self) {
      _ = try SenderLock(besides: path).tryTake()
    }
    #expect(error?.code == .insecure)
  }

  @Test func requestOfAnotherProcessIsSeen() throws {
    let lock = SenderLock(besides: path)
    #expect(try lock.tryTake())
    let before = lock.retryRequest
    SenderLock.requestRetry(besides: path)
    let after = lock.retryRequest
    #expect(after != before && after.count == 8)
    #expect(SenderLock.holder(besides: path) == getpid())
  }

  @Test func delaysGrowToTheirGreatest() {
    var backoff = Backoff(from: .milliseconds(100), to: .seconds(1))
    let delays = (0..<6).map { _ in backoff.delay() }
    for (delay, greatest) in zip(delays, [100, 200, 400, 800, 1000, 1000]) {
      #expect(delay <= .milliseconds(greatest) && delay >= .milliseconds(greatest / 2))
    }
    backoff.reset()
    #expect(backoff.delay() <= .milliseconds(100))
  }
}
