internal import Foundation
internal import Prephirences

/// The values of one or several keys, as an asynchronous sequence that starts with the present
/// ones.
///
/// The observation starts with the sequence. A slow reader skips values and gets the present ones.
/// The sequence ends when its task is cancelled.
///
/// An element is the value of the key, or a tuple of the values of the keys.
public struct DefaultsValues<Element>: AsyncSequence, Sendable {
  /// The sequence does not fail.
  public typealias Failure = Never

  private let changes: PreferenceChanges
  private let read: @Sendable () -> Element

  init<each T: DefaultsSerializable>(
    _ keys: repeat DefaultsKey<each T>, defaults: UserDefaults
  ) where Element == (repeat each T), repeat (each T).T == each T {
    var names: [String] = []
    for key in repeat each keys { names.append(key._key) }
    changes = defaults.changes(forKeys: names)
    // User defaults can be used on every thread, although they are not marked as `Sendable`.
    nonisolated(unsafe) let defaults = defaults
    read = { (repeat defaults.value(of: each keys)) }
  }

  /// Creates an iterator, which waits for the values.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(changes: changes.makeAsyncIterator(), read: read)
  }

  /// Waits for values.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var changes: PreferenceChanges.AsyncIterator
    let read: @Sendable () -> Element
    var hasBegun = false

    /// Waits for the next change; the first call returns the present values, and `nil` is the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      guard hasBegun else {
        hasBegun = true
        return read()
      }
      guard await changes.next(isolation: actor) != nil else { return nil }
      return read()
    }
  }
}

extension DefaultsAdapter {
  /// Returns the present value and all later ones of a key, or of several keys together.
  ///
  /// ```swift
  /// for await (name, count) in Defaults.values(\.username, \.launchCount) {
  ///   print(name ?? "nobody", count)
  /// }
  /// ```
  public func values<each T: DefaultsSerializable>(
    _ keyPaths: repeat KeyPath<KeyStore, DefaultsKey<each T>>
  ) -> DefaultsValues<(repeat each T)> where repeat (each T).T == each T {
    DefaultsValues(repeat keyStore[keyPath: each keyPaths], defaults: defaults)
  }

  /// Returns the present value and all later ones of a key, or of several keys together.
  public func values<each T: DefaultsSerializable>(
    _ keys: repeat DefaultsKey<each T>
  ) -> DefaultsValues<(repeat each T)> where repeat (each T).T == each T {
    DefaultsValues(repeat each keys, defaults: defaults)
  }
}
