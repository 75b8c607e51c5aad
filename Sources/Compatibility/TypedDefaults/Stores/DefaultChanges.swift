internal import Prephirences

/// A change of the value of a store.
public struct DefaultChange<Default: DefaultConvertible> {
  /// The previous value; `nil` if there was none, or if the change is initial.
  public let oldValue: Default?

  /// The new value; `nil` if it was removed.
  public let newValue: Default?

  /// Whether this is the value at the start of the observation, not a change.
  public let isInitial: Bool

  init(_ change: PreferenceChange) {
    oldValue = change.oldValue.flatMap { Default($0) }
    newValue = change.newValue.flatMap { Default($0) }
    isInitial = change.isInitial
  }
}

extension DefaultChange: Sendable where Default: Sendable {}

/// The changes of the value of a store, as an asynchronous sequence.
///
/// It ends as `PreferenceChanges` does.
public struct DefaultChanges<Default: DefaultConvertible>: AsyncSequence {
  /// A change.
  public typealias Element = DefaultChange<Default>

  /// The sequence does not fail.
  public typealias Failure = Never

  private let changes: PreferenceChanges

  init(_ changes: PreferenceChanges) { self.changes = changes }

  /// Creates an iterator, which waits for the changes.
  ///
  /// - Returns: The iterator.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(changes: changes.makeAsyncIterator())
  }

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var changes: PreferenceChanges.AsyncIterator

    /// Waits for the next change.
    ///
    /// - Parameter actor: The actor on which the caller runs.
    /// - Returns: The change, or `nil` after the last change.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> DefaultChange<Default>? {
      await changes.next(isolation: actor).map { DefaultChange($0) }
    }
  }
}

extension DefaultChanges: Sendable where Default: Sendable {}
