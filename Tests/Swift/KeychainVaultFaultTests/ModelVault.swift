import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultFormat
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

/// What a vault holds, as a user sees it.
struct VaultState: Hashable, CustomStringConvertible {
  var exists = true
  var items: [String: String] = [:]
  var slots: [SlotKind] = [.device]

  static let none = VaultState(exists: false, slots: [])

  var description: String {
    exists ? "\(items.mapValues { $0.count > 20 ? "\($0.count) bytes" : $0 }) \(slots)" : "no vault"
  }
}

/// A step of a test, and what it makes of a vault.
struct VaultStep: Sendable {
  let name: String
  let run: @Sendable (ModelVault, ModelDisk) throws -> Void
  let change: @Sendable (inout VaultState) -> Void
}

/// A whole vault on a ``ModelDisk``; its seen record and the device secret lie in files, and the record
/// is found after a power failure as if it were on a disk, too.
final class ModelVault: Sendable {
  let test: TestVault
  let record: String
  let kind: Kind

  enum Kind: CaseIterable {
    /// The device opens all.
    case device
    /// The device opens T0 alone, and is used for some of the writes.
    case keyFile
    case shared
  }

  init(_ kind: Kind) throws {
    self.kind = kind
    test = try TestVault()
    let folder = URL(filePath: test.path).deletingLastPathComponent()
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // Its owner and mode are looked at on the way to the model.
    _ = FileManager.default.createFile(
      atPath: test.path, contents: Data([0]), attributes: [.posixPermissions: 0o600])
    let name = try SeenRecord.name(of: TrustedPath(resolving: test.path).path)
    record = test.seenFolder + "/" + name
    _ = try test.file("key", String(repeating: "k", count: 32))
    if kind == .shared { _ = try test.identity("identity") }
  }

  private var keyFile: String { test.folder.path + "/key" }
  private var identity: String { test.folder.path + "/identity" }

  func disk(
    _ state: DiskState = DiskState(), hasClock: Bool = true,
    failing fault: @escaping @Sendable (Int, ModelDisk.Call) -> ModelDisk.Fault? = { _, _ in nil }
  ) -> ModelDisk {
    let record = record
    var state = state
    state.hasClock = hasClock
    return ModelDisk(
      state, record: { FileManager.default.contents(atPath: record) }, failing: fault)
  }

  /// Returns a handle as of another process.
  func handle(_ disk: ModelDisk, withKeyFile: Bool = true) -> Vault {
    test.handle {
      $0.disk = disk
      $0.deadline = .seconds(20)
      switch kind {
      case .keyFile where withKeyFile: $0.unlock = .keyFile(keyFile, named: "the test")
      case .shared: $0.unlock = .identityFile(identity, named: "the test")
      case .device, .keyFile: break
      }
    }
  }

