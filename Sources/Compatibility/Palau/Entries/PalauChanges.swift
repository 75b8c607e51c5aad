internal import Prephirences

/// A change of the value of an entry, after all rules.
public struct PalauChange<Value> {
  /// The previous value; `nil` if there was none, or if the change is initial.
  public let oldValue: Value?

  /// The new value; `nil` if it was removed.
  public let newValue: Value?

  /// Whether this is the value at the start of the observation, not a change.
  public let isInitial: Bool
}

extension PalauChange: Sendable where Value: Sendable {}

/// The changes of the value of an entry, as an asynchronous sequence.
///
/// It ends as `PreferenceChanges` does. The rules of the entry run in the task that reads it.
public struct PalauChanges<Entry: PalauEntry>: AsyncSequence {
  /// A change.
  public typealias Element = PalauChange<Entry.ReturnType>

  /// The sequence does not fail.
  public typealias Failure = Never

  let entry: Entry
  let changes: PreferenceChanges

  /// Creates an iterator, which waits for the changes.
  ///
  /// - Returns: The iterator.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(entry: entry, changes: changes.makeAsyncIterator())
  }

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let entry: Entry
    var changes: PreferenceChanges.AsyncIterator

    /// Waits for the next change.
    ///
    /// - Parameter actor: The actor on which the caller runs.
    /// - Returns: The change, or `nil` after the last change.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      guard let change = await changes.next(isolation: actor) else { return nil }
      return PalauChange(
        oldValue: change.isInitial ? nil : entry.value(of: change.oldValue),
        newValue: entry.value(of: change.newValue), isInitial: change.isInitial)
    }
  }
}
