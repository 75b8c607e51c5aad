import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func files() throws -> String?? {
    switch vector.operation {
    case "seen record": try seenRecord().encoded.hexadecimal
    case "decoded seen record":
      .some(try SeenRecord(encoded: vector.data("record"))?.encoded.hexadecimal)
    case "seen name": try SeenRecord.name(of: vector.text("path"))
    case "cache name": try Data(CachedKey.name(tier(), of: id()).utf8).hexadecimal
    case "cache place":
      try Data(CachedKey.name(ofVaultAt: SeenRecord.name(of: vector.text("path"))).utf8).hexadecimal
    case "cache payload":
      try CachedKey.payload(
        limit: vector.secret("limit").withBytes { $0.littleEndian(at: 0, as: UInt64.self) },
        binding: vector.data("binding"), key: vector.secret("tierKey")
      ).hexadecimal()
    default: nil
    }
  }

  private func seenRecord() throws -> SeenRecord {
    let zeros = Data(repeating: 0, count: 32)
    let (next, recovery) = (try vector.data("nextAdministration"), try vector.data("recoveryKey"))
    let proved = try (0..<3).map { tier in
      let commit = try SeenCommit(
        serial: vector.number("serial\(tier)"), n: vector.number("n\(tier)"),
        digest: vector.data("digest\(tier)"))
      return commit.n == 0 ? nil : commit
    }
    return try SeenRecord(
      id: id(), administration: vector.data("administration"),
      nextAdministration: next == zeros ? nil : next,
      recoveryKey: recovery == zeros ? nil : recovery, epoch: vector.number("epoch"),
      serial: vector.number("serial"), listHash: vector.data("listHash"), proved: proved)
  }
}
