internal import Foundation
internal import Keychain
internal import Synchronization
internal import Testing

@Suite("Values that are renewed", .timeLimit(.minutes(10)))
struct RenewalTests {
  /// Returns preferences with an expired ticket.
  private func keychain(
    _ store: any CredentialStore = InMemoryCredentialStore()
  ) throws -> KeychainPreferences {
    let keychain = preferences(store)
    try keychain.set(Ticket.expired, for: "k", expires: .distantPast, label: "L")
    return keychain
  }

  @Test func aValidValueIsOnlyRead() async throws {
    let store = FailingStore()
    let keychain = preferences(store)
    try keychain.set(Ticket(number: 7, isValid: true), for: "k", expires: .distantPast)
    let writes = store.writes
    let office = TicketOffice()
    #expect(try await keychain.ticket(office).number == 7)
    #expect(office.requests == 0 && store.writes == writes)
  }

  @Test func manyTasksShareOneRenewal() async throws {
    let keychain = try keychain()
    let office = TicketOffice(waits: true)
    let tickets = try await withThrowingTaskGroup(of: Ticket.self) { group in
      for _ in 0..<200 { group.addTask { try await keychain.ticket(office) } }
      await office.asked.wait()
      office.answers.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(tickets == Array(repeating: Ticket(number: 1, isValid: true), count: 200))
    #expect(office.requests == 1)
    #expect(try keychain.storedTicket()?.number == 1)
  }

  /// Each handle represents another process.
  @Test func handlesOfOneVaultRenewOnce() async throws {
    let machine = try Machine()
    _ = try keychain(machine.store())
    let office = TicketOffice(waits: true)
    let tickets = try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<10 {
        let store: any CredentialStore = index.isMultiple(of: 2) ? machine.store() : machine.vault()
        group.addTask { try await preferences(store).ticket(office).number }
      }
      await office.asked.wait()
      office.answers.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(tickets == Array(repeating: 1, count: 10) && office.requests == 1)
  }

  @Test func threadsRenewOnce() throws {
    let machine = try Machine()
    for keychain in [try keychain(), try keychain(machine.store())] {
      let requests = Atomic(0)
      let numbers = Mutex<[Int?]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        let ticket = try? keychain.waitForValue(Ticket.self, for: "k", validWhile: \.isValid) {
          old in
          requests.add(1, ordering: .relaxed)
          usleep(20_000)
          return Ticket.after(old)
        }
        numbers.withLock { $0.append(ticket?.number) }
      }
      #expect(numbers.withLock(\.self) == Array(repeating: 1, count: 8))
      #expect(requests.load(ordering: .relaxed) == 1)
    }
  }

  @Test func errorReachesAllWaitersAndNextTriesAgain() async throws {
    let keychain = try keychain()
    let office = TicketOffice(waits: true)
    office.close()
    let first = Task { try await keychain.ticket(office) }
    await office.asked.wait()
    let second = try await keychain.joiningTask(office)
    office.answers.open()
    await #expect(throws: TicketOffice.IsClosed.self) { try await first.value }
    await #expect(throws: TicketOffice.IsClosed.self) { try await second.value }
    #expect(office.requests == 1)
    office.close(false)
    #expect(try await keychain.ticket(office).number == 1)
  }

  @Test func aBlockingCallThatFailsLeavesNoLock() throws {
    let machine = try Machine()
    for keychain in [try keychain(), try keychain(machine.store())] {
      #expect(throws: TicketOffice.IsClosed.self) {
        try keychain.waitForValue(Ticket.self, for: "k", validWhile: \.isValid) { _ in
          throw TicketOffice.IsClosed()
        }
      }
      let ticket = try keychain.waitForValue(
        Ticket.self, for: "k", expires: { _ in .distantFuture }, validWhile: \.isValid
      ) { .after($0) }
      #expect(ticket.number == 1)
      #expect(try keychain.credential(for: "k")?.expires == .distantFuture)
    }
  }

  @Test func missingValueIsCreated() async throws {
    let keychain = preferences()
    #expect(try await keychain.ticket { old in .after(old) }.number == 1)
    #expect(try keychain.value(Ticket.self, for: "k")?.number == 1)
  }

  @Test func detailsStay() async throws {
    let keychain = preferences()
    keychain.accessibility = .always
    try keychain.set(
      Ticket.expired, for: "k", expires: .distantPast, label: "L", comment: "C",
      attributes: ["a": "b"])
    keychain.accessibility = .whenUnlocked
    let later = Date(timeIntervalSinceReferenceDate: 2_000_000_000)
    let ticket = try await keychain.value(
      Ticket.self, for: "k", expires: { _ in later }, validWhile: \.isValid
    ) { .after($0) }
    let credential = try #require(try keychain.credential(for: "k"))
    #expect(ticket.number == 1 && credential.expires == later)
    #expect(
      credential.label == "L" && credential.comment == "C" && credential.attributes["a"] == "b")
    #expect(credential.accessibility == .always)
    _ = try await keychain.value(Ticket.self, for: "k", validWhile: { _ in false }) { .after($0) }
    #expect(try keychain.credential(for: "k")?.expires == nil)
  }

  /// The server's value is used as it is; asking again might never end.
  @Test func renewedValueIsReturnedEvenIfInvalid() async throws {
    let keychain = try keychain()
    let ticket = try await keychain.ticket { _ in Ticket(number: 5, isValid: false) }
    #expect(ticket.number == 5)
    #expect(try keychain.storedTicket()?.number == 5)
  }

  @Test func aTokenThatWasRefusedIsRenewedOnce() async throws {
    let keychain = preferences()
    let refused = Ticket(number: 1, isValid: true)
    try keychain.set(refused, for: "k")
    let office = TicketOffice()
    for _ in 0..<3 {
      let ticket = try await keychain.value(
        Ticket.self, for: "k", validWhile: { $0 != refused }, renew: office.renew)
      #expect(ticket.number == 2)
    }
    #expect(office.requests == 1)
  }

  @Test func oneRenewalMayNeedAnother() async throws {
    let machine = try Machine()
    for keychain in [try keychain(), try keychain(machine.store())] {
      let ticket = try await keychain.ticket(for: "outer") { _ in
        let inner = try await keychain.ticket { old in .after(old) }
        return Ticket(number: inner.number + 10, isValid: true)
      }
      #expect(ticket.number == 11)
    }
  }
}
