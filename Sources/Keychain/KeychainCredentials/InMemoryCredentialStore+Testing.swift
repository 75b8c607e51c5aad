internal import Synchronization

// Simulates what happens to other stores, to test programs that use a store.
extension InMemoryCredentialStore {
  /// What a call does.
  public enum Operation: CaseIterable, Hashable, Sendable {
    /// Reading a secret or a credential, and searching.
    case reading

    /// Storing, changing, renaming and removing.
    case writing
  }

  /// Whether the store is locked.
  public var isLocked: Bool { state.withLock { $0.readable < .unlockedNow } }

  /// Locks the store, like a vault: calls that need it unlocked throw
  /// ``KeychainError/Code/locked``, and a search counts its locked items.
  ///
  /// No credential is lost, and a missing one is still missing. Items of accessibility
  /// ``Accessibility/always`` can still be read and written. Observers are not called.
  ///
  /// - Parameter all: Whether to lock items that are readable after the first unlock as well, as a
  ///   restart does.
  public func lock(all: Bool = false) {
    state.withLock { $0.readable = all ? .nothing : .unlockedSinceBoot }
  }

  /// Unlocks the store, which is its initial state.
  public func unlock() { state.withLock { $0.readable = .unlockedNow } }

  /// Removes all credentials of every service, even if the store is locked or made to fail.
  ///
  /// Observers are called for each credential.
  public func removeAll() {
    let removed = state.withLock { state in
      defer { state.items = [:] }
      return state.items.values.map(\.credential)
    }
    for credential in CredentialSearchResult(credentials: removed).credentials {
      observers.notify(CredentialChange(credential.identity, .removed))
    }
  }

  /// Makes calls throw, until ``succeed()`` is called.
  ///
  /// A call that fails changes nothing, and observers are not notified. A setter of
  /// `KeychainPreferences` reads before it writes, so it fails with either operation.
  ///
  /// - Parameters:
  ///   - operation: Which calls fail; `nil` for all. It replaces an earlier failure of the same
  ///     calls.
  ///   - error: The error to throw.
  ///   - times: How many calls fail, for each operation; `nil` for all.
  public func fail(_ operation: Operation? = nil, with error: KeychainError, times: Int? = nil) {
    let failure = times == 0 ? nil : Failure(error: error, count: times)
    state.withLock { state in
      for operation in operation.map({ [$0] }) ?? Operation.allCases {
        state.failures[operation] = failure
      }
    }
  }

  /// Ends the failures that ``fail(_:with:times:)`` began.
  public func succeed() { state.withLock { $0.failures = [:] } }
}
