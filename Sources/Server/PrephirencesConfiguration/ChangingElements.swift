#if ConfigurationSupport
internal import Dispatch

/// Calls `body` on a thread that may block, also if the task is cancelled.
package func onBlockingThread<Success: Sendable>(
  _ body: @escaping @Sendable () throws -> Success
) async throws -> Success {
  // Task-local values are not passed on to other threads.
  let isReference = ReferenceLookup.isReference
  return try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async {
      continuation.resume(
        with: Result { try ReferenceLookup.$isReference.withValue(isReference) { try body() } })
    }
  }
}

/// Elements that are read after each signal, except those that equal the one before.
///
/// Each element is passed on at once, and only its mark is kept. Several signals before a reader is
/// ready count as one.
package struct ChangingElements<Element: Sendable, Mark: Equatable & Sendable>: AsyncSequence,
  Sendable
{
  package typealias Failure = Never

  private let signals: AsyncStream<Void>
  private let read: @Sendable () async -> (element: Element, mark: Mark)?

  /// Creates a sequence that ends with the signals, or with its task; `read` returns `nil` if there
  /// is no element yet.
  package init(
    after signals: AsyncStream<Void>,
    read: @escaping @Sendable () async -> (element: Element, mark: Mark)?
  ) {
    self.signals = signals
    self.read = read
  }

  package func makeAsyncIterator() -> Iterator {
    Iterator(signals: signals.makeAsyncIterator(), read: read)
  }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var signals: AsyncStream<Void>.Iterator
    fileprivate let read: @Sendable () async -> (element: Element, mark: Mark)?
    private var last: Mark?

    fileprivate init(
      signals: AsyncStream<Void>.Iterator,
      read: @escaping @Sendable () async -> (element: Element, mark: Mark)?
    ) {
      self.signals = signals
      self.read = read
    }

    package mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      while await signals.next(isolation: actor) != nil {
        let found = await read()
        // A cancelled read is not a change.
        guard !Task.isCancelled else { return nil }
        guard let found, found.mark != last else { continue }
        last = found.mark
        return found.element
      }
      return nil
    }
  }
}

/// Signals for ``ChangingElements``, of which one is kept while nobody waits.
package struct ChangeStream: Sendable {
  package let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// Creates signals; the first one, for the present element, has been sent.
  package init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
  }

  package func send() { continuation.yield() }

  package func end() { continuation.finish() }
}

/// How providers that resolve references find texts that are references.
package enum ReferenceLookup {
  /// Returns to the asked providers which texts are references; `nil` if references are not
  /// resolved.
  ///
  /// A provider that cannot vouch for such a text throws. The value is bound to the task, because
  /// other providers, such as those that change keys, may lie between both.
  @TaskLocal package static var isReference: (@Sendable (String) -> Bool)?
}
#endif
