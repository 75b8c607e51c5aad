import Foundation
import KeychainCredentials
import KeychainVaultFormat
import Testing
import VaultVectors

@testable import KeychainSecrets

@Suite("Test vectors of recovery codes and identities")
struct CodeVectorTests {
  private static let all = VectorCase.load("codes1")

  @Test func thereAreVectors() {
    #expect(Self.all.count > 100)
  }

  @Test(arguments: all)
  func holds(_ vector: VectorCase) throws {
    #expect(try CodeVectorRun(vector: vector).result() == vector.expect)
  }
}

/// Computes a vector with the readers and writers of the keys that people copy.
private struct CodeVectorRun {
  let vector: VectorCase

  /// Returns the result in hexadecimal; `nil` if the input is refused.
  func result() throws -> String? {
    for family in [written, read] {
      if case .some(let result) = try family() { return result }
    }
    Issue.record("no code runs the operation \(vector.operation)")
    return nil
  }

  // Each family returns nil for an operation of another family, and .some(nil) for a refusal.

  private func written() throws -> String?? {
    switch vector.operation {
    case "text32":
      try text32().uppercased().utf8.hexadecimal
    case "recovery code":
      try RecoveryCode(vector.secret("code")).text().hexadecimal()
    case "public key": try SealedBox.publicKey(of: vector.secret("privateKey")).hexadecimal
    case "recipient":
      try VaultRecipient(publicKey: vector.data("publicKey")).description.utf8.hexadecimal
    case "identity":
      try VaultIdentity(privateKey: vector.secret("privateKey")).text().hexadecimal()
    default: nil
    }
  }

  private func text32() throws -> String {
    var buffer = try SecretBuffer()
    try Text32.append(
      vector.secret("data"), sumCount: vector.number("count"), .plain, to: &buffer)
    let text = try buffer.finish().withBytes { $0.text }
    return try #require(text)
  }

  private func read() throws -> String?? {
    switch vector.operation {
    case "decoded recovery code": .some(try recoveryCode())
    case "decoded recipient": .some(try recipient())
    case "decoded identity": .some(try identity())
    case "decoded identity file": .some(try identityFile())
    case "recipient box": .some(try message())
    default: nil
    }
  }

  private func recoveryCode() throws -> String? {
    try accepted(.incorrectSecret) { try RecoveryCode(text: given()).bytes.hexadecimal() }
  }

  private func recipient() throws -> String? {
    try accepted(.invalidArgument) {
      try VaultRecipient(text: vector.text("written")).publicKey.hexadecimal
    }
  }

  /// It has no error of its own, because it is read as part of a file.
  private func identity() throws -> String? {
    let text = try given()
    do throws(Text32.Fault) {
      let identity = try text.withBytes { text throws(Text32.Fault) in
        try VaultIdentity(text: text)
      }
      return identity.privateKey.hexadecimal()
    } catch {
      return nil
    }
  }

  private func identityFile() throws -> String? {
    try accepted(.incorrectSecret) {
      let file = try IdentityFile(text: vector.secret("contents"), name: "the vector")
      return file.identity.privateKey.hexadecimal() + file.pins.map(\.description).joined()
    }
  }

  private func message() throws -> String? {
    let box = try vector.bytes("box")
    let key = try vector.secret("privateKey")
    do throws(SecretsError) {
      return try SealedBox.open(box.span.bytes, with: key).hexadecimal()
    } catch {
      #expect(error.code == .authenticationFailed)
      return nil
    }
  }

  private func given() throws -> SecretBytes {
    try SecretBytes(copying: vector.text("written"))
  }

  /// Returns the computed value; `nil` if the input is refused with the right code.
  private func accepted(
    _ code: KeychainError.Code, _ compute: () throws -> String
  ) throws -> String? {
    do {
      return try compute()
    } catch let error as KeychainError {
      #expect(error.code == code)
      return nil
    }
  }
}
