import FaultTesting
import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Synchronization
import Testing

@Suite("Many use one vault at once", .timeLimit(.minutes(14)))
struct ConcurrencyTests {
  @Test(arguments: [true, false])
  func threads(_ areSharing: Bool) throws {
    let vault = try TestVault()
    let shared = vault.handle()
    let failures = Mutex<[String]>([])
    concurrently(8) { thread in
      let handle = areSharing ? shared : vault.handle()
      do {
        for number in 0..<20 {
          let account = "\(thread)-\(number)"
          try handle.put(account, "secret of \(account)")
          let found = try handle.text(account)
          if found != "secret of \(account)" { throw Lost(account: account) }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try vault.handle().search(CredentialQuery()).credentials.count == 160)
    #expect(try vault.handle().verify().problems == [])
  }

  /// Writing down a recovery code takes longer than a deadline; another writer may then hold the
  /// vault, and the usual wait applies.
  @Test func typingTimeDoesNotCountForDeadline() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    let slow = vault.handle { $0.deadline = .milliseconds(800) }
    // A stalled machine may also use up the time, but not at each attempt.
    var isAdded = false
    for _ in 0..<10 where !isAdded {
      let ending = DispatchGroup()
      let slot = try? slow.addRecoveryCodeSlot { _ in
        Thread.sleep(forTimeInterval: 0.9)
        guard let holder = try? Holder(vault) else { return false }
        ending.enter()
        Thread.detachNewThread {
          Thread.sleep(forTimeInterval: 0.1)
          holder.end()
          ending.leave()
        }
        return true
      }
      isAdded = slot != nil
      ending.wait()
    }
    #expect(isAdded)
    #expect(try vault.handle().slots().count == 2)
  }

  @Test func processesThatMakeTheVaultTogether() throws {
    let vault = try TestVault()
    let ended = Mutex<[(process: Int, lines: [String], status: Int32)]>([])
    concurrently(20) { process in
      guard let child = try? Child(["items", "\(process)-", "10"], on: vault) else { return }
      let (lines, status) = child.ended()
      ended.withLock { $0.append((process, lines, status)) }
    }
    let children = ended.withLock { $0 }
    #expect(children.map(\.status) == Array(repeating: 0, count: 20))
    let handle = vault.handle()
    for child in children {
      #expect(child.lines.count == 10)
      for number in child.lines {
        let account = "\(child.process)-\(number)"
        #expect(try handle.text(account) == "secret of \(account)")
      }
    }
    #expect(try handle.verify().problems == [])
    let state = try FileManager.default.subpathsOfDirectory(atPath: vault.folder.path + "/state")
    #expect(state.filter { $0.contains("device.key") } == ["keychain/device.key"])
  }

  /// Each replaces the number that it has read, and only that.
  @Test func processesThatCountTogether() throws {
    let vault = try TestVault()
    let failures = Mutex(0)
    let count = Thoroughness.counted
    concurrently(16) { _ in
      let status = (try? Child(["count", "\(count)"], on: vault))?.ended().status
      if status != 0 { failures.withLock { $0 += 1 } }
    }
    #expect(failures.withLock { $0 } == 0)
    #expect(try vault.handle().text("counter") == "\(16 * count)")
    #expect(try vault.handle().verify().problems == [])
  }

  /// What another process has acknowledged, an open handle finds at once: after an append, a new base,
  /// and a file of the same length.
  @Test(arguments: ["items", "bases"])
  func readersAreNeverStale(_ command: String) throws {
    let vault = try TestVault()
    let open = vault.handle()
    let child = try Child(command == "items" ? ["items", "k"] : ["bases"], on: vault)
    for _ in 0..<60 {
      let line = child.line()
      let number = try #require(line.flatMap { Int($0) })
      for handle in [open, vault.handle()] {
        if command == "items" {
          #expect(try handle.text("k\(number)") == "secret of k\(number)")
        } else {
          let text = try #require(try handle.text("k\(number % 7)"))
          // It may have been replaced since.
          #expect(try #require(Int(text)) >= number)
        }
      }
    }
    _ = child.killed()
  }

  @Test func aWriterWaitsForAnotherAndGivesUp() throws {
    let vault = try TestVault()
    try vault.handle().put("a", "one")
    let holder = try Holder(vault)
    let start = ContinuousClock.now
    let error = #expect(throws: KeychainError.self) {
      try vault.handle { $0.deadline = .milliseconds(200) }.put("a", "two")
    }
    #expect(error?.code == .busy)
    // Less than the deadline of all other handles.
    #expect((.milliseconds(200) ..< .seconds(30)).contains(ContinuousClock.now - start))
    holder.end()
    #expect(try vault.handle().text("a") == "one")
    try vault.handle().put("a", "two")
    #expect(try vault.handle().text("a") == "two")
  }

  private struct Lost: Error {
    let account: String
  }
}
