internal import Foundation
internal import Keychain
internal import Testing

/// Renewals that are cancelled or take too long.
@Suite("Abandoned renewals", .timeLimit(.minutes(10)))
struct RenewalEndTests {
  private let keychain: KeychainPreferences

  init() throws {
    keychain = preferences()
    try keychain.set(Ticket.expired, for: "k")
  }

  private func expect(
    _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Ticket
  ) async {
    let error = await #expect(throws: KeychainError.self, sourceLocation: sourceLocation) {
      try await body()
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
  }

  @Test func aCancelledTaskLeavesTheOthersTheirRenewal() async throws {
    let (keychain, office) = (keychain, TicketOffice(waits: true))
    let first = Task { try await keychain.ticket(office) }
    await office.asked.wait()
    let second = try await keychain.joiningTask(office)
    first.cancel()
    await expect(.cancelled) { try await first.value }
    office.answers.open()
    #expect(try await second.value.number == 1)
    #expect(office.requests == 1 && office.cancelled == 0)
  }

  /// The server may already have consumed the old token.
  @Test func aValueThatComesTooLateIsStored() async throws {
    let (keychain, office) = (keychain, TicketOffice(waits: true))
    let task = Task { try await keychain.ticket(office) }
    await office.asked.wait()
    task.cancel()
    await expect(.cancelled) { try await task.value }
    office.answers.open()
    #expect(try await keychain.ticket(office).number == 1)
    #expect(office.requests == 1 && office.cancelled == 1)
  }

  @Test func hangingRenewalIsCancelledAtDeadline() async throws {
    let keychain = keychain
    await expect(.timedOut) {
      try await keychain.value(
        Ticket.self, for: "k", validWhile: \.isValid, deadline: .milliseconds(50)
      ) { _ in
        try await Task.sleep(for: .seconds(600))
        return .expired
      }
    }
    #expect(try await keychain.ticket { .after($0) }.number == 1)
  }

  /// Later callers start a new renewal instead of waiting for the one that hangs.
  @Test func laterTasksDontProlongHangingRenewal() async throws {
    let (keychain, hanging) = (keychain, TicketOffice(waits: true))
    let first = Task { try await keychain.ticket(hanging, deadline: .seconds(2)) }
    await hanging.asked.wait()
    let office = TicketOffice()
    let second = Task { try await keychain.ticket(office) }
    await expect(.timedOut) { try await first.value }
    hanging.close()
    hanging.answers.open()
    #expect(try await second.value.number == 1)
    #expect(hanging.requests == 1 && hanging.cancelled == 1 && office.requests == 1)
  }

  @Test func uncancellableRenewalBlocksOthersUntilTheirDeadline() async throws {
    let (keychain, hanging) = (keychain, TicketOffice(waits: true))
    let task = Task { try await keychain.ticket(hanging) }
    await hanging.asked.wait()
    task.cancel()
    await expect(.cancelled) { try await task.value }
    let office = TicketOffice()
    await expect(.timedOut) { try await keychain.ticket(office, deadline: .milliseconds(50)) }
    let error = #expect(throws: KeychainError.self) {
      try blocking {
        try keychain.waitForValue(
          Ticket.self, for: "k", validWhile: \.isValid, deadline: .milliseconds(50)
        ) { .after($0) }
      }
    }
    #expect(error?.code == .timedOut)
    #expect(office.requests == 0)
    hanging.answers.open()
    #expect(try await keychain.ticket(office).number == 1)
    #expect(office.requests == 0)
  }

  @Test func aDeadlineMayBeAnyTime() async throws {
    for deadline in [Duration.seconds(Int64.max), .zero, .seconds(Int64.min)] {
      let (keychain, office) = (keychain, TicketOffice(waits: true))
      let task = Task { try await keychain.ticket(office, deadline: deadline) }
      guard deadline > .zero else {
        await expect(.timedOut) { try await task.value }
        office.answers.open()
        continue
      }
      await office.asked.wait()
      task.cancel()
      await expect(.cancelled) { try await task.value }
      office.close()
      office.answers.open()
    }
  }

  @Test func cancelledTaskSendsNoRequest() async throws {
    let (keychain, office) = (keychain, TicketOffice())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await keychain.ticket(office)
    }
    await expect(.cancelled) { try await task.value }
    #expect(office.requests == 0)
  }
}
