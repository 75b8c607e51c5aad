public import Foundation
internal import PrephirencesSystem

/// Preferences in a cache, which may discard them.
///
/// It is safe to use from several threads.
public final class NSCachePreferences<ObjectType: AnyObject>: MutablePreferencesType,
  PreferencesAdapter, @unchecked Sendable
{
  // Unchecked because of the cache, which is thread-safe itself.

  /// The cache.
  public let cache: NSCache<NSString, ObjectType>

  private struct State {
    var insertCost = 0
    var keys: Set<PreferenceKey> = []
  }

  private let state = PosixMutex(State())
  private let observers = PreferenceObservers()

  // Keeps changes in the order of their reports. It is recursive because a delegate of the cache is
  // called while it is held, and may use these preferences.
  private let order = NSRecursiveLock()

  /// Creates preferences in a cache.
  ///
  /// - Parameter cache: The cache; its present objects can be read, but are not among ``keys()``.
  public init(cache: NSCache<NSString, ObjectType> = NSCache()) {
    self.cache = cache
  }

  /// The cost of each object that is set; 0 by default.
  public var insertCost: Int {
    get { state.withLock(\.insertCost) }
    set { state.withLock { $0.insertCost = newValue } }
  }

  /// Returns the object of a key, if it is still in the cache.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    cache.object(forKey: key as NSString)
  }

  /// Returns the keys that were set here and are still in the cache.
  public func keys() -> [String] {
    state.withLock(\.keys).filter { cache.object(forKey: $0 as NSString) != nil }
  }

  /// Sets the object of a key.
  ///
  /// - Parameters:
  ///   - value: The object; `nil`, or an object of a type that the cache does not hold, removes the
  ///     key.
  ///   - key: The key.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    guard let object = value as? ObjectType else { return removeObject(forKey: key) }
    change([key], to: object) {
      let cost = state.withLock { state in
        state.keys.insert(key)
        return state.insertCost
      }
      cache.setObject(object, forKey: key as NSString, cost: cost)
    }
  }

  /// Removes a key and its object.
  public func removeObject(forKey key: PreferenceKey) {
    change([key], to: nil) {
      state.withLock { _ = $0.keys.remove(key) }
      cache.removeObject(forKey: key as NSString)
    }
  }

  /// Removes all objects of the cache.
  public func clearAll() {
    change(observers.isEmpty ? [] : keys(), to: nil) {
      state.withLock { $0.keys = [] }
      cache.removeAllObjects()
    }
  }

  /// Starts notifying an observer of changes made here; objects that the cache discards are not
  /// reported.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    observers.add(observer, of: self)
  }

  private func change(_ keys: [PreferenceKey], to value: ObjectType?, _ change: () -> Void) {
    order.withLock {
      if observers.isEmpty { return change() }
      let changes = keys.map { PreferenceChange($0, from: object(forKey: $0), to: value) }
      change()
      observers.post(changes)
    }
    observers.deliverPending()
  }
}

/// The last failures of objects that cannot store them.
///
/// An object has an entry only while it lives and if its last change failed.
final class FailedObjects: Sendable {
  static let shared = FailedObjects()

  private struct Entry {
    weak var object: AnyObject?
    let error: PreferencesError
  }

  // Unchecked because objects are only compared here, by identity.
  private struct Entries: @unchecked Sendable {
    var all: [ObjectIdentifier: Entry] = [:]
  }

  private let entries = PosixMutex(Entries())

  subscript(object: AnyObject) -> PreferencesError? {
    get {
      entries.withLock { [identity = ObjectIdentifier(object)] entries in
        guard let entry = entries.all[identity], entry.object != nil else { return nil }
        return entry.error
      }
    }
    set {
      nonisolated(unsafe) let entry = newValue.map { Entry(object: object, error: $0) }
      entries.withLock { [identity = ObjectIdentifier(object)] entries in
        entries.all[identity] = entry
        if entry != nil { entries.all = entries.all.filter { $1.object != nil } }
      }
    }
  }
}
