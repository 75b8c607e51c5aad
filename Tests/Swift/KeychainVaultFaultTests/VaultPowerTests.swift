import FaultTesting
import Foundation
import KeychainCredentials
import KeychainVaultTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainVault

/// The power fails, programs are killed and calls fail while a whole vault is changed.
@Suite("Power failures of a vault", .timeLimit(.minutes(14)))
struct VaultPowerTests {
  @Test(arguments: ModelVault.Kind.allCases)
  func acknowledgedChangesStay(_ kind: ModelVault.Kind) throws {
    let vault = try ModelVault(kind)
    let disk = vault.disk()
    let steps = ModelVault.steps(kind)
    disk.note(0)
    try vault.run(steps, disk)
    let states = ModelVault.states(steps)
    try #require(try vault.state(disk) == states.last)
    var number = 0
    let count = try disk.forEachPowerLoss(limit: Thoroughness.vaultCrashStates) { crash in
      number += 1
      try vault.check(crash, states, again: number.isMultiple(of: 20) ? 2 : 0)
    }
    print("\(kind): power failed in \(disk.calls.count) calls of a vault: \(count) states")
  }

  /// A program is killed at a call; another one reads and writes, and then the power fails.
  @Test(arguments: ModelVault.Kind.allCases)
  func killedProgramsLeaveWholeStates(_ kind: ModelVault.Kind) throws {
    try interrupting(kind, with: { _ in Interruption(.kill, count: .max) }) {
      _, found, possible, _ in
      #expect(possible.contains(found), "found \(found), not \(possible)")
    }
  }

