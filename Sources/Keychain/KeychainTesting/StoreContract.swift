public import KeychainCredentials

/// The rules that every credential store must follow, within the limits of one store.
///
/// The initializer's defaults are the requirements of ``CredentialStore``, which the stores of this
/// package fulfil. Test your own store with one function, in a test target that depends on the
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

  /// The accessibilities that a credential of this store can have.
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
  ///   - accessibilities: The accessibilities that a credential of this store can have, in any
  ///     order, including ``Accessibility/whenUnlocked``. By default, all except
  ///     ``Accessibility/whenPasscodeSetThisDeviceOnly``, which depends on the store's passphrase.
  ///   - refusedAccessibilities: The accessibilities that the store must refuse with
  ///     ``KeychainError/Code/refused``. An accessibility that is in neither list is not tried.
  ///   - offersVersions: Whether each change gives a new version, and calls can be limited to one
  ///     version. If not, each such call must throw, because ignoring the condition would lose
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
