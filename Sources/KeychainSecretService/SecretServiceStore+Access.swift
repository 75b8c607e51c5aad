package import KeychainCredentials

// What the choice between this and other stores asks the desktop keyring.
extension SecretServiceStore {
  /// Whether the collection can be used.
  package enum Access: Sendable {
    /// It can, without any question.
    case free

    /// It can once a person has answered a question; the failure is what happens without.
    case afterQuestion(KeychainError)

    /// It cannot.
    case none(KeychainError)
  }

  /// Whether the environment names a session bus, dead or alive.
  package var findsBus: Bool { (try? BusAddress(environment: configuration.environment)) != nil }

  /// Whether a question could be asked now, if the provider has one.
  package var canPrompt: Bool { configuration.canPrompt }

  /// Looks at the session bus as ``SecretServiceProbe/run(deadline:)`` does, with the store's environment
  /// and deadline.
  package func probe() -> SecretServiceProbe {
    SecretServiceProbe.run(
      environment: configuration.environment, deadline: configuration.deadline)
  }

  /// Finds out whether the collection can be used, starting the provider if the bus knows how.
  ///
  /// Nobody is asked. What unlocks without a question is unlocked.
  package func access() -> Access {
    var quiet = configuration
    quiet.interaction = .denied
    do throws(KeychainError) {
      return try SecretServiceStore(configuration: quiet).run { operation throws(KeychainError) in
        try Self.access(operation)
      }
    } catch {
      return .none(error)
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
