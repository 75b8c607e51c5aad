/// What a verification found.
public struct VerificationReport: Hashable, Sendable {
  /// How many items were checked.
  public var itemCount: Int

  /// How many of them were also opened; the others are locked.
  public var openedCount: Int

  /// What is wrong, in words; empty if nothing is.
  public var problems: [String]

  /// Whether nothing is wrong.
  public var isIntact: Bool { problems.isEmpty }
}
