import Synchronization

/// Values that closures on any thread have received.
final class Received<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  var all: [Value] { values.withLock { $0 } }

  func append(_ value: Value) { values.withLock { $0.append(value) } }
}
