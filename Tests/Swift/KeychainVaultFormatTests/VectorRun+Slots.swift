import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func slots() throws -> String?? {
    switch vector.operation {
    case "head macs": try head().macs.map(\.hexadecimal).joined()
    case "head sum": try head().sum.hexadecimal
    case "checked features": .some(try features())
    case "passphrase input key":
      try SlotSealing.passphraseKey(
        SecretBytes(copying: vector.text("passphrase")), salt: vector.data("salt"),
        parameters: parameters()
      ).hexadecimal()
    case "passphrase parameters": try parameters().encoded.hexadecimal
    case "key file input key": try KeyFile.inputKey(vector.secret("contents")).hexadecimal()
    case "slot row": try slotRow().fields.hexadecimal
    case "slot row hash": try slotRow().rowHash().hexadecimal
    case "slot sum": try slotRow().expectedSum().hexadecimal
    case "checked slot": .some(try checkedSlot())
    case "opened slot": .some(try openedSlot())
    default: try slotKeys()
    }
  }

  private func slotKeys() throws -> String?? {
    switch vector.operation {
    case "slot header": try header().fields(in: id()).hexadecimal
    case "slot commitment": try tag("key", "pk2/slot.commit")
    case "slot private key": try tag("inputKey", "pk2/slot.box")
    case "slot signing seed": try tag("inputKey", "pk2/slot.sign")
    case "slot public key": try keysOfSlot().boxKey.hexadecimal
    case "slot signing key": try keysOfSlot().signingKey().hexadecimal
    default: nil
    }
  }

  private func tag(_ key: String, _ label: String) throws -> String {
    try Derivation.tag(vector.secret(key), label, header().fields(in: id())).hexadecimal
  }

  private func keysOfSlot() throws -> SlotKeys {
    try SlotKeys(
      inputKey: vector.secret("inputKey"), header: header().fields(in: id()))
  }

  private func parameters() throws -> PasswordHash.Parameters {
    try PasswordHash.Parameters(memory: vector.number("memory"), passes: vector.number("passes"))
  }

  func head() throws -> HeadRow {
    try HeadRow(
      id: id(), epoch: vector.number("epoch"), keys: tierKeys(),
      administration: vector.data("administration"), generation: vector.number("generation"))
  }

  private func features() throws -> String? {
    let zeros = Data(repeating: 0, count: 32)
    let checks = [zeros.prefix(16), zeros.prefix(16), zeros.prefix(16)]
    let row = try HeadRow(
      id: VaultID(bytes: zeros.prefix(16)), epoch: 1,
      checks: VaultChecks(open: checks[0], first: checks[1], unlocked: checks[2]),
      parameters: vector.data("parameters"), administration: zeros, macs: [zeros, zeros, zeros],
      generation: 1)
    do {
      return try HeadRow(
        id: zeros.prefix(16), epoch: 1, checks: checks, parameters: row.parameters,
        administration: zeros, macs: row.macs, generation: 1, sum: row.sum, path: "vault"
      ).parameters.hexadecimal
    } catch {
      #expect([.damaged, .unsupportedFormat].contains(error.code))
      return nil
    }
  }

  private func header() throws -> SlotHeader {
    try SlotHeader(
      number: vector.number("number"), kind: kind(), parameters: vector.data("parameters"),
      salt: vector.data("salt"), made: vector.data("made"))
  }

  private func kind() throws -> SlotKind {
    try #require(SlotKind(rawValue: vector.number("kind")))
  }

  private func slotRow() throws -> SlotRow {
    let grant = try #require(SlotGrant(rawValue: vector.number("granted")))
    return try SlotRow(
      header: header(), grant: grant, commitment: vector.data("commitment"),
      box: vector.data("box"))
  }

  private func checkedSlot() throws -> String? {
    let slot = try slotRow()
    return try slot.isWellFormed && slot.sum == vector.data("sum") ? slot.fields.hexadecimal : nil
  }

  /// Returns the granted keys and the binding.
  private func openedSlot() throws -> String? {
    let slot = try slotRow()
    let opened: SlotSealing.Opened?
    do throws(KeychainError) {
      opened = try open(slot)
    } catch {
      #expect(error.code == .damaged)
      return nil
    }
    guard let opened else { return nil }
    return opened.granted.parts.map { $0.bytes.hexadecimal() }.joined()
      + opened.binding.bytes.hexadecimal
  }

  private func open(_ slot: SlotRow) throws(KeychainError) -> SlotSealing.Opened? {
    do {
      if vector.inputs.hex["seed"] != nil {
        return try SlotSealing.open(
          slot, identity: VaultIdentity(seed: vector.secret("seed")), vault: id())
      }
      return try SlotSealing.open(slot, inputKey: vector.secret("inputKey"), vault: id())
    } catch let error as KeychainError {
      throw error
    } catch {
      throw KeychainError(.internalFailure, "the vector cannot be read: \(error)")
    }
  }
}
