import Synchronization

/// Preferences in memory without their protocols.
final class BareDictionary: @unchecked Sendable {
  // Unchecked because the values are of any type; a lock guards them.
  private let lock = Mutex(())
  private var values: [String: Any]

  init(_ values: [String: Any]) { self.values = values }

  subscript(key: String) -> Any? {
    get { lock.withLock { _ in Unchecked(values[key]) }.value }
    set {
      let new = Unchecked(newValue)
      lock.withLock { _ in values[key] = new.value }
    }
  }

  private struct Unchecked: @unchecked Sendable {
    let value: Any?
    init(_ value: Any?) { self.value = value }
  }
}
