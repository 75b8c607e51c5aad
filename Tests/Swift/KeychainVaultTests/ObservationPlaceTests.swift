import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// The file of an observed vault appears, disappears and is replaced.
@Suite("Observing a vault that is not always there", .timeLimit(.minutes(10)))
struct ObservationPlaceTests {
  private let files = FileManager.default

  @Test func theVaultMayBeMadeLater() async throws {
    let vault = try TestVault()
    let recorder = ChangeRecorder(vault.handle())
    #expect(!files.fileExists(atPath: vault.folder.path + "/data"))
    try vault.handle().put("a")
    #expect(try await recorder.waited(for: 1) == [.added("a")])
    try vault.handle().put("b")
    #expect(try await recorder.waited(for: 2).last == .added("b"))
  }

  @Test func missingVaultReportsNoRemovals() async throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    let recorder = ChangeRecorder(vault.handle())
    let (folder, away) = (vault.folder.path + "/data/keychain", vault.folder.path + "/away")
    try files.moveItem(atPath: folder, toPath: away)
    #expect(try await recorder.waited(for: 0) == [])
    try files.moveItem(atPath: away, toPath: folder)
    try vault.handle().put("b")
    #expect(try await recorder.waited(for: 1) == [.added("b")])
    // Moves a folder above the vault's own folder.
    try files.moveItem(atPath: vault.folder.path + "/data", toPath: away)
    #expect(try await recorder.waited(for: 1) == [.added("b")])
    try files.moveItem(atPath: away, toPath: vault.folder.path + "/data")
    try vault.handle().remove(.test("a"))
    #expect(try await recorder.waited(for: 2).last == .removed("a"))
  }

  @Test func recreatedVaultReportsItsItems() async throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    try vault.handle().put("b")
    let recorder = ChangeRecorder(vault.handle())
    try files.removeItem(atPath: vault.path)
    try vault.handle().create(startingAnew: true)
    try vault.handle().put("c")
    let changes = try await recorder.waited(for: 3)
    // The device key is the same, but the root key is not: removed items can no longer be named.
    #expect(
      Set(changes) == [
        CredentialChange(nil, .removed), CredentialChange(nil, .removed), .added("c"),
      ])
    #expect(changes.count == 3)
  }

  @Test func olderCopyReportsNothingUntilAccepted() async throws {
    let vault = try TestVault()
    let other = vault.handle()
    try other.put("a")
    let copy = vault.folder.path + "/copy.db"
    try files.copyItem(atPath: vault.path, toPath: copy)
    try other.put("a", "newer")
    try other.put("b")
    let recorder = ChangeRecorder(vault.handle())
    #expect(rename(copy, vault.path) == 0)
    #expect(try await recorder.waited(for: 0, thenStillFor: .milliseconds(200)) == [])
    #expect(try vault.handle().acceptRestored { _ in true })
    #expect(Set(try await recorder.waited(for: 2)) == [.removed("b"), .updated("a")])
  }

  @Test func nothingIsLeftOfAnObservation() async throws {
    await #expect(processExitsWith: .success) {
      let vault = try TestVault()
      let handle = vault.handle()
      try handle.put("a")
      let before = try (Self.descriptors(), Self.observerThreads())
      for _ in 0..<20 {
        let recorders = [ChangeRecorder(handle), ChangeRecorder(handle)]
        for recorder in recorders { recorder.stop() }
      }
      let last = ChangeRecorder(vault.handle())
      try handle.put("b")
      #expect(try await last.waited(for: 1) == [.added("b")])
      // Threads may end late on a busy machine.
      #expect(Self.eventually { Self.observerThreads() == 1 }, "\(Self.observerThreads()) threads")
      last.stop()
      // The handle itself may be gone by then.
      let isClean = try Self.eventually {
        try Self.observerThreads() == 0 && Self.descriptors().isSubset(of: before.0)
      }
      if isClean { return }
      let left = try Self.descriptors().subtracting(before.0).compactMap(Self.target)
      Issue.record("left: \(left), \(Self.observerThreads()) threads")
    }
  }

  /// inotify_init1 fails if no descriptor is free; on other machines a user's limits are reached
  /// first.
  @Test func ownChangesAreReportedWithoutKernelEvents() async throws {
    await #expect(processExitsWith: .success) {
      let vault = try TestVault()
      let told = Told()
      let handle = vault.handle { $0.notice = { told.add($0) } }
      try handle.put("a")
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
      var none = limit
      none.rlim_cur = 0
      setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &none)
      let recorder = ChangeRecorder(handle)
      setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
      #expect(told.kinds.last == .observationUnavailable)
      try handle.put("b")
      #expect(recorder.changes == [.added("b")])
      recorder.stop()
      // The next observation tries again.
      let again = ChangeRecorder(handle)
      try vault.handle().put("c")
      #expect(try await again.waited(for: 1) == [.added("c")])
    }
  }

  /// A program closed the descriptor of the notifications, and the thread had ended for good.
  @Test func aBrokenWatchBeginsAgain() async throws {
    await #expect(processExitsWith: .success) {
      let vault = try TestVault()
      let told = Told()
      let handle = vault.handle { $0.notice = { told.add($0) } }
      let other = vault.handle()
      try handle.put("a")
      let recorder = ChangeRecorder(handle)
      try other.put("b")
      #expect(try await recorder.waited(for: 1) == [.added("b")])
      for name in try Self.descriptors() where (Self.target(name) ?? "").contains("inotify") {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(dup2(null, Int32(name) ?? -1) >= 0)
        close(null)
      }
      try other.put("c")
      #expect(try await recorder.waited(for: 2) == [.added("b"), .added("c")])
      try other.put("d")
      #expect(try await recorder.waited(for: 3).last == .added("d"))
      #expect(!told.kinds.contains(.observationUnavailable))
    }
  }

  @Test func anOwnChangeBeginsAWatchThatWasImpossible() async throws {
    await #expect(processExitsWith: .success) {
      let vault = try TestVault()
      let handle = vault.handle()
      let other = vault.handle()
      try handle.put("a")
      try other.put("b")
      // Without descriptors, it can go on from what it has read.
      #expect(try handle.text("b") != nil)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
      var none = limit
      none.rlim_cur = 0
      setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &none)
      let recorder = ChangeRecorder(handle)
      setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
      try other.put("missed")
      // It tries again once a second at most.
      usleep(1_100_000)
      try handle.put("c")
      try other.put("d")
      let seen = try await recorder.waited(for: 3)
      #expect(Set(seen) == [.added("missed"), .added("c"), .added("d")])
    }
  }

  @Test func descriptorsAreNotInherited() async throws {
    await #expect(processExitsWith: .success) {
      let vault = try TestVault()
      let handle = vault.handle()
      let recorder = ChangeRecorder(handle)
      for name in try Self.descriptors() where (Self.target(name) ?? "").contains("inotify") {
        #expect(fcntl(Int32(name) ?? -1, F_GETFD) & FD_CLOEXEC != 0)
      }
      extendLifetime(recorder)
    }
  }

  private static func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<6000 {
      if try condition() { return true }
      usleep(10_000)
    }
    return try condition()
  }

  private static func descriptors() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))
      .filter { descriptor in
        // The runtime opens some itself when they are first needed.
        let target = target(descriptor) ?? ""
        return ["inotify", "keychain/vault", "mountinfo"].contains { target.contains($0) }
      }
  }

  private static func target(_ descriptor: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)
  }

  private static func observerThreads() -> Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.count { task in
      let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
      return name == "vault-observer\n"
    }
  }
}
