internal import PreferencesCore
internal import PreferencesDurable

/// The changes that come from other machines, as an asynchronous sequence.
///
/// If the reader is slow, consecutive changes with the same reason arrive as one change, without
/// losing a key. Observation starts with the sequence, and ends when the sequence and its iterators
/// are destroyed. Iterators share the changes.
public struct ExternalChanges: AsyncSequence, Sendable {
  /// The changes that were delivered together.
  public typealias Element = SharedPreferences.ExternalChange

  /// The sequence does not fail.
  public typealias Failure = Never

  private let source: Source

  init(of store: SharedStore) { source = Source(of: store) }

  /// Creates an iterator.
  ///
  /// - Returns: The iterator; each change is delivered to one of them.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source: source, signals: source.changes.signals.makeAsyncIterator())
  }

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: Source
    var signals: AsyncStream<Void>.Iterator

    /// Waits for the next change.
    ///
    /// - Parameter actor: The actor on which the caller runs.
    /// - Returns: The change, or `nil` if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> SharedPreferences.ExternalChange? {
      await source.changes.next(after: &signals, isolation: actor)
    }
  }
}

extension ExternalChanges {
  /// The observation, and the unread changes.
  final class Source: Sendable {
    let changes = SignalledWork(GroupedChanges())
    private let observation: PreferenceObservation

    init(of store: SharedStore) {
      observation = store.observeExternalChanges { [changes] change in
        changes.add { $0.add(change) }
      }
    }
  }
}

/// Changes of other machines; consecutive ones with the same reason are merged.
struct GroupedChanges: PendingWork {
  typealias Change = SharedPreferences.ExternalChange

  private var groups: [Group] = []

  /// One change while keys are added to it: each key is looked up once.
  private struct Group {
    let reason: Change.Reason
    var keys: [PreferenceKey] = []
    var known: Set<[UInt8]> = []
    var lostValues: [Change.LostValue] = []

    mutating func add(_ key: PreferenceKey) {
      if known.insert(Array(key.utf8)).inserted { keys.append(key) }
    }

    var change: Change { Change(reason: reason, keys: keys, lostValues: lostValues) }
  }

  /// The changes in order.
  var all: [Change] { groups.map(\.change) }

  mutating func add(_ entries: [ChangeFeedEntry]) {
    // A decision is a change of this machine.
    for entry in entries where entry.reason != .decision {
      let index = group(Change.Reason(rawValue: entry.reason.rawValue) ?? .serverChange)
      groups[index].add(entry.key)
      guard entry.isConflict else { continue }
      groups[index].lostValues.append(
        Change.LostValue(key: entry.key, localValue: entry.old, sharedValue: entry.new))
    }
  }

  mutating func add(_ change: Change) {
    let index = group(change.reason)
    for key in change.keys { groups[index].add(key) }
    groups[index].lostValues += change.lostValues
  }

  /// Removes and returns the first change, or `nil` if there is none.
  mutating func popFirst() -> Change? { groups.isEmpty ? nil : groups.removeFirst().change }

  /// Returns the index of the group for a change with this reason.
  private mutating func group(_ reason: Change.Reason) -> Int {
    if groups.last?.reason != reason { groups.append(Group(reason: reason)) }
    return groups.count - 1
  }
}
