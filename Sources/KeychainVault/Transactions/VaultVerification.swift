internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// Recomputes within one transaction everything that the state row asserts about the rows.
struct VaultVerification {
  let rows: any VaultRows
  let sealing: ItemSealing
  let state: StateRow
  let progress: ((VaultProgress) -> Void)?

  private var sum = StateRow.empty.sum
  private var report = VerificationReport(itemCount: 0, openedCount: 0, problems: [])
  private var tokenCount = 0
  private var newestVersion: UInt64 = 0
  private var groups: AccessGroupNames

  init(
    rows: any VaultRows, sealing: ItemSealing, state: StateRow,
    progress: ((VaultProgress) -> Void)? = nil
  ) {
    self.rows = rows
    self.sealing = sealing
    self.state = state
    self.progress = progress
    groups = AccessGroupNames(rows: rows, sealing: sealing)
  }

  /// What was found, and the state row that would match the rows.
  struct Outcome {
    var report: VerificationReport
    var actual: StateRow
  }

  /// Checks all rows against the state row, and calls `visit` with each item that opens.
  ///
  /// Errors of `visit` end the verification, except damage, which is reported as a problem of the
  /// vault.
  mutating func run(
    _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void = { _ in }
  ) throws(KeychainError) -> Outcome {
    report.problems += try rows.integrityProblems().map { "the file: \($0)" }
    let terms = try StateTerms(open: sealing.keys.open.bytes)
    toggle(try terms.term(of: rows.vaultRow()))
    for group in try rows.accessGroups() { toggle(try terms.term(of: group)) }
    let slotCount = try checkSlots(terms)
    try checkItems(terms, expected: Int(clamping: state.itemCount), visit)
    if try rows.tokenCount() != tokenCount {
      report.problems.append("the two indexes differ")
    }
    let actual = StateRow(
      counter: max(state.counter, newestVersion), itemCount: UInt64(report.itemCount),
      slotCount: slotCount, sum: sum)
    compare(actual)
    return Outcome(report: report, actual: actual)
  }

  private mutating func checkSlots(_ terms: borrowing StateTerms) throws(KeychainError) -> UInt32 {
    let slots = try rows.slots()
    for slot in slots.intact { toggle(try terms.term(of: slot)) }
    report.problems += slots.damaged.map { "slot \($0) is damaged" }
    let cutsDevices = slots.intact.contains(where: \.cutsDevices)
    for slot in slots.intact where cutsDevices && slot.isFullDevice {
      report.problems.append(
        "slot \(slot.number) lets a device open everything, despite a passphrase or key file")
    }
    return UInt32(slots.intact.count + slots.damaged.count)
  }

  private mutating func checkItems(
    _ terms: borrowing StateTerms, expected: Int,
    _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    var ids: [Data] = []
    try rows.forEachItem { id, item throws(KeychainError) in ids.append(id) }
    for id in ids {
      report.itemCount += 1
      do throws(KeychainError) {
        guard let item = try rows.item(id) else { throw .damagedItem(ItemRow.name(of: id)) }
        try check(item, terms, visit)
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
    _ item: ItemRow, _ terms: borrowing StateTerms,
    _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    let tokens = try rows.tokens(of: item.id)
    tokenCount += tokens.count
    toggle(try terms.term(of: item, tokens: tokens))
    for token in tokens {
      guard try rows.hasToken(token, item: item.id) else {
        throw .damagedItem("the index of \(ItemRow.name(of: item.id))")
      }
    }
    guard tokens.contains(ItemSealing.ownToken(of: item.id)) else {
      throw .damagedItem("the index of \(ItemRow.name(of: item.id))")
    }
    guard sealing.keys.satisfies(item.accessibility.unlockRequirement),
      !sealing.isOfOtherDevice(item)
    else { return }
    let group = try groups.name(of: item)
    let opened = try sealing.opened(item, group: group, name: ItemRow.name(of: item.id))
    guard try sealing.tokens(of: opened.credential, id: item.id) == tokens else {
      throw .damagedItem("the index of \(opened.credential.identity)")
    }
    try visit(opened)
    // The version of an item that does not open is not authenticated.
    newestVersion = max(newestVersion, item.version)
    report.openedCount += 1
  }

  private mutating func compare(_ actual: StateRow) {
    if state.counter != actual.counter {
      report.problems.append(
        "the vault should be at change \(state.counter), and has an item of \(actual.counter)")
    }
    if state.itemCount != actual.itemCount {
      report.problems.append(
        "the vault should have \(state.itemCount) items, and has \(actual.itemCount)")
    }
    if state.slotCount != actual.slotCount {
      report.problems.append(
        Self.slotCountProblem(expected: state.slotCount, found: Int(actual.slotCount)))
    }
    if state.sum != actual.sum {
      report.problems.append("rows were changed, dropped or put back outside the vault")
    }
  }

  static func slotCountProblem(expected: UInt32, found: Int) -> String {
    "the vault should have \(expected) slots, and has \(found)"
  }

  private mutating func toggle(_ term: Data) {
    sum = Data(zip(sum, term).map { $0 ^ $1 })
  }
}
