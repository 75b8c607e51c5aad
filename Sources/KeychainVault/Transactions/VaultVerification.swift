internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// Computes again within one transaction everything that a vault says about its rows.
struct VaultVerification {
  let rows: any VaultRows
  let sealing: ItemSealing
  let progress: ((VaultProgress) -> Void)?

  private let head: HeadRow
  private let members: MemberList

  /// The state; `nil` if it does not open.
  private let chained: ChainedState?
  private var report = VerificationReport(itemCount: 0, openedCount: 0, problems: [])
  private var tokenCount = 0
  private var groups: AccessGroupNames

  init(
    rows: any VaultRows, sealing: ItemSealing, proven: ProvenVault,
    progress: ((VaultProgress) -> Void)? = nil
  ) {
    self.init(
      rows: rows, sealing: sealing, head: proven.head, members: proven.members,
      chained: proven.chained, progress: progress)
  }

  /// Verifies a vault whose state may be damaged or old.
  init(
    rows: any VaultRows, sealing: ItemSealing, head: HeadRow, members: MemberList,
    chained: ChainedState?, progress: ((VaultProgress) -> Void)? = nil
  ) {
    self.rows = rows
    self.sealing = sealing
    self.head = head
    self.members = members
    self.chained = chained
    self.progress = progress
    groups = AccessGroupNames(rows: rows, sealing: sealing)
  }

  /// What was found, and the roots that would match the rows.
  struct Outcome {
    var report: VerificationReport
    var roots: TreeRoots
  }

  /// Checks all rows, and calls `visit` with each item that opens.
  ///
  /// Errors of `visit` end the verification, except damage, which is reported as a problem of the
  /// vault.
  mutating func run(
    _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void = { _ in }
  ) throws(KeychainError) -> Outcome {
    report.problems += try rows.integrityProblems().map { "the file: \($0)" }
    report.problems += try SlotVerification.problems(of: members, rows)
    report.unlistedSlots = members.unlisted(in: try rows.slots())
    if let chained {
      report.problems += try ChainVerification.problems(of: chained, rows, sealing.keys)
    } else {
      report.problems.append("the vault's state is damaged")
    }
    let count = chained.map { Int(clamping: $0.state.items.count) } ?? 0
    try checkItems(expected: count, visit)
    var nodes = NodeVerification(rows)
    let roots = try nodes.roots(TokenTerms(open: sealing.keys.open.bytes))
    report.problems += try nodes.problems()
    compare(roots)
    return Outcome(report: report, roots: roots)
  }

  private mutating func checkItems(
    expected: Int, _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    var ids: [Data] = []
    try rows.forEachItem { id, item throws(KeychainError) in ids.append(id) }
    for id in ids {
      report.itemCount += 1
      do throws(KeychainError) {
        guard let item = try rows.item(id) else { throw .damagedItem(ItemRow.name(of: id)) }
        try check(item, visit)
      } catch {
        guard error.code == .damaged else { throw error }
        report.problems.append(error.message)
      }
      if report.itemCount.isMultiple(of: 100) || report.itemCount == ids.count {
        progress?(VaultProgress(completed: report.itemCount, total: max(expected, ids.count)))
      }
    }
  }

  private mutating func check(
    _ item: ItemRow, _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    let name = ItemRow.name(of: item.id)
    tokenCount += item.tokens.count / ItemRow.tokenCount
    try requirePossible(item)
    guard try item.hasItsSecret() else { throw .damagedItem(name) }
    guard try rows.tokenCount(of: item) == item.tokens.count / ItemRow.tokenCount else {
      throw .damagedItem("the index of \(name)")
    }
    guard sealing.keys.satisfies(item.accessibility.unlockRequirement),
      !sealing.isOfOtherDevice(item)
    else { return }
    let opened = try sealing.opened(item, group: try groups.name(of: item), name: name)
    guard try sealing.tokens(of: opened.credential) == item.tokens else {
      throw .damagedItem("the index of \(opened.credential.identity)")
    }
    try visit(opened)
    report.openedCount += 1
  }

  /// Fails if the list of members allows no such item.
  private func requirePossible(_ item: ItemRow) throws(KeychainError) {
    let needsPassphrase = item.accessibility == .whenPasscodeSetThisDeviceOnly
    let isPossible =
      members.vaultKind == .shared
      ? !item.accessibility.isThisDeviceOnly : members.hasPassphrase || !needsPassphrase
    guard !isPossible else { return }
    throw KeychainError(
      .damaged, "\(ItemRow.name(of: item.id)) has an accessibility that this vault does not allow")
  }

  private mutating func compare(_ roots: TreeRoots) {
    if roots.tokenRowCount != tokenCount {
      report.problems.append("the index and the items differ")
    }
    guard let state = chained?.state else { return }
    if state.items.count != UInt64(report.itemCount) {
      report.problems.append(
        "the vault should have \(state.items.count) items, and has \(report.itemCount)")
    }
    guard !roots.match(state) else { return }
    report.problems.append("rows were changed, dropped or put back outside the vault")
  }
}
