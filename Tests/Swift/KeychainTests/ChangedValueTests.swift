internal import Foundation
internal import Keychain
internal import Testing

@Suite("Detailed, expired and changed values", .timeLimit(.minutes(10)))
struct ChangedValueTests {
  private let later = Date(timeIntervalSinceReferenceDate: 2_000_000_000)

  @Test func detailsAreSetInOneStepAndStay() async throws {
    let store = FailingStore()
    let keychain = preferences(store)
    try await keychain.set(
      "1", for: "k", expires: later, label: "L", comment: "C", attributes: ["a": "1", "b": "2"])
    #expect(store.writes == 1)
    try await keychain.set("2", for: "k", expires: nil, attributes: ["b": "3"])
    let credential = try #require(try await keychain.credential(for: "k"))
    #expect(credential.expires == nil && credential.label == "L" && credential.comment == "C")
    #expect(credential.attributes == ["a": "1", "b": "3"])
    #expect(try await keychain.string(for: "k") == "2")
    try await keychain.set(SecretBytes(copying: "3"), for: "k", expires: later, label: "M")
    try await keychain.set(try SecretBytes(copying: "4"), for: "k", expires: later, comment: "D")
    let last = try #require(try await keychain.credential(for: "k"))
    #expect(last.label == "M" && last.comment == "D" && last.expires == later)
    #expect(last.contentType == nil)
    try await keychain.set(nil, for: "k", expires: later, label: "L")
    try blocking {
      try keychain.set("5", for: "k", expires: later, label: "L")
      try keychain.set(SecretBytes(copying: "6"), for: "k", expires: nil, comment: "C")
      let credential = try #require(try keychain.credential(for: "k"))
      #expect(credential.expires == nil && credential.label == "L" && credential.comment == "C")
      try keychain.set(nil, for: "k", expires: later, label: "L")
    }
    #expect(try await !keychain.contains("k"))
  }

  @Test func aLabelNeedsNoExpiry() async throws {
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
    try await keychain.set("0", for: "k", expires: .distantPast, label: "L")
    try await keychain.set("1", for: "k", label: "M", comment: "C", attributes: ["a": "1"])
    #expect(store.writes == 2)
    try expect("1", "M")
    #expect(try await keychain.credential(for: "k")?.attributes == ["a": "1"])
    try await keychain.set(try SecretBytes(copying: "2"), for: "k", label: nil, comment: "D")
    try expect("2", "M")
    #expect(try await keychain.credential(for: "k")?.comment == "D")
    try blocking {
      try keychain.set("3", for: "k", label: "N")
      try expect("3", "N")
      try keychain.set(SecretBytes(copying: "4"), for: "k", label: "O")
      try expect("4", "O")
      try keychain.set(nil, for: "k", label: "P")
    }
    try expect(nil, nil)
  }

  @Test func expiredValuesAreReadWhenAskedFor() async throws {
    let keychain = preferences()
    try await keychain.set(5, for: "k", expires: .distantPast)
    for allowing in [true, false] {
      func check<Result>(_ read: () async throws -> Result?) async throws {
        if allowing { return #expect(try await read() != nil) }
        let error = await #expect(throws: KeychainError.self) { _ = try await read() }
        #expect(error?.code == .expired)
      }
      try await check { try await keychain.string(for: "k", allowingExpired: allowing) }
      try await check { try await keychain.data(for: "k", allowingExpired: allowing) }
      try await check { try await keychain.value(for: "k", allowingExpired: allowing) as? Int }
      try await check { try await keychain.value(Int.self, for: "k", allowingExpired: allowing) }
      try await check { try await keychain.secret(for: "k", allowingExpired: allowing)?.count }
      func checkBlocking() throws -> [Bool] {
        [
          try keychain.string(for: "k", allowingExpired: allowing) == "5",
          try keychain.data(for: "k", allowingExpired: allowing) == Data("5".utf8),
          try keychain.value(for: "k", allowingExpired: allowing) as? Int == 5,
          try keychain.value(Int.self, for: "k", allowingExpired: allowing) == 5,
          try keychain.secret(for: "k", allowingExpired: allowing)?.count == 1,
        ]
      }
      try await check { try checkBlocking().allSatisfy(\.self) ? true : nil }
    }
    #expect(try await keychain.string(for: "none", allowingExpired: true) == nil)
  }

  @Test func noUpdateIsLost() async throws {
    let machine = try Machine()
    for store in [InMemoryCredentialStore(), machine.store()] as [any CredentialStore] {
      let keychain = preferences(store)
      try await withThrowingTaskGroup { group in
        for _ in 0..<20 {
          group.addTask {
            try await keychain.update(Int.self, for: "n", deadline: .seconds(300)) {
              $0 = ($0 ?? 0) + 1
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await keychain.value(Int.self, for: "n") == 20)
      #expect(try await keychain.update(Int.self, for: "n") { $0 = ($0 ?? 0) + 1 } == 21)
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

  @Test func anUpdateEndsAtItsDeadline() async throws {
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
    let another = await #expect(throws: KeychainError.self) {
      try await keychain.update(Int.self, for: "k", deadline: .milliseconds(50), isSlow)
    }
    #expect(another?.code == .timedOut)
    #expect(try await keychain.value(Int.self, for: "k") ?? 0 > 1)
  }
}
