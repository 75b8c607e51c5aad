internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesSystem

/// The stores of this process, one for each file.
final class SharedStores: Sendable {
  static let shared = SharedStores()

  private struct Entry {
    weak var store: SharedStore?
  }

  /// By the bytes of the path: names that look the same are those of two files.
  private let entries = PosixMutex<[[UInt8]: Entry]>([:])

  /// Returns the store of a file; a new one if nobody has it.
  func store(of durable: DurablePreferences, _ environment: EnvironmentVariables) -> SharedStore {
    // Without a place, every call fails, and so does sharing.
    guard let path = (try? durable.expectedPath()).map({ Array($0.utf8) }) else {
      return SharedStore(durable, environment)
    }
    return entries.withLock { entries in
      if let store = entries[path]?.store { return store }
      entries = entries.filter { $1.store != nil }
      let store = SharedStore(durable, environment)
      entries[path] = Entry(store: store)
      return store
    }
  }

  /// Tries at once what waits, in all stores.
  func wakeAll() {
    for store in entries.withLock({ $0.values.compactMap(\.store) }) { store.worker?.wake() }
  }
}
