internal import Foundation
internal import Glibc
internal import Prephirences

/// What is known of a key.
enum KnownValue {
  case absent
  case value(Any)

  init(_ value: Any?) { self = value.map { .value($0) } ?? .absent }

  var value: Any? { if case .value(let value) = self { value } else { nil } }
}

/// The values that were read, as of one generation.
///
/// A read takes one system call as long as the counter has that generation. Unchecked because the
/// lock guards everything.
final class ReadCache: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [KeyBytes: KnownValue] = [:]

  /// `nil` if each read must ask the database.
  private var counter: GenerationCounter?
  private var isCommitting = false
  private var lookedAt: Int = 0
  private var current: Int64 = 0

  /// How many values are kept; then all are forgotten.
  static let greatestCount = 200_000

  /// How long the file's path need not be looked at again, in nanoseconds.
  private static let lookInterval = 100_000_000

  /// The generation of the values; 0 if there is none.
  var generation: Int64 { lock.withLock { current } }

  /// Returns what is known of a key, if nobody has changed the preferences since.
  func value(_ key: KeyBytes) -> KnownValue? {
    lock.withLock {
      guard let counter, !isCommitting, let known = values[key],
        Self.now - lookedAt < Self.lookInterval, counter.generation == current
      else { return nil }
      return known
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

  /// Returns what was last known of a key.
  func lastKnown(_ key: KeyBytes) -> KnownValue? { lock.withLock { values[key] } }

  /// Everything that was last known.
  var allKnown: [KeyBytes: KnownValue] { lock.withLock { values } }

  /// Begins with another database.
  func begin(_ counter: GenerationCounter?, generation: Int64) {
    lock.withLock {
      self.counter = counter
      current = generation
      values = [:]
      isCommitting = false
      lookedAt = Self.now
    }
  }

  /// Forgets the database.
  func end() { begin(nil, generation: 0) }

  /// Records that the file was found at its path.
  func touch() { lock.withLock { lookedAt = Self.now } }

  func insert(_ value: KnownValue, for key: KeyBytes) {
    lock.withLock {
      if values.count >= Self.greatestCount { values = [:] }
      values[key] = value
    }
  }

  /// Records a later generation.
  ///
  /// - Parameters:
  ///   - generation: The generation.
  ///   - changes: What has changed; `nil` to forget all values.
  ///   - keepsNew: Whether to keep values of keys that were not known.
  func advance(
    to generation: Int64, _ changes: [(key: KeyBytes, value: KnownValue?)]?, keepsNew: Bool
  ) {
    lock.withLock {
      current = generation
      guard let changes, values.count + changes.count < Self.greatestCount else {
        values = [:]
        return
      }
      for (key, value) in changes where keepsNew || values[key] != nil { values[key] = value }
    }
  }

  /// Makes reads wait for the connection, because a commit is under way.
  func beginCommit() { lock.withLock { isCommitting = true } }

  func endCommit() { lock.withLock { isCommitting = false } }

  private static var now: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
