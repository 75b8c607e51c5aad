internal import Foundation
internal import PrephirencesDurable

/// The settings of the program, in ``DurablePreferences/standard``.
///
/// To use another store, declare a constant or variable with this name in your program:
///
/// ```swift
/// let Defaults = DefaultsAdapter(preferences: preferences, keyStore: DefaultsKeys())
/// ```
public var Defaults: DefaultsAdapter<DefaultsKeys> {
  get { SharedAdapter.shared.current }
  set { SharedAdapter.shared.current = newValue }
}

/// The adapter behind the variable.
private final class SharedAdapter: @unchecked Sendable {
  // Unchecked because the lock guards every use of the adapter. It is one that the thread sanitizer
  // knows.

  static let shared = SharedAdapter()

  private let lock = NSLock()
  private var adapter = DefaultsAdapter<DefaultsKeys>(
    defaults: DurableUserDefaults.standard, keyStore: .init())

  var current: DefaultsAdapter<DefaultsKeys> {
    get { lock.withLock { adapter } }
    set { lock.withLock { adapter = newValue } }
  }
}
