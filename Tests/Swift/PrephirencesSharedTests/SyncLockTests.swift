import Foundation
import Prephirences
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

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

  @Test func removedFileIsCreatedAgain() throws {
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
    let none = SenderLock.retryRequest(besides: path)
    let lock = SenderLock(besides: path)
    #expect(try lock.tryTake())
    // A lock that is taken for the first time asks nobody.
    #expect(SenderLock.retryRequest(besides: path) == none)
    let before = SenderLock.retryRequest(besides: path)
    SenderLock.requestRetry(besides: path)
    #expect(SenderLock.retryRequest(besides: path) != before)
    #expect(SenderLock.holder(besides: path) == getpid())
  }

  /// The child may use nothing of its parent, so it would keep the lock and send nothing.
  @Test func forkedChildKeepsNoLock() async {
    await #expect(processExitsWith: .success) {
      let folder = try SyncFolder()
      let path = folder.path + "/suite.preferences"
      // Swift forbids to call it by name.
      let address = try #require(dlsym(nil, "fork"))
      let fork = unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)
      var ends: [CInt] = [0, 0]
      #expect(pipe(&ends) == 0)
      let parent = fork()
      if parent == 0 {
        guard (try? SenderLock(besides: path).tryTake()) == true else { _exit(1) }
        let lock = SenderLock(besides: path)
        guard (try? lock.tryTake()) == true else { _exit(2) }
        if fork() == 0 {
          close(ends[1])
          var byte: UInt8 = 0
          _ = read(ends[0], &byte, 1)
          _exit(0)
        }
        // As if killed: nothing is unlocked.
        _exit(0)
      }
      var status: Int32 = -1
      waitpid(parent, &status, 0)
      #expect(status == 0)
      // The child may not have run yet.
      let lock = SenderLock(besides: path)
      let end = ContinuousClock.now + .seconds(20)
      var isTaken = try lock.tryTake()
      while !isTaken, ContinuousClock.now < end {
        usleep(1000)
        isTaken = try lock.tryTake()
      }
      #expect(isTaken)
      close(ends[1])
    }
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
