import Dispatch
import Foundation
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Testing

/// Which calls a transaction's closure must not make.
@Suite("Calls during a transaction")
struct TransactionPlaceTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a")
  }

  /// Begins a transaction on another thread, which lasts for half a second.
  private func hold(_ handle: Vault) {
    let begun = DispatchSemaphore(value: 0)
    let thread = Thread {
      _ = try? handle.withTransaction { _ in
        begun.signal()
        Thread.sleep(forTimeInterval: 0.5)
      }
    }
    thread.start()
    begun.wait()
  }

  @Test func anotherVaultIsWaitedFor() throws {
    let other = try TestVault()
    try other.handle().put("a")
    let handle = other.handle()
    try vault.handle().withTransaction { _ in
      hold(other.handle())
      try handle.put("b")
    }
    #expect(try handle.text("b") != nil)
  }

  @Test func aTransactionOfAnotherVaultWithinKnowsTheOuterOne() throws {
    let other = try TestVault()
    let second = vault.handle()
    let error = #expect(throws: KeychainError.self) {
      try vault.handle().withTransaction { _ in
        try other.handle().withTransaction { _ in try second.put("b") }
      }
    }
    #expect(error?.code == .refused)
  }

  private static func begin(
    _ body: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, any Error> {
    Task { try await body() }
  }

  @Test func aTaskBegunWithinWaitsOnceTheTransactionIsOver() async throws {
    let gate = AsyncStream<Void>.makeStream()
    let worker = vault.handle()
    let task = try vault.handle().withTransaction { _ in
      Self.begin {
        for await _ in gate.stream { break }
        try worker.put("b")
      }
    }
    hold(vault.handle())
    gate.continuation.yield()
    try await task.value
    #expect(try worker.text("b") != nil)
  }
}
