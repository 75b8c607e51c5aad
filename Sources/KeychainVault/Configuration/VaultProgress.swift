/// How far a long operation has come.
public struct VaultProgress: Hashable, Sendable {
  /// How many items are done.
  public var completed: Int

  /// How many items there are.
  public var total: Int

  package init(completed: Int, total: Int) {
    self.completed = completed
    self.total = total
  }
}
