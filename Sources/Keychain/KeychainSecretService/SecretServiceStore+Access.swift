package import KeychainCredentials

// For the choice between this and other stores.
extension SecretServiceStore {
  /// Whether the collection can be used.
  package enum Access: Sendable {
    /// It can, without asking.
    case free

    /// It can after a person has answered; otherwise, operations fail with this error.
    case afterQuestion(KeychainError)

    /// It cannot: there is none here for this program.
    case none(KeychainError)

    /// It is not known: no valid answer came in time.
    case unknown(KeychainError)
  }

  /// Whether the environment specifies a session bus, running or not.
  package var findsBus: Bool { (try? BusAddress(environment: configuration.environment)) != nil }

  /// Whether the provider could ask a person now.
  package var canPrompt: Bool { configuration.canPrompt }

  /// Probes the session bus as ``SecretServiceProbe/run(deadline:)`` does, with the store's
  /// environment and deadline.
  package func probe() -> SecretServiceProbe {
    SecretServiceProbe.run(
      environment: configuration.environment, deadline: configuration.deadline)
  }

  /// Finds out whether the collection can be used, and starts the provider if the bus can do that.
  ///
  /// No person is asked. What can be unlocked without asking is unlocked.
  package func access() -> Access {
    var quiet = configuration
    quiet.interaction = .denied
    do throws(KeychainError) {
      return try SecretServiceStore(configuration: quiet).run { operation throws(KeychainError) in
        try Self.access(operation)
      }
    } catch {
      return error.isAbsenceOfKeyring ? .none(error) : .unknown(error)
    }
  }

  private static func access(_ operation: ServiceOperation) throws(KeychainError) -> Access {
    do throws(KeychainError) {
      try ItemFinder(operation).unlockIfNeeded()
      return .free
    } catch {
      guard error.code == .locked || error == operation.noCollection else { throw error }
      return .afterQuestion(error)
    }
  }
}

extension KeychainError {
  /// Whether an attempt to use the keyring showed that there is none here for this program.
  ///
  /// A keyring that is silent, whose answers are not valid, or whose program ends while it is asked,
  /// is not absent: it may have credentials.
  package var isAbsenceOfKeyring: Bool {
    code == .noStore && self != .providerEnded || self == .deniedByBus
  }
}
