internal import Synchronization

// What happens to other stores by itself, for tests of the programs that use one.
extension InMemoryCredentialStore {
  /// What a call does with the store.
  public enum Operation: CaseIterable, Hashable, Sendable {
    /// Getting a secret or a credential, and searching.
    case reading

    /// Storing, changing, renaming and removing.
    case writing
  }

  /// Whether items that can be read while the store is unlocked cannot be read now.
  public var isLocked: Bool { state.withLock { $0.readable < .unlockedNow } }

  /// Locks the store, as a vault is locked: what needs it unlocked throws
  /// ``KeychainError/Code/locked``, and a search counts it.
  ///
  /// Nothing is lost, and what is absent stays absent. Items of accessibility
  /// ``Accessibility/always`` can still be read and written. Observers are not called.
  ///
  /// - Parameter all: Whether items that are readable after the first unlock are locked as well, as
  ///   after a boot.
  public func lock(all: Bool = false) {
    state.withLock { $0.readable = all ? .nothing : .unlockedSinceBoot }
  }

  /// Unlocks the store, as it is in the beginning.
  public func unlock() { state.withLock { $0.readable = .unlockedNow } }

  /// Removes all credentials, of every service, also while the store is locked or told to fail.
  ///
  /// Observers are called for each of them.
  public func removeAll() {
    let removed = state.withLock { state in
      defer { state.items = [:] }
      return state.items.values.map(\.credential)
    }
    for credential in CredentialSearchResult(credentials: removed).credentials {
      observers.notify(CredentialChange(credential.identity, .removed))
    }
  }

  /// Makes calls throw, until ``succeed()``.
  ///
  /// A call that fails changes nothing, and observers are not notified. A setter of
  /// `KeychainPreferences` reads what is there before it writes, so it fails with either operation.
  ///
  /// - Parameters:
  ///   - operation: Which calls fail; `nil` for all. Another failure of the same calls is replaced.
  ///   - error: What they throw.
  ///   - times: How many of them fail, counted for each operation; `nil` for every one.
  public func fail(_ operation: Operation? = nil, with error: KeychainError, times: Int? = nil) {
    let failure = times == 0 ? nil : Failure(error: error, count: times)
    state.withLock { state in
      for operation in operation.map({ [$0] }) ?? Operation.allCases {
        state.failures[operation] = failure
      }
    }
  }

  /// Ends what ``fail(_:with:times:)`` began.
  public func succeed() { state.withLock { $0.failures = [:] } }
}
