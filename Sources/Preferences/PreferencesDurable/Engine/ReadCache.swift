internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem

enum KnownValue: Sendable {
  case absent
  case value(PreferenceValue)

  init(_ value: PreferenceValue?) { self = value.map { .value($0) } ?? .absent }

  var value: PreferenceValue? { if case .value(let value) = self { value } else { nil } }
}

/// What the cache learns of a changed key.
struct CachedChange {
  let key: KeyBytes

  /// `nil` if the value is damaged: it is unknown, so that a read reports the damage.
  let value: KnownValue?
  let size: Int

  init(key: KeyBytes, stored: PreferenceValue.Encoded?) {
    self.key = key
    value = if let stored { stored.decoded.map { .value($0) } } else { .absent }
    size = stored?.bytes.count ?? 0
  }
}

/// The values that were read, as of one generation.
///
/// A read takes one system call while the counter has that generation. Unchecked because the lock
/// guards everything.
final class ReadCache: @unchecked Sendable {
  private let lock = PosixMutex()
  private var values: [KeyBytes: Entry] = [:]
  private var size = 0

  private struct Entry {
    let known: KnownValue
    let size: Int
  }

  /// `nil` if each read must ask the database.
  private var counter: GenerationCounter?
  private var isCommitting = false
  private var lookedAt: Int = 0
  private var current: Int64 = 0

  /// How many values are kept; beyond it, all are forgotten.
  static let greatestCount = 200_000

  /// How many stored bytes the values may have; beyond it, all are forgotten.
  static let greatestSize = 64 << 20

  /// How many stored bytes a kept value may have.
  static let greatestValueSize = 4 << 20

  /// How long the file's path need not be checked again, in nanoseconds.
  private static let lookInterval = 100_000_000

  /// The generation of the values; 0 if there is none.
  var generation: Int64 { lock.withLock { current } }

  /// Returns what is known of a key, if nobody has changed the preferences since.
  func value(_ key: KeyBytes) -> KnownValue? {
    lock.withLock {
      guard let counter, !isCommitting, let entry = values[key],
        Self.now - lookedAt < Self.lookInterval, counter.generation == current
      else { return nil }
      return entry.known
    }
  }

  /// Whether nobody has changed the preferences since the values were read.
  var isCurrent: Bool {
    lock.withLock {
      guard let counter, !isCommitting, Self.now - lookedAt < Self.lookInterval else {
        return false
      }
      return counter.generation == current
    }
  }

  func lastKnown(_ key: KeyBytes) -> KnownValue? { lock.withLock { values[key]?.known } }

  var allKnown: [KeyBytes: KnownValue] { lock.withLock { values.mapValues(\.known) } }

  /// Starts with another database.
  func begin(_ counter: GenerationCounter?, generation: Int64) {
    lock.withLock {
      self.counter = counter
      current = generation
      forgetAll()
      isCommitting = false
      lookedAt = Self.now
    }
  }

  func end() { begin(nil, generation: 0) }

  /// Records that the file was found at its path.
  func touch() { lock.withLock { lookedAt = Self.now } }

  func insert(_ value: KnownValue, for key: KeyBytes, size: Int) {
    lock.withLock { set(value, for: key, size: size) }
  }

  /// Records a later generation; `changes` is `nil` to forget all values.
  func advance(to generation: Int64, _ changes: [CachedChange]?, keepsNew: Bool) {
    lock.withLock {
      current = generation
      guard let changes, values.count + changes.count < Self.greatestCount else {
        return forgetAll()
      }
      for change in changes where keepsNew || values[change.key] != nil {
        set(change.value, for: change.key, size: change.size)
      }
    }
  }

  private func set(_ value: KnownValue?, for key: KeyBytes, size added: Int) {
    let isKept = added <= Self.greatestValueSize
    let entry = isKept ? value.map { Entry(known: $0, size: added) } : nil
    if let replaced = values[key] { size -= replaced.size }
    size += entry?.size ?? 0
    values[key] = entry
    guard size > Self.greatestSize || values.count > Self.greatestCount else { return }
    forgetAll()
    if let entry {
      values[key] = entry
      size = added
    }
  }

  private func forgetAll() {
    values = [:]
    size = 0
  }

  /// Makes reads wait for the connection during a commit.
  func beginCommit() { lock.withLock { isCommitting = true } }

  func endCommit() { lock.withLock { isCommitting = false } }

  private static var now: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
