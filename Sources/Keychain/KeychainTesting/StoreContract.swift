public import KeychainCredentials
internal import KeychainSecrets
public import Testing

/// The rules that every credential store must follow, within the limits of one store.
///
/// The initializer's defaults are the requirements of ``CredentialStore``, which the stores of this
/// package meet. Test your own store with one function, in a test target that depends on the
/// product `KeychainTesting`:
///
/// ```swift
/// import KeychainTesting
/// import Testing
///
/// struct CabinetTests {
///   @Test(arguments: StoreContract(largestSecret: 64 * 1024).clauses)
///   func keeps(_ clause: ContractClause) async throws {
///     let folder = try TemporaryFolder()
///     try await clause.check { try Cabinet(folder) }
///   }
/// }
/// ```
///
/// Each clause needs an empty store. The clauses record breaches with Swift Testing, so the product
/// is for test targets only, and XCTest cannot run them.
public struct StoreContract: Sendable {
  /// The size of the largest secret in bytes.
  public var largestSecret: Int

  /// The accessibilities that the store supports.
  public var accessibilities: [Accessibility]

  /// The accessibilities that the store refuses.
  public var refusedAccessibilities: [Accessibility]

  /// Whether each change gives a new version, and calls can be limited to one version.
  public var offersVersions: Bool

  /// Whether the store notifies observers of its changes.
  public var offersObservation: Bool

  /// Creates the contract of a store.
  ///
  /// - Parameters:
  ///   - largestSecret: The size of the largest secret in bytes, at least 1024. The store must
  ///     accept a secret of this size, and refuse a larger one with
  ///     ``KeychainError/Code/tooLarge``.
  ///   - accessibilities: The accessibilities that the store supports, in any order, including
  ///     ``Accessibility/whenUnlocked``. The default is all except
  ///     ``Accessibility/whenPasscodeSetThisDeviceOnly``, which depends on the store's passphrase.
  ///   - refusedAccessibilities: The accessibilities that the store must refuse with
  ///     ``KeychainError/Code/refused``. An accessibility in neither list is not tried.
  ///   - offersVersions: Whether each change gives a new version, and calls can be limited to one
  ///     version. If not, such a call must throw, because ignoring the condition would lose
  ///     changes. Merging into an existing credential is then not tested, because the default
  ///     implementation depends on versions.
  ///   - offersObservation: Whether the store notifies observers of its changes. If not,
  ///     observation is not tested.
  public init(
    largestSecret: Int = Credential.maximumSecretCount,
    accessibilities: [Accessibility] = Accessibility.allCases.filter {
      $0 != .whenPasscodeSetThisDeviceOnly
    },
    refusedAccessibilities: [Accessibility] = [], offersVersions: Bool = true,
    offersObservation: Bool = true
  ) {
    self.largestSecret = largestSecret
    self.accessibilities = accessibilities
    self.refusedAccessibilities = refusedAccessibilities
    self.offersVersions = offersVersions
    self.offersObservation = offersObservation
  }

  /// The clauses that apply to the store, as test arguments.
  public var clauses: [ContractClause] {
    ContractClause.all.filter { offers($0.needs) }.map { clause in
      var clause = clause
      clause.contract = self
      return clause
    }
  }

  /// An accessibility other than the default one, if the store has several.
  var unusualAccessibility: Accessibility {
    accessibilities.last { $0 != .whenUnlocked } ?? .whenUnlocked
  }

  private func offers(_ need: ContractClause.Offer?) -> Bool {
    switch need {
    case .versions: offersVersions
    case .observation: offersObservation
    case nil: true
    }
  }
}

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

  /// The feature that the rule needs; `nil` if it applies to every store.
  let needs: Offer?

  /// The contract that the rule is a part of.
  var contract = StoreContract()

  private let body: @Sendable (OpenedStore) async throws -> Void

  init(
    _ description: String, needs: Offer? = nil,
    check: @escaping @Sendable (any CredentialStore) async throws -> Void
  ) { self.init(description, needs: needs, checkOpened: { try await check($0.store) }) }

  init(
    _ description: String, needs: Offer? = nil,
    checkOpened: @escaping @Sendable (OpenedStore) async throws -> Void
  ) {
    testDescription = description
    self.needs = needs
    body = checkOpened
  }

  /// Checks a store that is opened once, and records breaches as issues of the running test.
  ///
  /// - Parameter store: The store. It must be empty and unlocked, and not used by anything else.
  /// - Throws: As ``check(_:)-(()->_)``.
  public func check(_ store: any CredentialStore) async throws { try await check { store } }

  /// Checks a store that can be opened several times, and records breaches as issues of the running
  /// test.
  ///
  /// Rules about persistence open the store a second time, and expect to find what was stored
  /// before.
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

  let open: () throws -> any CredentialStore

  let contract: StoreContract
}

func password(_ account: String, service: String = "service", group: String = "")
  -> CredentialIdentity
{
  .genericPassword(service: service, account: account, accessGroup: group)
}

extension CredentialStore {
  @discardableResult
  func put(
    _ text: String, _ credential: Credential, mode: StoreMode = .addOrReplace
  ) throws -> Credential { try set(credential, secret: SecretBytes(copying: text), mode: mode) }

  @discardableResult
  func put(_ text: String, _ identity: CredentialIdentity) throws -> Credential {
    try put(text, Credential(identity))
  }

  func text(_ identity: CredentialIdentity) throws -> String? {
    guard let item = try secret(for: identity) else { return nil }
    return item.secret.withBytes { $0.text }
  }

  func bytes(_ identity: CredentialIdentity) throws -> [UInt8]? {
    guard let item = try secret(for: identity) else { return nil }
    return item.secret.withBytes { $0.array }
  }

  func accounts(_ query: CredentialQuery) throws -> [String] {
    let result = try search(query)
    #expect(result.lockedCount == 0 && result.damaged.isEmpty && result.otherDeviceCount == 0)
    return result.credentials.map(\.identity.account)
  }
}

/// Expects a call to fail with a code.
func expect(
  _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, sourceLocation: sourceLocation)
}

/// Waits up to a minute until another thread meets a condition.
func eventually(_ condition: () -> Bool) async throws {
  for _ in 0..<6000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
}
