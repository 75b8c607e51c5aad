internal import PrephirencesSystem

/// The changes of preferences, as an asynchronous sequence.
///
/// A reader that is slower than the changes gets one change for each changed key, from the value
/// that it last saw to the present one: never more changes than keys, and none is lost. A key that
/// has its old value again is left out.
///
/// The observation starts with the sequence, and ends when the sequence and its iterators are
/// destroyed. The sequence ends when the store is destroyed or its task is cancelled. Several
/// iterators share the changes.
public struct PreferenceChanges: AsyncSequence, Sendable {
  /// A change.
  public typealias Element = PreferenceChange

  /// The sequence does not fail.
  public typealias Failure = Never

  private let source: Source

  init(of preferences: some PreferencesType, keys: Set<PreferenceKey>?, initial: Bool) {
    source = Source(of: preferences, keys: keys, initial: initial)
  }

  /// Creates an iterator, which waits for the changes.
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
    /// - Returns: The change, or `nil` after the last change.
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
  /// The observation, and the changes that have not been read.
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
    /// Holds one signal while there are changes to read.
    let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let pending = PosixMutex(PendingChanges())

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
        if change.isReportable { return change }
      }
      return nil
    }
  }
}
