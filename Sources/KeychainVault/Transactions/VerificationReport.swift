public import KeychainCredentials
internal import KeychainVaultFormat

/// What a verification of a vault found.
public struct VerificationReport: Hashable, Sendable {
  /// The number of items.
  public var itemCount: Int
  /// How many of them were opened: the others are locked here, or bound to other devices.
  public var openedCount: Int
  /// What is wrong; empty if the vault is intact, as far as it was looked at.
  public var problems: [String]

  /// The unlock as far as which items were proved and opened.
  ///
  /// Items that need more were only compared with what the device key shows of them, and whoever has that key can have changed it.
  public var readable: Accessibility.UnlockRequirement = .nothing

  /// Whether a write that was not finished follows the newest change; the next write removes it.
  public var hasUnfinishedWrite = false

  /// Items that one of the same name with a stricter accessibility hides; the next compaction drops them.
  public var shadowed: [String] = []

  var itemsOfOtherDevices: Set<ItemID> = []

  /// The items that are damaged, with what they are called.
  var damagedItems: [ItemID: String] = [:]

  /// The pages that are damaged, by the ids of their first items, which may have newer contents that are whole.
  var damagedPages: [ItemID: String] = [:]

  /// Whether nothing is wrong.
  public var isIntact: Bool { problems.isEmpty }
}

extension VerificationReport {
  /// Fails if there is a problem.
  func requireIntact() throws(KeychainError) {
    guard let problem = problems.first else { return }
    throw KeychainError(
      .damaged, "the vault is not intact: \(problem)",
      recovery:
        "see all problems with \(.verify); a plain copy of the file keeps what there is")
  }
}
