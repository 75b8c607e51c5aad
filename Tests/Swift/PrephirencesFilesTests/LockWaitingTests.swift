import Foundation
import Glibc
import SystemPackage
import Testing

@testable import PrephirencesSystem

@Suite("Waiting for locks")
struct LockWaitingTests {
  private final class Place: Sendable {
    let path = NSTemporaryDirectory() + "/lock-waiting-\(UUID().uuidString)"

    deinit { unlink(path) }

    func open() throws -> FileDescriptor { try PrivateFile.open(path, .readWrite, flags: O_CREAT) }
  }

  private let place = Place()
  private let hour = Deadline(after: .seconds(3600))

  @Test func waitingLockIsHandedOver() throws {
    let holder = try place.open()
    let waiting = try place.open()
    #expect(try FileLock.tryLock(holder, .exclusive))
    let start = ContinuousClock.now
    Thread.detachNewThread {
      usleep(20_000)
      flock(holder.rawValue, LOCK_UN)
    }
    #expect(try FileLock.lock(waiting, .exclusive, hour))
    #expect(.now - start >= .milliseconds(20))
    // The lock is that of the caller's descriptor, which is not inherited by programs.
    #expect(try !FileLock.tryLock(holder, .shared))
    #expect(fcntl(waiting.rawValue, F_GETFD) == FD_CLOEXEC)
    try waiting.close()
    #expect(try FileLock.tryLock(holder, .exclusive))
    try holder.close()
  }

  @Test func abandonedWaitTakesNoLockLater() throws {
    let holder = try place.open()
    let waiting = try place.open()
    #expect(try FileLock.tryLock(holder, .exclusive))
    let start = ContinuousClock.now
    #expect(try !FileLock.lock(waiting, .exclusive, Deadline(after: .milliseconds(30))))
    #expect(.now - start >= .milliseconds(30))
    // A caller that gets the lock later by the same descriptor keeps it.
    flock(holder.rawValue, LOCK_UN)
    #expect(try FileLock.lock(waiting, .exclusive, hour))
    for _ in 0..<20 {
      usleep(1000)
      #expect(try !FileLock.tryLock(holder, .exclusive))
    }
    try waiting.close()
    #expect(try FileLock.lock(holder, .exclusive, hour))
    try holder.close()
  }

  @Test func sharedLocksWaitForTheirExclusiveOne() throws {
    let holder = try place.open()
    let readers = try [place.open(), place.open()]
    #expect(try FileLock.tryLock(holder, .exclusive))
    Thread.detachNewThread {
      usleep(10_000)
      flock(holder.rawValue, LOCK_UN)
    }
    for reader in readers { #expect(try FileLock.lock(reader, .shared, hour)) }
    for file in readers + [holder] { try file.close() }
  }
}
