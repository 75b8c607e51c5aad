import KeychainCredentials
import Testing

@testable import KeychainSecretService

@Suite("Calls to objects that are missing", .timeLimit(.minutes(10)))
struct MissingObjectTests {
  private let items = ["nobody", "bob"].map { FakeProvider.path(of: $0) }

  /// Calls a missing item and an existing item, and returns how often each was called.
  private func counts(
    _ body: (ServiceOperation, [BusCall]) throws(KeychainError) -> Void
  ) throws -> [Int] {
    let desktop = try Desktop(.none)
    let provider = try FakeProvider(desktop)
    let monitor = try BusMonitor(desktop, "type='method_call',member='GetAll'")
    try desktop.store().run { operation throws(KeychainError) in
      try body(operation, items.map { operation.getProperties(ofItem: $0) })
    }
    let lines = try monitor.lines(desktop)
    withExtendedLifetime(provider) {}
    return items.map { item in lines.count { $0.contains("path=\(item);") } }
  }

  @Test func laterCallsAreRepeatedInOrder() throws {
    #expect(try counts { _ = $0.results(of: $1) } == [3, 3])
  }

  @Test func independentCallsAreNotRepeated() throws {
    let counts = try counts { operation, calls throws(KeychainError) in
      _ = try operation.manyResults(of: calls)
    }
    #expect(counts == [3, 1])
  }
}