  /// Puts the record that a power failure left in its place.
  func restore(_ bytes: Data?) throws {
    guard let bytes else {
      try? FileManager.default.removeItem(atPath: record)
      return
    }
    try FileManager.default.createDirectory(
      atPath: test.seenFolder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try bytes.write(to: URL(filePath: record))
  }

  func state(_ disk: ModelDisk) throws -> VaultState {
    let handle = handle(disk)
    do {
      guard try handle.session() != nil else { return .none }
    } catch {
      guard error.code == .noStore else { throw error }
      return .none
    }
    var state = VaultState()
    let found = try handle.search(CredentialQuery())
    guard found.damaged.isEmpty, found.lockedCount == 0 else { throw Incomplete() }
    for credential in found.credentials {
      let account = credential.identity.account
      state.items[account] = try handle.text(account)
    }
    state.slots = try handle.slots().map(\.kind)
    return state
  }

  private struct Incomplete: Error {}

  // MARK: - Steps

  static func put(
    _ account: String, _ secret: String, _ accessibility: Accessibility = .whenUnlocked,
    withKeyFile: Bool = true
  ) -> VaultStep {
    VaultStep(name: "put \(account)") { vault, disk in
      try vault.handle(disk, withKeyFile: withKeyFile).put(account, secret, accessibility)
    } change: {
      $0.items[account] = secret
    }
  }

  /// Puts an item that lets the log grow to its limit soon.
  static func putLong(_ account: String, withKeyFile: Bool = true) -> VaultStep {
    VaultStep(name: "put long \(account)") { vault, disk in
      var credential = Credential(.test(account), accessibility: .always)
      credential.comment = String(repeating: "long ", count: 3000)
      try vault.handle(disk, withKeyFile: withKeyFile).set(
        credential, secret: SecretBytes(copying: "long"))
    } change: {
      $0.items[account] = "long"
    }
  }

  static func remove(_ account: String) -> VaultStep {
    VaultStep(name: "remove \(account)") { vault, disk in
      try vault.handle(disk).remove(.test(account))
    } change: {
      $0.items[account] = nil
    }
  }

  static let compact = VaultStep(name: "compact") { vault, disk in
    try vault.handle(disk).compact()
  } change: { _ in
  }

  static let rekey = VaultStep(name: "rekey") { vault, disk in
    try vault.handle(disk).rekey(newAdministrationKey: true) { _ in true }
  } change: { _ in
  }

  static func create(_ kind: Kind) -> VaultStep {
    VaultStep(name: "create") { vault, disk in
      let handle = vault.handle(disk)
      if kind == .shared {
        try handle.createShared(identityFile: vault.identity, startingAnew: true) { _ in true }
      } else {
        try handle.create(
          passphrase: nil, keyFile: kind == .keyFile ? vault.keyFile : nil, device: true,
          startingAnew: true)
      }
    } change: {
      let slots: [Kind: [SlotKind]] = [
        .device: [.device], .keyFile: [.device, .keyFile], .shared: [.recipient, .recoveryCode],
      ]
      $0 = VaultState(slots: slots[kind] ?? [])
    }
  }

  static let transaction = VaultStep(name: "transaction") { vault, disk in
    try vault.handle(disk).withTransaction { transaction in
      for account in ["a", "d"] {
        try transaction.set(
          Credential(.test(account)), secret: SecretBytes(copying: "in a transaction"))
      }
      try transaction.remove(.test("c"))
    }
  } change: {
    $0.items["a"] = "in a transaction"
    $0.items["d"] = "in a transaction"
    $0.items["c"] = nil
  }

  /// A vault that the device opens.
  static let deviceSteps = [
    create(.device), put("a", "one"), put("b", String(repeating: "long", count: 800)),
    put("a", "two"),
    put("c", "open", .always), remove("b"), transaction, put("e", "five"), compact,
    put("f", "six", .afterFirstUnlock),
    VaultStep(name: "add a code") { vault, disk in
      try vault.handle(disk).addRecoveryCodeSlot { _ in true }
    } change: {
      $0.slots.append(.recoveryCode)
    },
    put("a", "three"),
    VaultStep(name: "remove the code") { vault, disk in
      try vault.handle(disk).removeSlot(2)
    } change: {
      $0.slots = [.device]
    },
    put("g", "seven"), rekey, put("a", "four"),
  ]

  static let keyFileSteps: [VaultStep] = [
    create(.keyFile), put("a", "one"), put("c", "open", .always, withKeyFile: false),
    put("a", "two"),
    put("c", "new", .always, withKeyFile: false), put("d", "more", .always, withKeyFile: false),
    compact, put("c", "newer", .always, withKeyFile: false), rekey,
    put("c", "newest", .always, withKeyFile: false), put("a", "three"),
    putLong("l", withKeyFile: false), putLong("m", withKeyFile: false),
    putLong("n", withKeyFile: false), put("a", "four"), put("c", "last", .always),
  ]

  /// A vault whose commits a member signs.
  static let sharedSteps: [VaultStep] = [
    create(.shared), put("a", "one"), put("b", "two"), put("a", "two"), remove("b"),
    put("b", "three"), compact,
    VaultStep(name: "add a member") { vault, disk in
      let recipient =
        "pkpub2-taj4mjq8q8smqpghtbamj8rsm5t9pynfhytc7rx9vr66txnfps5y"
        + "tf0yzbjmg9hnjmfvavjtfa1dy57sycmcyx0hjv69ekxfeg87nw3cjyhvmcps"
      try vault.handle(disk).addRecipientSlot(VaultRecipient(text: recipient))
    } change: {
      $0.slots.append(.recipient)
    },
    put("a", "three"),
    VaultStep(name: "remove the member") { vault, disk in
      try vault.handle(disk).removeSlot(3)
    } change: {
      $0.slots.removeLast()
    },
    put("a", "four"), rekey, put("b", "four"),
  ]

  static func steps(_ kind: Kind) -> [VaultStep] {
    switch kind {
    case .device: deviceSteps
    case .keyFile: keyFileSteps
    case .shared: sharedSteps
    }
  }

  /// Runs steps, each of which is noted when it is acknowledged, from 1 on.
  func run(_ steps: [VaultStep], _ disk: ModelDisk, from first: Int = 0) throws {
    for (number, step) in steps.enumerated() {
      try step.run(self, disk)
      disk.note(first + number + 1)
    }
  }

  /// The states before the first step, and after each.
  static func states(_ steps: [VaultStep], from start: VaultState = .none) -> [VaultState] {
    steps.reduce(into: [start]) { states, step in
      var state = states[states.count - 1]
      step.change(&state)
      states.append(state)
    }
  }

  // MARK: - What must hold

  /// Checks a vault after a power failure: it has what was acknowledged, and what was not as a whole or
  /// not at all; and it can be written twice, even if the power fails again.
  func check(
    _ crash: Crash, _ states: [VaultState], from first: Int = 0, again: Int = 0
  ) throws {
    try restore(crash.record)
    let disk = disk(crash.state)
    let acknowledged = (crash.notes.last ?? first) - first
    let possible = states[acknowledged...min(acknowledged + 1, states.count - 1)]
    let found: VaultState
    do {
      found = try state(disk)
      try #require(possible.contains(found), "\(crash.place): found \(found), not \(possible)")
      let steps = found.exists ? Self.writes : [Self.create(kind)] + Self.writes
      let start = 1000 * (crash.notes.count + 1)
      // What was read stays.
      disk.note(start)
      let begin = disk.calls.count
      try run(steps, disk, from: start)
      guard again > 0 else { return }
      let next = Self.states(steps, from: found)
      try #require(try state(disk) == next.last, "\(crash.place)")
      try disk.forEachPowerLoss(seed: 1, limit: again, from: begin) { crash in
        try check(crash, next, from: start)
      }
    } catch let error as KeychainError {
      Issue.record("\(crash.place): \(error) \(possible)")
    }
  }

  static let writes = [put("y", "after"), put("z", "twice")]
}
