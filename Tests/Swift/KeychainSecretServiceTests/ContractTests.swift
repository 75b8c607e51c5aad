import KeychainCredentials
import KeychainSecretService
import KeychainTesting
import Testing

private let desktopContract = StoreContract(
  refusedAccessibilities: [.whenPasscodeSetThisDeviceOnly])

/// Serialized, because each rule needs the collection for itself, and a provider takes seconds to
/// start.
@Suite("gnome-keyring keeps the contract of every store", .serialized, .timeLimit(.minutes(10)))
struct GnomeKeyringContractTests {
  private static let desktop = Result { try Desktop(.gnomeKeyring) }

  @Test(arguments: desktopContract.clauses)
  func keeps(_ clause: ContractClause) async throws {
    let desktop = try Self.desktop.get()
    try desktop.store().removeEverything()
    try await clause.check { desktop.store() }
  }
}

/// KeePassXC is configured to remove items without asking, but interaction must still be allowed.
@Suite("KeePassXC keeps the contract of every store", .serialized, .timeLimit(.minutes(10)))
struct KeePassXCContractTests {
  private static let desktop = Result { try Desktop(.keePassXC) }

  @Test(arguments: desktopContract.clauses)
  func keeps(_ clause: ContractClause) async throws {
    let desktop = try Self.desktop.get()
    try desktop.store { $0.interaction = .allowed }.removeEverything()
    try await clause.check { desktop.store { $0.interaction = .allowed } }
  }

  /// A migration that holds the exclusive lock makes others wait.
  @Test func removalThatMustNotAskKeepsItem() throws {
    let desktop = try Self.desktop.get()
    let store = desktop.store { $0.interaction = .allowed }
    let item = try store.put("asked about", "1").identity
    let quiet = store.quiet(forbiddingDialogs: true)
    expect(.refused) { try quiet.remove(item, expectedVersion: nil) }
    try quiet.put("added", "2")
    #expect(try store.text(item) == "1" && store.text("added") == "2")
    #expect(try store.quiet(forbiddingDialogs: false).remove(item, expectedVersion: nil))
    #expect(try store.text(item) == nil)
  }
}
