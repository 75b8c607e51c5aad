internal import Prephirences
internal import PrephirencesSystem

/// The changes that come from other machines, as an asynchronous sequence.
///
/// A reader that is slower than the changes gets neighbours of one reason as one change; no key is
/// lost. The observation starts with the sequence, and ends when the sequence and its iterators are
/// destroyed. Several iterators share the changes.
public struct ExternalChanges: AsyncSequence, Sendable {
  /// The changes that were delivered together.
  public typealias Element = SharedPreferences.ExternalChange

  /// The sequence does not fail.
  public typealias Failure = Never

  private let source: Source

  init(of store: SharedStore) { source = Source(of: store) }

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
    /// - Returns: The change, or `nil` if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> SharedPreferences.ExternalChange? {
      while true {
        if let change = source.buffer.next() { return change }
        guard await signals.next(isolation: actor) != nil else { return source.buffer.next() }
      }
    }
  }
}

extension ExternalChanges {
  /// The observation, and the changes that have not been read.
  final class Source: Sendable {
    let buffer = Buffer()
    private let observation: PreferenceObservation

    init(of store: SharedStore) {
      observation = store.observeExternalChanges { [buffer] in buffer.add($0) }
    }
  }

  final class Buffer: Sendable {
    /// Holds one signal while there are changes to read.
    let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let pending = PosixMutex(GroupedChanges())

    init() {
      (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ change: Element) {
      pending.withLock { $0.add(change) }
      continuation.yield()
    }

    func next() -> Element? { pending.withLock { $0.popFirst() } }
  }
}
