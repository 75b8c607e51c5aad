/// The progress of a long operation.
public struct VaultProgress: Hashable, Sendable {
  /// The number of items that are done.
  public var completed: Int

  /// The number of all items.
  public var total: Int

  package init(completed: Int, total: Int) {
    self.completed = completed
    self.total = total
  }
}
