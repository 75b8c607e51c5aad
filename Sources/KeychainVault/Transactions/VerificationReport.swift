/// What a verification found.
public struct VerificationReport: Hashable, Sendable {
  /// The number of items that were checked.
  public var itemCount: Int

  /// The number of items that were also opened; the others are locked.
  public var openedCount: Int

  /// The problems, in words; empty if the vault is intact.
  public var problems: [String]

  /// The numbers of slots that are not in the list of members.
  ///
  /// They open nothing, and the next change of members removes them.
  package var unlistedSlots: [UInt32] = []

  /// The same report, with unlisted slots among the problems.
  func withUnlistedSlots() -> VerificationReport {
    var report = self
    report.problems += unlistedSlots.map {
      "slot \($0) is not in the vault's list of members, and opens nothing"
    }
    return report
  }

  /// Whether no problem was found.
  public var isIntact: Bool { problems.isEmpty }
}
