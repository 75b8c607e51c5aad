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
    problems += slots.damaged.map { "slot \($0) is damaged" }
    var listed = Dictionary(uniqueKeysWithValues: members.members.map { ($0.number, $0) })
    for slot in slots.intact {
      guard let member = listed.removeValue(forKey: slot.number),
        try member.rowHash == slot.rowHash()
      else {
        problems.append("slot \(slot.number) is not in the vault's list of members")
        continue
      }
    }
    for number in slots.damaged + slots.unknown { listed[number] = nil }
    problems += listed.keys.sorted().map { "slot \($0) of the vault's list of members is missing" }
    problems += try successionProblems(members, rows)
    return problems
  }

  private static func successionProblems(
    _ members: MemberList, _ rows: any VaultRows
  ) throws(KeychainError) -> [String] {
    var problems: [String] = []
    for row in try rows.successions() {
      let succession = try Succession(row, of: members.id)
      // Whether the recovery code that signed is trusted is for the reader to decide.
      if !succession.canBeFollowed(trustingRecovery: succession.recoveryKey),
        succession.reason == .onRequest || succession.recoveryKey != nil
      {
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
    let chain = try StateChain(rows, upTo: chained.state.counter, under: keys.open)
    let found = try rows.chainBoxes(nil).count
    guard try chain.leads(to: chained), found == chain.entries.count, chain.isWhole else {
      return ["the chain of the vault's last states is damaged"]
    }
    return []
  }
}

extension StateChain {
  /// Whether it begins with the first state, or has as many entries as are kept.
  fileprivate var isWhole: Bool {
    entries.first?.previous == ChainedState.noPrevious
      || entries.count == Int(ChainEntry.length) || hasGap
  }

  private var hasGap: Bool {
    zip(entries, entries.dropFirst()).contains { $0.counter + 1 != $1.counter }
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
