public import Foundation
internal import Synchronization

/// Preferences in a cache, which may forget them.
///
/// Any number of threads may use one at a time.
public final class NSCachePreferences<ObjectType: AnyObject>: MutablePreferencesType,
  PreferencesAdapter, @unchecked Sendable
{
  // Unchecked because of the cache, which is safe on its own.

  /// The cache.
  public let cache: NSCache<NSString, ObjectType>

  private struct State {
    var insertCost = 0
    var keys: Set<PreferenceKey> = []
  }

  private let state = Mutex(State())
  private let observers = PreferenceObservers()

  // Keeps the changes in the order in which they are told. Recursive, because a delegate of the cache
  // is asked within, and may use these preferences.
  private let order = NSRecursiveLock()

  /// Makes preferences in a cache.
  ///
  /// - Parameter cache: The cache; what is in it already can be read, but is not among ``keys()``.
  public init(cache: NSCache<NSString, ObjectType> = NSCache()) {
    self.cache = cache
  }

  /// The cost of each object that is set; 0 at first.
  public var insertCost: Int {
    get { state.withLock(\.insertCost) }
    set { state.withLock { $0.insertCost = newValue } }
  }

  /// Returns the object of a key, if the cache still has it.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    cache.object(forKey: key as NSString)
  }

  /// Returns the keys that were set here and whose objects the cache still has.
  public func keys() -> [String] {
    state.withLock(\.keys).filter { cache.object(forKey: $0 as NSString) != nil }
  }

  /// Sets the object of a key.
  ///
  /// - Parameters:
  ///   - value: The object; `nil`, and what is no object of the cache's type, removes.
  ///   - key: The key.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    guard let object = unwrapped(value) as? ObjectType else { return removeObject(forKey: key) }
    change([key], to: object) {
      let cost = state.withLock { state in
        state.keys.insert(key)
        return state.insertCost
      }
      cache.setObject(object, forKey: key as NSString, cost: cost)
    }
  }

  /// Removes a key with its object.
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

  /// Begins to tell changes to an observer: what is set and removed here, not what the cache forgets.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    observers.add(observer, of: self)
  }

  private func change(_ keys: [PreferenceKey], to value: ObjectType?, _ change: () -> Void) {
    order.withLock {
      let changes =
        observers.isEmpty
        ? [] : keys.map { PreferenceChange($0, from: object(forKey: $0), to: value) }
      change()
      observers.post(changes)
    }
    observers.tellPosted()
  }
}
