/// What a verification found.
public struct VerificationReport: Hashable, Sendable {
  /// The number of items that were checked.
  public var itemCount: Int

  /// The number of items that were also opened; the others are locked.
  public var openedCount: Int

  /// The problems, in words; empty if the vault is intact.
  public var problems: [String]

  /// Whether no problem was found.
  public var isIntact: Bool { problems.isEmpty }
}
