internal import KeychainSecrets

extension InMemoryCredentialStore {
  final class Item: Sendable {
    let credential: Credential
    let secret: SharedSecret

    init(_ credential: Credential, _ secret: SharedSecret) {
      self.credential = credential
      self.secret = secret
    }
  }

  struct Failure {
    let error: KeychainError

    /// How many more calls fail; `nil` for all.
    let count: Int?

    /// The failure after one more call; `nil` if it was the last.
    var next: Failure? {
      guard let count else { return self }
      return count > 1 ? Failure(error: error, count: count - 1) : nil
    }
  }

  struct State {
    var items: [CredentialIdentity: Item] = [:]
    var counter: UInt64 = 0

    /// What can be read now; more while the store is unlocked.
    var readable = Accessibility.UnlockRequirement.unlockedNow

    /// The errors that calls throw, by operation.
    var failures: [Operation: Failure] = [:]

    /// Returns the item for a call that reads.
    mutating func readableItem(
      _ identity: CredentialIdentity
    ) throws(KeychainError) -> Item? {
      try item(identity, for: .reading)
    }

    /// Returns the item that a call replaces, changes or removes.
    mutating func writableItem(
      _ identity: CredentialIdentity
    ) throws(KeychainError) -> Item? {
      try item(identity, for: .writing)
    }

    /// Throws if a credential needs the store to be unlocked, and it is locked.
    func checkReadable(_ credential: Credential) throws(KeychainError) {
      guard credential.accessibility.unlockRequirement <= readable else {
        throw KeychainError(
          .locked, "the store in memory is locked for \(credential.identity)",
          recovery: "unlock it")
      }
    }

    /// Throws the error that a test has set.
    mutating func throwIfFailing(_ operation: Operation) throws(KeychainError) {
      guard let failure = failures[operation] else { return }
      failures[operation] = failure.next
      throw failure.error
    }

    private mutating func item(
      _ identity: CredentialIdentity, for operation: Operation
    ) throws(KeychainError) -> Item? {
      try throwIfFailing(operation)
      guard let item = items[identity] else { return nil }
      try checkReadable(item.credential)
      return item
    }
  }
}
