internal import Foundation
internal import Keychain
internal import Testing

@Suite("Detailed, expired and changed values", .timeLimit(.minutes(10)))
struct ChangedValueTests {
  private let later = Date(timeIntervalSinceReferenceDate: 2_000_000_000)

  @Test func detailsAreSetInOneStepAndStay() throws {
    let store = FailingStore()
    let keychain = preferences(store)
    try keychain.set(
      "1", for: "k", expires: later, label: "L", comment: "C", attributes: ["a": "1", "b": "2"])
    #expect(store.writes == 1)
    try keychain.set("2", for: "k", expires: nil, attributes: ["b": "3"])
    let credential = try #require(try keychain.credential(for: "k"))
    #expect(credential.expires == nil && credential.label == "L" && credential.comment == "C")
    #expect(credential.attributes == ["a": "1", "b": "3"])
    #expect(try keychain.string(for: "k") == "2")
    try keychain.set(SecretBytes(copying: "3"), for: "k", expires: later, label: "M")
    try keychain.set(try SecretBytes(copying: "4"), for: "k", expires: later, comment: "D")
    let last = try #require(try keychain.credential(for: "k"))
    #expect(last.label == "M" && last.comment == "D" && last.expires == later)
    #expect(last.contentType == nil)
    try keychain.set(nil, for: "k", expires: later, label: "L")
    #expect(try !keychain.contains("k"))
  }

  @Test func aLabelNeedsNoExpiry() throws {
    let store = FailingStore()
    let keychain = preferences(store)
    func expect(
      _ text: String?, _ label: String?, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let credential = try keychain.credential(for: "k")
      #expect(try keychain.string(for: "k") == text, sourceLocation: sourceLocation)
      #expect(credential?.label == label, sourceLocation: sourceLocation)
      #expect(credential?.expires == nil, sourceLocation: sourceLocation)
    }
    try keychain.set("0", for: "k", expires: .distantPast, label: "L")
    try keychain.set("1", for: "k", label: "M", comment: "C", attributes: ["a": "1"])
    #expect(store.writes == 2)
    try expect("1", "M")
    #expect(try keychain.credential(for: "k")?.attributes == ["a": "1"])
    try keychain.set(try SecretBytes(copying: "2"), for: "k", label: nil, comment: "D")
    try expect("2", "M")
    #expect(try keychain.credential(for: "k")?.comment == "D")
    try keychain.set(nil, for: "k", label: "P")
    try expect(nil, nil)
  }

  @Test func expiredValuesAreReadWhenAskedFor() throws {
    let keychain = preferences()
    try keychain.set(5, for: "k", expires: .distantPast)
    for allowing in [true, false] {
      func check<Value: Equatable>(_ value: Value, _ read: () throws -> Value?) throws {
        if allowing { return #expect(try read() == value) }
        let error = #expect(throws: KeychainError.self) { _ = try read() }
        #expect(error?.code == .expired)
      }
      try check("5") { try keychain.string(for: "k", allowingExpired: allowing) }
      try check(Data("5".utf8)) { try keychain.data(for: "k", allowingExpired: allowing) }
      try check(5) { try keychain.value(for: "k", allowingExpired: allowing) as? Int }
      try check(5) { try keychain.value(Int.self, for: "k", allowingExpired: allowing) }
      try check(1) { try keychain.secret(for: "k", allowingExpired: allowing)?.count }
    }
    #expect(try keychain.string(for: "none", allowingExpired: true) == nil)
  }

  @Test func noUpdateIsLost() async throws {
    let machine = try Machine()
    for store in [InMemoryCredentialStore(), machine.store()] as [any CredentialStore] {
      let keychain = preferences(store)
      try await withThrowingTaskGroup { group in
        for _ in 0..<20 {
          group.addTask {
            try await keychain.perform {
              _ = try $0.update(Int.self, for: "n", deadline: .seconds(300)) { $0 = ($0 ?? 0) + 1 }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try keychain.value(Int.self, for: "n") == 20)
      #expect(try keychain.update(Int.self, for: "n") { $0 = ($0 ?? 0) + 1 } == 21)
    }
  }

  @Test func anUpdateAddsChangesAndRemoves() throws {
    let store = FailingStore()
    let keychain = preferences(store)
    #expect(try keychain.update(Ticket.self, for: "k") { _ in } == nil)
    #expect(store.writes == 0)
    keychain.accessibility = .always
    #expect(try keychain.update(Ticket.self, for: "k") { $0 = .expired } == .expired)
    keychain.accessibility = .whenUnlocked
    try keychain.update(CredentialUpdate(label: .set("L"), expires: .set(.distantPast)), for: "k")
    // An expired value is changed like any other.
    try keychain.update(Ticket.self, for: "k") { $0?.number = 2 }
    var credential = try #require(try keychain.credential(for: "k"))
    #expect(
      credential.label == "L" && credential.isExpired() && credential.accessibility == .always)
    try keychain.update(Ticket.self, for: "k", expires: .set(later)) { _ in }
    credential = try #require(try keychain.credential(for: "k"))
    #expect(try credential.expires == later && keychain.storedTicket()?.number == 2)
    let writes = store.writes
    try keychain.update(Ticket.self, for: "k") { $0?.number = 2 }
    #expect(store.writes == writes)
    #expect(throws: CancellationError.self) {
      try keychain.update(Ticket.self, for: "k") { _ in throw CancellationError() }
    }
    #expect(try keychain.update(Ticket.self, for: "k") { $0 = nil } == nil)
    #expect(try !keychain.contains("k"))
  }

  @Test func anUpdateEndsAtItsDeadline() throws {
    let store = InMemoryCredentialStore()
    let (keychain, other) = (preferences(store), preferences(store))
    func isSlow(_ value: inout Int?) throws {
      try other.set((value ?? 0) + 1, for: "k")
      value = 0
    }
    let error = #expect(throws: KeychainError.self) {
      try keychain.update(Int.self, for: "k", deadline: .milliseconds(50), isSlow)
    }
    #expect(error?.code == .timedOut)
    #expect(try keychain.value(Int.self, for: "k") ?? 0 > 1)
  }
}
