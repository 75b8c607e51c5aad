internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

extension TreeRoots {
  /// Whether they are those of a state.
  func match(_ state: VaultState) -> Bool {
    items == state.items && tokens == state.tokens && groups == state.groups
  }
}

/// Compares the slots and successions with the list of members.
enum SlotVerification {
  static func problems(
    of members: MemberList, _ rows: any VaultRows
  ) throws(KeychainError) -> [String] {
    var problems: [String] = []
    let slots = try rows.slots()
    for member in members.members {
      if slots.damaged.contains(member.number) {
        problems.append("slot \(member.number) is damaged")
        continue
      }
      if slots.unknown.contains(member.number) { continue }
      guard let slot = slots.intact.first(where: { $0.number == member.number }) else {
        problems.append("slot \(member.number) of the vault's list of members is missing")
        continue
      }
      if try member.rowHash != slot.rowHash() {
        problems.append("slot \(slot.number) is another one than the vault's list of members has")
      }
    }
    problems += try successionProblems(members, rows)
    return problems
  }

  private static func successionProblems(
    _ members: MemberList, _ rows: any VaultRows
  ) throws(KeychainError) -> [String] {
    var problems: [String] = []
    for row in try rows.successions() {
      if try !Succession(row, of: members.id).isSignedByBothKeys {
        problems.append(
          "the change of the administration key in epoch \(row.epoch) has a wrong signature")
      }
    }
    return problems
  }
}

/// Checks the chain of the last states.
enum ChainVerification {
  static func problems(
    of chained: ChainedState, _ rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) -> [String] {
    let isRight: Bool
    do throws(KeychainError) {
      let chain = try StateChain(
        rows, from: chained.state.first, through: chained.state.counter, under: keys.open)
      let count = try rows.chainBoxes(nil).count
      isRight = try chain.leads(to: chained) ? count == chain.entries.count : false
    } catch {
      guard error.code == .damaged, error.underlying == nil else { throw error }
      isRight = false
    }
    return isRight ? [] : ["the chain of the vault's last states is damaged"]
  }
}

/// Compares the stored nodes with those that the trees should have.
struct NodeVerification {
  private let rows: any VaultRows
  private let found: Found

  private final class Found {
    var counts: [Tree: Int] = [:]
    var wrong: Set<Tree> = []
  }

  init(_ rows: any VaultRows) {
    self.rows = rows
    found = Found()
  }

  /// Computes the trees, and compares each node.
  mutating func roots(_ terms: TokenTerms) throws(KeychainError) -> TreeRoots {
    let (rows, found) = (rows, found)
    return try TreeRoots(rows, terms) { tree, prefix, content throws(KeychainError) in
      found.counts[tree, default: 0] += 1
      if try rows.nodes(tree, [prefix])[prefix] != content { found.wrong.insert(tree) }
    }
  }

  /// Returns the problems of the nodes, after the trees were computed.
  func problems() throws(KeychainError) -> [String] {
    var problems: [String] = []
    for tree in Tree.allCases {
      var count = 0
      try rows.forEachNode(of: tree) { _, _ throws(KeychainError) in count += 1 }
      if found.wrong.contains(tree) || count != found.counts[tree, default: 0] {
        problems.append(KeychainError.damagedTree(tree).message)
      }
    }
    return problems
  }
}