  /// Calls fail, one or several, and then the power fails.
  @Test(arguments: ModelVault.Kind.allCases)
  func failedCallsLeaveOldOrNewState(_ kind: ModelVault.Kind) throws {
    let interruptions = [
      Interruption(.init(.ioError), count: 1),
      Interruption(.init(.noSpace, written: 100), count: 1),
      Interruption(.init(.ioError), count: 2),
      Interruption(.init(.noSpace, written: 600), count: 3),
    ]
    try interrupting(kind, with: { interruptions[$0 / Thoroughness.callStep % 4].again() }) {
      interruption, found, possible, error in
      guard let error else { return #expect(found == possible[1], "\(found) \(possible)") }
      if interruption.count == 1, error.code != .outcomeUnknown {
        #expect(error.code == .inputOutput, "\(error)")
        #expect(found == possible[0], "\(error): found \(found), not \(possible[0])")
      }
      #expect(possible.contains(found), "\(error): found \(found), not \(possible)")
    }
  }

  /// An older file is accepted, with the keys that it has, or new ones if its list is older, too.
  @Test(arguments: [false, true])
  func acceptingIsAtomic(_ hasOlderList: Bool) throws {
    let vault = try ModelVault(.device)
    let disk = vault.disk()
    let steps = Array(ModelVault.deviceSteps.prefix(4))
    try vault.run(steps, disk)
    let old = try disk.open(vault.test.path, writing: false)
    let bytes = try old.read(0..<old.status().size)
    try ModelVault.put("a", "newer").run(vault, disk)
    if hasOlderList { try vault.handle(disk).addRecoveryCodeSlot { _ in true } }
    let restored = try disk.makeTemporary(vault.test.path + ".restored")
    try restored.write(bytes, at: 0)
    restored.mark(isUnfinished: false)
    try restored.sync()
    _ = try disk.exchange(vault.test.path + ".restored", vault.test.path)
    try disk.remove(vault.test.path + ".restored")
    try disk.syncFolder(of: vault.test.path)
    expect(.rolledBack) { try vault.state(disk) }
    disk.note(0)
    let begin = disk.calls.count
    #expect(try vault.handle(disk).acceptRestored { _ in true })
    disk.note(1)
    let accepted = ModelVault.states(steps)[steps.count]
    #expect(try vault.state(disk) == accepted)
    let count = try disk.forEachPowerLoss(from: begin) { crash in
      try vault.restore(crash.record)
      let disk = vault.disk(crash.state)
      do {
        #expect(try vault.state(disk) == accepted, "\(crash.place)")
      } catch let error as KeychainError {
        #expect(error.code == .rolledBack && crash.notes.last == 0, "\(crash.place): \(error)")
        #expect(try vault.handle(disk).acceptRestored { _ in true }, "\(crash.place)")
        #expect(try vault.state(disk) == accepted, "\(crash.place)")
      }
      try vault.run(ModelVault.writes, disk)
    }
    print("power failed while a restored file was accepted: \(count) states")
  }

  /// A writer is not misled by a file that looks as it did: its clock may stand still, and what follows
  /// the last good frame may have become a commit of the same length.
  @Test func writersCompareWhatTheyKnow() throws {
    let vault = try ModelVault(.device)
    let disk = vault.disk(hasClock: false)
    try vault.run(Array(ModelVault.deviceSteps.prefix(2)), disk)
    let file = try disk.open(vault.test.path, writing: true)
    let end = try file.status().size
    // A commit whose writer was killed: its last sector did not come.
    try ModelVault.put("b", "torn").run(vault, disk)
    let size = try file.status().size
    try file.write(Data(count: 200), at: size - 200)
    try FileManager.default.removeItem(atPath: vault.record)
    let open = vault.handle(disk)
    #expect(try open.text("b") == nil)
    try ModelVault.put("b", "full").run(vault, disk)
    try #require(try file.status().size == size && end < size)
    try open.put("c", "after")
    #expect(try vault.handle(disk).text("b") == "full")
    #expect(try vault.handle(disk).text("c") == "after")
  }

  /// Runs the steps with an interruption at each of the calls that are tested, and checks what a reader
  /// finds; then others write, and the power fails.
  private func interrupting(
    _ kind: ModelVault.Kind, with interruption: (Int) -> Interruption,
    _ check: (Interruption, VaultState, [VaultState], KeychainError?) throws -> Void
  ) throws {
    let steps = ModelVault.steps(kind)
    let states = ModelVault.states(steps)
    let calls = try {
      let vault = try ModelVault(kind)
      let disk = vault.disk()
      disk.note(0)
      try vault.run(steps, disk)
      return disk.calls
    }()
    var count = 0
    let first = Int.random(in: 0..<Thoroughness.callStep)
    for number in stride(from: first, to: calls.count, by: Thoroughness.callStep)
    where calls[number] != .note {
      let vault = try ModelVault(kind)
      let interruption = interruption(number)
      let disk = vault.disk(failing: { call, _ in interruption.fault(call, from: number) })
      disk.note(0)
      var failure: KeychainError?
      do {
        try vault.run(steps, disk)
      } catch let error as KeychainError {
        failure = error
      }
      interruption.end()
      let last = disk.states.last?.notes.last ?? 0
      let found = try vault.state(disk)
      // Where no call fails, a failure was not worth telling.
      let possible =
        failure == nil ? [states[last], states[last]] : Array(states[last...(last + 1)])
      try check(interruption, found, possible, failure)
      // What a reader has seen stays.
      disk.note(1000)
      let begin = disk.calls.count
      let next = found.exists ? ModelVault.writes : steps
      try vault.run(next, disk, from: 1000)
      count += try disk.forEachPowerLoss(limit: 2, from: begin) { crash in
        try vault.check(crash, ModelVault.states(next, from: found), from: 1000)
      }
    }
    print(
      "\(kind): interrupted at one of \(Thoroughness.callStep) of \(calls.count) calls: \(count) states"
    )
  }
}

/// Lets calls fail from one on, until it ends.
private final class Interruption: Sendable {
  let count: Int
  private let kind: ModelDisk.Fault
  private let state = Mutex((left: 0, hasBegun: false))

  init(_ kind: ModelDisk.Fault, count: Int) {
    self.kind = kind
    self.count = count
  }

  func again() -> Interruption { Interruption(kind, count: count) }

  func fault(_ call: Int, from first: Int) -> ModelDisk.Fault? {
    state.withLock { state in
      if call == first, !state.hasBegun { state = (count, true) }
      guard state.left > 0 else { return nil }
      state.left -= 1
      return kind
    }
  }

  func end() { state.withLock { $0 = (0, true) } }
}
