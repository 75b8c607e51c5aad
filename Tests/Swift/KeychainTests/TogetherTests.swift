import Foundation
import Keychain
import KeychainVault
import Prephirences
import Testing

/// Several values in one step.
@Suite("Several values in one step")
struct TogetherTests {
  private struct Stop: Error {}

  private let machine: Machine
  private let keychain: KeychainPreferences

  init() throws {
    machine = try Machine()
    keychain = KeychainPreferences(service: "s", store: machine.store())
    try keychain.set(["a": "1", "b": 2, "c": "3"])
  }

  /// The number of the vault's newest commit.
  private func commits() throws -> UInt64 { try #require(try machine.vault().status().counter) }

  @Test func valuesAreOneCommit() throws {
    #expect(try keychain.string(for: "a") == "1")
    #expect(try keychain.value(Int.self, for: "b") == 2)
    let before = try commits()
    try keychain.set(["a": "new", "b": nil, "d": Date(timeIntervalSince1970: 0)])
    #expect(try commits() == before + 1)
    #expect(try keychain.allKeys() == ["a", "c", "d"])
    keychain.set(dictionary: ["e": "5", "f": 6])
    #expect(try commits() == before + 2)
    #expect(keychain.lastError == nil)
    try keychain.removeAll()
    #expect(try commits() == before + 3)
    #expect(try keychain.allKeys() == [])
  }

  @Test func valuesAreOneCommitOfAVault() throws {
    let keychain = KeychainPreferences(service: "s", store: machine.vault())
    let before = try commits()
    try keychain.set(["a": "new", "z": "26"])
    #expect(try commits() == before + 1)
    keychain.clearAll()
    #expect(try commits() == before + 2)
    let keys = try keychain.allKeys()
    #expect(keys == [])
  }

  @Test func nothingIsStoredIfOneCannotBe() throws {
    let long = String(repeating: "x", count: Credential.maximumSecretCount + 1)
    expect(.tooLarge) { try keychain.set(["a": "new", "b": long]) }
    #expect(try keychain.string(for: "a") == "1")
    keychain.set(dictionary: ["a": "new", "b": long])
    #expect(keychain.lastError?.code == .tooLarge)
    #expect(try keychain.string(for: "a") == "1")
  }

  @Test func otherStoresGetThemOneByOne() throws {
    let store = FailingStore()
    let keychain = preferences(store)
    try keychain.set(["a": "1", "b": "2"])
    #expect(store.writes == 2)
    #expect(try keychain.string(for: "b") == "2")
    try keychain.removeAll()
    #expect(try keychain.allKeys() == [])
  }

  @Test func transactionOfAServiceStaysInIt() throws {
    let store = machine.store()
    try store.withTransaction(serviceOf: .item("a")) { transaction in
      try transaction.set(Credential(.item("t")), secret: SecretBytes(copying: "t"))
    }
    #expect(try store.text("t") == "t")
    expect(.refused) {
      try store.withTransaction(serviceOf: .item("a")) { transaction in
        _ = try transaction.set(
          Credential(.item("t", service: "other")), secret: SecretBytes(copying: "t"))
      }
    }
    #expect(throws: Stop.self) {
      try store.withTransaction(serviceOf: .item("a")) { transaction in
        try transaction.remove(.item("t"))
        throw Stop()
      }
    }
    #expect(try store.text("t") == "t")
  }

  @Test func newServiceGetsItsStore() throws {
    let store = machine.store()
    let before = machine.records.count
    try store.withTransaction(serviceOf: .item("n", service: "new")) { transaction in
      try transaction.set(
        Credential(.item("n", service: "new")), secret: SecretBytes(copying: "n"))
    }
    #expect(machine.records.count == before + 1)
    #expect(try machine.vault().text("n", service: "new") == "n")
  }

  @Test func keyringHasNoTransactions() throws {
    let store = machine.store(["KEYCHAIN_STORE": "secret-service"])
    expect(.refused) { try store.withTransaction(serviceOf: .item("a")) { _ in } }
    #expect(try machine.store().text("a") == "1")
  }

  @Test(arguments: [false, true])
  func emptyTransactionMakesNoVault(isVault: Bool) throws {
    let machine = try Machine()
    let path = machine.folder.path + "/data/keychain/vault"
    let keychain =
      isVault
      ? KeychainPreferences(service: "s", store: machine.vault())
      : KeychainPreferences(service: "s", store: machine.store())
    try keychain.set(["a": nil, "b": nil])
    let long = String(repeating: "x", count: Credential.maximumSecretCount + 1)
    let error = #expect(throws: KeychainError.self) { try keychain.set(["a": long, "b": "x"]) }
    #expect(error?.code == .tooLarge)
    #expect(!FileManager.default.fileExists(atPath: path))
    let files = FileManager.default.subpaths(atPath: machine.folder.path) ?? []
    #expect(!files.contains { $0.contains("/stores/") || $0.hasSuffix("device.key") }, "\(files)")
  }

  @Test func absentKeysWaitForNobody() throws {
    let quick = machine.store { $0.vault.deadline = .milliseconds(100) }
    let keychain = KeychainPreferences(service: "s", store: quick)
    #expect(try keychain.string(for: "a") == "1")
    try machine.vault().withTransaction { _ in
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        #expect(throws: Never.self) { try keychain.set(["none": nil, "no one": nil]) }
        done.signal()
      }
      thread.start()
      done.wait()
    }
  }
}
