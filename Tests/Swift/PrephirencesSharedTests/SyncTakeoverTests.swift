import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

@Suite("One sender for each file")
struct SyncTakeoverTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()

  init() throws { cluster = try .any }

  @Test func nextWorkerTakesTheLock() throws {
    let first = try SyncMachine(cluster, prefix)
    try first.set("1", "key")
    try first.flush()
    let second = try SyncMachine(cluster, prefix, in: first.folder, isOther: true)
    let path = try first.replica.filePath()
    #expect(SenderLock.holder(besides: path) == getpid())
    // The second one waits for what the first one sends.
    try second.set("2", "key")
    try second.flush()
    first.worker.stop(.test)
    try second.set("3", "key")
    try second.flush()
    #expect(SenderLock.holder(besides: path) == getpid())
    second.worker.stop(.test)
    #expect(SenderLock.holder(besides: path) == nil)
  }

  /// The kernel reports the end of a process before it frees its locks.
  @Test func workerTakesTheLockOfAKilledProcess() throws {
    let folder = try SyncFolder()
    let path = folder.path + "/suite.preferences"
    let holder = Process()
    holder.executableURL = URL(filePath: "/usr/bin/env")
    holder.arguments = [
      "python3", "-c",
      """
      import fcntl, os, sys, time
      file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
      fcntl.flock(file, fcntl.LOCK_EX)
      os.write(file, b"%-15d\\n" % os.getpid())
      print("locked", flush=True)
      sys.stdin.read()
      """, path + SenderLock.suffix,
    ]
    let (input, output) = (Pipe(), Pipe())
    holder.standardInput = input
    holder.standardOutput = output
    try holder.run()
    #expect(output.fileHandleForReading.availableData.count > 0)
    #expect(SenderLock.holder(besides: path) == holder.processIdentifier)
    let machine = try SyncMachine(cluster, prefix, in: folder)
    try machine.set("1", "key")
    let error = #expect(throws: PreferencesError.self) {
      try machine.worker.flush(Deadline(after: .milliseconds(300)))
    }
    #expect(error?.code == .timedOut)
    kill(holder.processIdentifier, SIGKILL)
    holder.waitUntilExit()
    let start = ContinuousClock.now
    try machine.flush()
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(SenderLock.holder(besides: path) == getpid())
  }

  @Test func closureOfAWaitingWorkerDecides() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("old", "key")
    try one.flush()
    let two = try SyncMachine(cluster, prefix)
    try two.waitFor("old", "key")
    var settings = try two.replica.state().settings
    settings.programDecides = true
    try two.replica.share(settings)
    two.worker.stop(.test)
    try two.set("two", "key")
    try one.set("one", "key")
    try one.flush()
    // This one sends, and has no closure.
    let sending = try SyncMachine(cluster, prefix, in: two.folder, isOther: true)
    try sending.wait("the conflict") { try !sending.replica.conflicts().isEmpty }
    let deciding = try SyncMachine(cluster, prefix, in: two.folder) { _ in .keepLocal }
    try one.waitFor("two", "key")
    extendLifetime(deciding)
  }

  @Test func statusNamesTheSender() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("1", "key")
    try one.flush()
    let status = try #require(try SyncStatus.of(one.replica))
    #expect(status.process == getpid() && status.conflicts.isEmpty)
    #expect(status.state.unsentKeys == 0 && status.state.report?.lastContact != nil)
  }
}
