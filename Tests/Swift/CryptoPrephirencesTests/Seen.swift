internal import Synchronization

/// Records the changes that an observer received.
final class Seen: Sendable {
  private let all = Mutex<[String?]>([])

  var values: [String?] { all.withLock(\.self) }

  func add(_ value: String?) { all.withLock { $0.append(value) } }
}
