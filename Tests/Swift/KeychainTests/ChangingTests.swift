import Foundation
import Keychain
import KeychainVault
import PrephirencesSystem
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStores

/// What happens before the lock of the choice is taken, and what while it is held.
@Suite("Changes through the choice of store", .timeLimit(.minutes(10)))
struct ChangingTests {
  private let machine: Machine

  init() throws { machine = try Machine() }

  private var lock: ChoiceLock {
    ChoiceLock(StateFolder(environment: EnvironmentVariables(machine.environment)))
  }

  /// Returns a handle that asks for the passphrase, and counts how often the lock was free at that
  /// moment.
  private func askingStore(
    _ asked: Record<Bool>, _ change: (inout AutomaticStore.Configuration) -> Void = { _ in }
  ) -> AutomaticStore {
    let lock = lock
    return machine.store {
      $0.vault.interaction = .allowed { _ throws(KeychainError) in
        let held = try? lock.exclusive(within: .zero)
        asked.add(held != nil)
        return try Self.secret("p")
      }
      change(&$0)
    }
  }

  private static func secret(_ text: String) throws(KeychainError) -> SecretBytes {
    try SecretBytes(copying: text)
  }

  private func makeLockedVault() throws {
    let vault = machine.store { $0.vault.passwordHash = Self.cheap }.vault
    try vault.create(passphrase: SecretBytes(copying: "p"), keyFile: nil, device: true)
    try vault.lock(all: true)
  }

  private static let cheap = PasswordHash.Parameters.interactive

  @Test func noQuestionWhileHoldingLock() throws {
    try makeLockedVault()
    let asked = Record<Bool>()
    let store = askingStore(asked)
    try store.put("a", "1")
    #expect(asked.values == [true])
    #expect(try store.text("a") == "1")
    try store.vault.lock(all: true)
    #expect(try store.remove(.item("a")))
    #expect(asked.values == [true, true])
  }

  /// Its keys are dropped right after use, so the answer itself must be enough.
  @Test func aVaultThatKeepsNoKeysAsksOnce() throws {
    try makeLockedVault()
    let asked = Record<Bool>()
    let store = askingStore(asked) { $0.vault.idleTime = .zero }
    try store.put("a", "1")
    #expect(asked.values == [true])
  }

  @Test func refusedQuestionChangesNothing() throws {
    try makeLockedVault()
    let store = machine.store {
      $0.vault.interaction = .allowed { _ throws(KeychainError) in nil }
    }
    expect(.cancelled) { try store.put("a") }
    _ = try lock.exclusive(within: .zero)
  }

  /// The passphrase of a new vault is presented and hashed before.
  @Test func aNewVaultIsMadeBeforeTheLock() throws {
    let lock = lock
    let presented = Record<Bool>()
    let store = machine.store {
      $0.vault.passwordHash = Self.cheap
      $0.vault.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        let held = try? lock.exclusive(within: .zero)
        presented.add(held != nil)
        return try Self.secret("p")
      }
    }
    try store.put("a", "1")
    #expect(!presented.values.isEmpty && presented.values.allSatisfy { $0 })
    #expect(try store.text("a") == "1")
  }

  /// Looking for a provider may take time.
  @Test func theDesktopIsLookedAtBeforeTheLock() throws {
    let lock = lock
    let wasFree = Record<Bool>()
    let bus = try SilentBus(at: machine.folder.path + "/bus") {
      let held = try? lock.exclusive(within: .zero)
      wasFree.add(held != nil)
    }
    let store = machine.store(bus.environment)
    // It ends the connection, which says nothing about a keyring.
    expect(.busy) { try store.put("a") }
    #expect(!wasFree.values.isEmpty && wasFree.values.allSatisfy { $0 })
    #expect(machine.newNotices().isEmpty)
  }

  @Test func changesWaitForMigrationButReadsDont() throws {
    let store = machine.store { $0.vault.deadline = .milliseconds(300) }
    try machine.store().put("a", "1")
    do {
      let alone = try lock.exclusive(within: .zero)
      expect(.busy) { try store.put("a", "2") }
      expect(.busy) { try store.update(.item("a"), with: CredentialUpdate(label: .set("l"))) }
      expect(.busy) { try store.rename(.item("a"), to: .item("b")) }
      expect(.busy) { try store.remove(.item("a")) }
      #expect(try store.text("a") == "1")
      #expect(try store.search(CredentialQuery(service: "s")).credentials.count == 1)
      #expect(try store.search(CredentialQuery()).credentials.count == 1)
      // A handle that names the store skips the choice.
      try machine.store { $0.choice = .vault }.put("b", "2")
      extendLifetime(alone)
    }
    try store.put("a", "3")
    #expect(try store.text("a") == "3")
  }

  @Test func aChangeOverBetweenLooksIsNoticed() throws {
    try machine.store().put("a", "1")
    let store = machine.store()
    var count = 0
    let service = ServiceName(CredentialIdentity.item("a"))
    let found = try store.unmoved(service) { () throws(KeychainError) in
      count += 1
      if count < 3 { try store.records.move(service, to: .vault) }
      return try store.credential(for: .item("a"))
    }
    #expect(found != nil && count == 3)
    for changed in [service, nil] as [ServiceName?] {
      expect(.busy) {
        try store.unmoved(changed) { () throws(KeychainError) in
          try store.records.move(service, to: .vault)
        }
      }
    }
    // Whoever reads one service is not disturbed by another.
    try store.unmoved(service) { () throws(KeychainError) in
      try store.records.move(
        ServiceName(CredentialIdentity.item("b", service: "other")), to: .vault)
    }
  }
}

/// A session bus that closes every connection.
private final class SilentBus: Sendable {
  private let path: String
  private let descriptor: CInt
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Listens at a path, and calls `greet` when a client waits for an answer.
  init(at path: String, greet: @escaping @Sendable () -> Void) throws {
    self.path = path
    descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound && listen(descriptor, 8) == 0)
    Thread { [descriptor, hasEnded] in
      while true {
        let guest = accept(descriptor, nil, nil)
        guard guest >= 0 else { break }
        greet()
        close(guest)
      }
      hasEnded.signal()
    }.start()
  }

  deinit {
    // Ends the call that waits for a client.
    shutdown(descriptor, CInt(SHUT_RDWR))
    hasEnded.wait()
    close(descriptor)
  }

  var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"] }
}
