internal import Synchronization

/// The changes of preferences, as an asynchronous sequence.
///
/// A reader that is slower than the changes finds one change for each key that was changed
/// meanwhile, from the value that it knows to the one that is now: never more than there are keys,
/// and never a change that was lost. A key that has its old value again is left out.
///
/// The observation begins with the sequence, and ends when that and its iterators are gone. The
/// sequence ends with the store, and when its task is cancelled. Several iterators share the changes.
public struct PreferenceChanges: AsyncSequence, Sendable {
  /// A change.
  public typealias Element = PreferenceChange

  /// It does not fail.
  public typealias Failure = Never

  private let source: Source

  init(of preferences: some PreferencesType, keys: Set<PreferenceKey>?, initial: Bool) {
    source = Source(of: preferences, keys: keys, initial: initial)
  }

  /// Makes an iterator, which waits for the changes.
  ///
  /// - Returns: The iterator.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source: source, signals: source.buffer.signals.makeAsyncIterator())
  }

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: Source
    var signals: AsyncStream<Void>.Iterator

    /// Waits for the next change.
    ///
    /// - Parameter actor: The actor on which the caller runs.
    /// - Returns: The change, or `nil` if there will be none any more.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> PreferenceChange? {
      while true {
        if let change = source.buffer.next() { return change }
        guard await signals.next(isolation: actor) != nil else { return source.buffer.next() }
      }
    }
  }
}

extension PreferenceChanges {
  /// The observation, and the changes that nobody has read.
  final class Source: Sendable {
    let buffer = Buffer()
    private let observation: PreferenceObservation

    init(of preferences: some PreferencesType, keys: Set<PreferenceKey>?, initial: Bool) {
      observation = preferences.addObserver(
        PreferenceObserver(
          keys: keys, initial: initial, end: { [buffer] in buffer.end() },
          handler: { [buffer] in buffer.add($0) }))
    }
  }

  final class Buffer: Sendable {
    /// One signal waits while there is something to read.
    let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let pending = Mutex(PendingChanges())

    init() {
      (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ change: PreferenceChange) {
      pending.withLock { $0.add(change) }
      continuation.yield()
    }

    func end() { continuation.finish() }

    func next() -> PreferenceChange? {
      while let change = pending.withLock({ $0.popFirst() }) {
        if change.isWorthTelling { return change }
      }
      return nil
    }
  }
}
