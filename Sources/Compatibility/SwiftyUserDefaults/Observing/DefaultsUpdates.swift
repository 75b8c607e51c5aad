internal import Foundation
internal import Prephirences

/// Turns changes of preferences into the updates that an observer asked for.
struct DefaultsUpdates<T: DefaultsSerializable>: Sendable where T == T.T {
  typealias Update = DefaultsObserver<T>.Update

  let key: DefaultsKey<T>
  let options: NSKeyValueObservingOptions

  func updates(of change: PreferenceChange) -> [Update] {
    let new = options.contains(.new) ? value(of: change.newValue) : key.defaultValue
    guard !change.isInitial else { return [update(new: new, old: key.defaultValue)] }
    let old = options.contains(.old) ? value(of: change.oldValue) : key.defaultValue
    let update = update(new: new, old: old)
    guard options.contains(.prior) else { return [update] }
    return [self.update(new: key.defaultValue, old: old, isPrior: true), update]
  }

  private func update(new: T?, old: T?, isPrior: Bool = false) -> Update {
    Update(kind: .setting, indexes: nil, isPrior: isPrior, newValue: new, oldValue: old)
  }

  private func value(of object: Any?) -> T? {
    object.flatMap(T._defaults.deserialize) ?? key.defaultValue
  }
}
