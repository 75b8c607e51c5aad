public import KeychainCredentials
internal import KeychainSecrets
public import Testing

/// A rule that every credential store must follow, as a test.
///
/// Take the clauses of a store from its ``StoreContract``.
public struct ContractClause: Sendable, CustomTestStringConvertible {
  /// A feature that a store may lack.
  enum Offer {
    case versions, observation
  }

  /// The rule in words.
  public let testDescription: String

  /// The feature that the rule needs; `nil` if the rule applies to every store.
  let needs: Offer?

  /// The contract that the rule is a part of.
  var contract = StoreContract()

  private let body: @Sendable (OpenedStore) async throws -> Void

  init(
    _ description: String, needs: Offer? = nil,
    check: @escaping @Sendable (any CredentialStore) async throws -> Void
  ) {
    self.init(description, needs: needs, checkOpened: { try await check($0.store) })
  }

  init(
    _ description: String, needs: Offer? = nil,
    checkOpened: @escaping @Sendable (OpenedStore) async throws -> Void
  ) {
    testDescription = description
    self.needs = needs
    body = checkOpened
  }

  /// Checks a store that is opened once.
  ///
  /// Breaches are recorded as issues of the test that is running.
  ///
  /// - Parameter store: The store. It must be empty and unlocked, and not used by anything else.
  /// - Throws: As ``check(_:)-(()->_)``.
  public func check(_ store: any CredentialStore) async throws {
    try await check { store }
  }

  /// Checks a store that can be opened several times.
  ///
  /// Breaches are recorded as issues of the test that is running. Rules about persistence open the
  /// store a second time, and expect to find what was stored before.
  ///
  /// - Parameter open: Opens the store. It must be empty and unlocked when it is opened first, and
  ///   not used by anything else. A store in memory returns the same object each time.
  /// - Throws: What `open` throws, a breach after which the rule cannot be checked further, or
  ///   ``KeychainError`` with ``KeychainError/Code/invalidArgument`` outside a test of Swift
  ///   Testing, where an issue would not be reported.
  public func check(_ open: @escaping () throws -> any CredentialStore) async throws {
    guard Test.current != nil else {
      throw KeychainError(
        .invalidArgument,
        "a clause of the store contract is checked outside a test of Swift Testing")
    }
    try await body(OpenedStore(store: open(), open: open, contract: contract))
  }

  static let all =
    reading + writing + merging + updating + renaming + removing + searching + naming + limits
    + accessibilities + persistence + concurrency + observing
}

/// The store that a clause checks.
struct OpenedStore {
  let store: any CredentialStore

  /// Opens the same store again.
  let open: () throws -> any CredentialStore

  let contract: StoreContract
}
