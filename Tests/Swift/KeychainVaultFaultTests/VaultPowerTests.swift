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
  static let scenarios = [false, true]

  private static func steps(_ hasKeyFile: Bool) -> [VaultStep] {
    hasKeyFile ? ModelVault.keyFileSteps : ModelVault.deviceSteps
  }

  @Test(arguments: scenarios)
  func acknowledgedChangesStay(_ hasKeyFile: Bool) throws {
    let vault = try ModelVault(hasKeyFile: hasKeyFile)
    let disk = vault.disk()
    let steps = Self.steps(hasKeyFile)
    disk.note(0)
    try vault.run(steps, disk)
    let states = ModelVault.states(steps)
    try #require(try vault.state(disk) == states.last)
    var number = 0
    let count = try disk.forEachPowerLoss(limit: Thoroughness.vaultCrashStates) { crash in
      number += 1
      try vault.check(crash, states, again: number.isMultiple(of: 20) ? 2 : 0)
    }
    print("power failed in \(disk.calls.count) calls of a vault: \(count) states")
  }
}
