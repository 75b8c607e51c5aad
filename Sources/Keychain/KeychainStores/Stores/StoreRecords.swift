package import KeychainCredentials
internal import KeychainVault
internal import Synchronization

/// Records the store of each service: one file for each under `$XDG_STATE_HOME/keychain/stores`.
///
/// A service keeps its record when its last credential is removed: another program may be about to
/// write the next one, and removing and adding a credential again must not change the store.
package final class StoreRecords: Sendable {
  private struct Known {
    let stamp: KeyedRecords.Stamp
    let place: StorePlace
  }

  private let files: KeyedRecords

  /// What was read, by the names of the files.
  private struct Cache {
    var known: [String: Known] = [:]
  }

  /// In a type of its own: without generic parameters, the runtime needs no conformances to destroy
  /// it.
  private let cache = Mutex(Cache())

  init(in state: StateFolder) { files = KeyedRecords(named: "stores", in: state) }

  /// Returns the place of a service; `nil` if it has none yet, or there is no device key.
  package func place(of service: ServiceName) throws(KeychainError) -> StorePlace? {
    guard let name = try files.fileName(of: service.bytes) else { return nil }
    // Read each time, because another process may have moved the credentials.
    if let known = cache.withLock({ $0.known[name] }) {
      if try files.stamp(name) == known.stamp { return known.place }
    }
    guard let (text, stamp) = try files.read(name) else { return nil }
    let place = try StorePlace(text: text, path: files.path(name))
    cache.withLock { $0.known[name] = Known(stamp: stamp, place: place) }
    return place
  }

  /// Records the place of a service, unless it has one.
  ///
  /// Returns the place of the service, which another process may have recorded first.
  package func record(
    _ place: StorePlace, for service: ServiceName
  ) throws(KeychainError) -> (place: StorePlace, isNew: Bool) {
    let name = try fileName(service)
    for _ in 0..<8 {
      if try files.create(name, place.text) { return (place, true) }
      if let winner = try self.place(of: service) { return (winner, false) }
    }
    throw KeychainError(.busy, "the store of \(service) keeps changing", recovery: .tryAgain)
  }

  /// Records the new place of a service after its credentials were moved.
  package func move(_ service: ServiceName, to place: StorePlace) throws(KeychainError) {
    try files.replace(fileName(service), by: place.text)
  }

  /// Records a place for every service whose place meets a condition.
  ///
  /// Returns the number of services.
  package func moveAll(
    where isMoved: (StorePlace) -> Bool, to place: StorePlace
  ) throws(KeychainError) -> Int {
    var count = 0
    for (path, text) in try files.all() {
      guard let text, let old = try? StorePlace(text: text, path: path), isMoved(old) else {
        continue
      }
      try files.replace(String(path.split(separator: "/").last ?? ""), by: place.text)
      count += 1
    }
    return count
  }

  /// Returns the places of all services, and the paths of records that cannot be read.
  package func all() throws(KeychainError) -> (places: [StorePlace], unreadable: [String]) {
    var places: [StorePlace] = []
    var unreadable: [String] = []
    for (path, text) in try files.all() {
      if let text, let place = try? StorePlace(text: text, path: path) {
        places.append(place)
      } else {
        unreadable.append(path)
      }
    }
    return (places, unreadable)
  }

  private func fileName(_ service: ServiceName) throws(KeychainError) -> String {
    guard let name = try files.fileName(of: service.bytes, makingDeviceSecret: true) else {
      throw KeychainError(.internalFailure, "the device key could not be made")
    }
    return name
  }
}
