public import KeychainCredentials

/// Which services and servers the references of a file may name.
///
/// A file of a project is written by others than the person whose secrets it names.
public struct ReferenceAllowance: Sendable {
  private let services: [String]
  private let defaultService: String

  /// Creates an allowance.
  ///
  /// - Parameters:
  ///   - services: The services, and servers of internet passwords. Empty if every one is allowed.
  ///   - defaultService: The service of references that name none.
  public init(services: [String], defaultService: String) {
    self.services = services
    self.defaultService = defaultService
  }

  /// Checks that a reference may be named.
  ///
  /// - Parameter reference: The reference.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `refused`.
  public func check(_ reference: CredentialReference) throws(KeychainError) {
    let isAllowed = services.contains {
      reference.belongs(to: $0, defaultService: defaultService)
    }
    guard services.isEmpty || isAllowed else {
      let name = reference.serviceName(default: defaultService)
      throw KeychainError(
        .refused, "the service or server '\(name)' is not allowed",
        recovery: "allow it, too, if whoever wrote the reference may have its secrets")
    }
  }
}
