internal import KeychainCredentials

/// What happens within a transaction that a closure runs, in one attempt.
final class TransactionLog {
  enum Change {
    case changed(CredentialChange)
    case renamed(CredentialIdentity, CredentialIdentity)
  }

  /// The changes, in their order.
  private(set) var changes: [Change] = []

  /// Whether items that need the greatest requirement were changed.
  private(set) var usesUnlockedItems = false

  /// What must be unlocked before the transaction begins again.
  private(set) var needed: Accessibility.UnlockRequirement?

  /// The class of an item for which the device secret must be made before the transaction begins
  /// again.
  private(set) var neededDevice: Accessibility?

  /// Whether the closure runs again, whatever it made of the failure.
  var beginsAgain: Bool { needed != nil || neededDevice != nil }

  /// Why the transaction can only be undone.
  private(set) var failure: KeychainError?

  /// What the closure threw.
  var thrown: (any Error)?

  func note(_ change: Change, _ accessibility: Accessibility) {
    changes.append(change)
    if accessibility.unlockRequirement == .unlockedNow { usesUnlockedItems = true }
  }

  /// Notes the failure of a change, unless it has changed nothing.
  func noteFailure(_ error: KeychainError) {
    switch error.code {
    case .notFound, .alreadyExists, .versionConflict, .invalidArgument: break
    default: failure = failure ?? error
    }
  }

  /// Fails if the transaction can only be undone.
  func requireWhole() throws(KeychainError) {
    if let failure { throw failure }
  }

  /// Makes the transaction begin again with more keys.
  func begin(again requirement: Accessibility.UnlockRequirement) -> KeychainError {
    needed = requirement
    return ending()
  }

  /// Makes the transaction begin again with a device secret.
  func begin(withDeviceFor accessibility: Accessibility) -> KeychainError {
    neededDevice = accessibility
    return ending()
  }

  private func ending() -> KeychainError {
    let error = KeychainError(
      .locked, "the transaction begins again, once the keys that it needs are at hand")
    failure = error
    return error
  }
}
