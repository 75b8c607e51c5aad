import Synchronization

final class Counter: Sendable {
  private let count = Atomic(0)

  @discardableResult
  func add() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }

  var value: Int { count.load(ordering: .sequentiallyConsistent) }
}
