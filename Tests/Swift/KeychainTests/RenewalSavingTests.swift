internal import Foundation
internal import Keychain
internal import Testing

/// Renewed values that the store refuses, or that another writer precedes.
@Suite("Saving what was renewed", .timeLimit(.minutes(10)))
struct RenewalSavingTests {
  private let store = ScriptedStore()
  private let keychain: KeychainPreferences
  private let identity: CredentialIdentity

  init() throws {
    keychain = KeychainPreferences(service: "saving-\(UUID().uuidString)", store: store)
    identity = keychain.identity(for: "k")
    try keychain.set(Ticket.expired, for: "k")
  }

  /// Another program's handle for the same credentials.
  private var other: KeychainPreferences {
    KeychainPreferences(service: keychain.service ?? "", store: store.content)
  }

  /// Renews, and runs a closure in between.
  private func renew(meanwhile: @escaping @Sendable () throws -> Void) async throws -> Ticket {
    try await keychain.ticket { old in
      try meanwhile()
      return .after(old)
    }
  }

  /// Expects the value in an error whose description does not show it.
  private func expectUnsaved(
    _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Ticket
  ) async {
    let error = await #expect(
      throws: UnsavedValueError<Ticket>.self, sourceLocation: sourceLocation
    ) { try await body() }
    #expect(error?.value.number == 1 && error?.reason.code == code, sourceLocation: sourceLocation)
    #expect(error?.identity == identity, sourceLocation: sourceLocation)
    var dumped = ""
    dump(error, to: &dumped)
    for text in ["\(error as Any)", String(reflecting: error), dumped] {
      #expect(
        !text.contains("isValid") && !text.contains("Ticket("), sourceLocation: sourceLocation)
    }
    #expect(error?.localizedDescription.contains("'k'") == true, sourceLocation: sourceLocation)
  }

  @Test(arguments: [KeychainError.Code.locked, .inputOutput])
  func aStoreThatTakesNothingCostsNoToken(_ code: KeychainError.Code) async throws {
    let office = TicketOffice()
    store.script { (_, call) throws(KeychainError) in
      if call == .write { throw KeychainError(code, "as the test says") }
    }
    let error = await #expect(throws: KeychainError.self) { try await keychain.ticket(office) }
    #expect(error?.code == code && office.requests == 0)
    #expect(throws: KeychainError.self) {
      try blocking {
        try keychain.waitForValue(Ticket.self, for: "k", validWhile: \.isValid) { _ in
          Issue.record("the server was asked")
          return .expired
        }
      }
    }
    store.script(nil)
    #expect(try await keychain.ticket(office).number == 1)
  }

  @Test func otherValuesAreLeftAlone() async throws {
    try keychain.set("text", for: "k")
    let office = TicketOffice()
    let error = await #expect(throws: KeychainError.self) { try await keychain.ticket(office) }
    #expect(error?.code == .undecodable && office.requests == 0)
    #expect(try keychain.string(for: "k") == "text")
  }

  @Test func errorHoldsValueThatCannotBeStored() async throws {
    let store = store
    await expectUnsaved(.locked) {
      try await renew {
        store.script { (_, call) throws(KeychainError) in
          if call == .write { throw KeychainError(.locked, "as the test says") }
        }
      }
    }
    store.script(nil)
    #expect(try keychain.storedTicket() == .expired)
    #expect(try await keychain.ticket { .after($0) }.number == 1)
  }

  @Test func temporaryFailureIsRetried() async throws {
    let store = store
    let ticket = try await renew {
      store.script { (count, call) throws(KeychainError) in
        if count == 1 { throw KeychainError(.busy, "as the test says") }
      }
    }
    #expect(try ticket.number == 1 && keychain.storedTicket()?.number == 1)
  }

  @Test func validValueOfAnotherWriterWins() async throws {
    let other = other
    let ticket = try await renew { try other.set(Ticket(number: 9, isValid: true), for: "k") }
    #expect(try ticket.number == 9 && keychain.storedTicket()?.number == 9)
  }

  @Test func invalidValueOfAnotherWriterStaysToo() async throws {
    let other = other
    await expectUnsaved(.versionConflict) {
      try await renew { try other.set(Ticket(number: 9, isValid: false), for: "k") }
    }
    #expect(try keychain.storedTicket()?.number == 9)
  }

  @Test func removedCredentialStaysRemoved() async throws {
    let other = other
    await expectUnsaved(.notFound) { try await renew { try other.removeValue(for: "k") } }
    #expect(try !keychain.contains("k"))
  }

  @Test func aNewLabelIsKept() async throws {
    let other = other
    let ticket = try await renew {
      try other.update(CredentialUpdate(label: .set("new")), for: "k")
    }
    #expect(try ticket.number == 1 && keychain.storedTicket()?.number == 1)
    #expect(try keychain.credential(for: "k")?.label == "new")
  }
}
