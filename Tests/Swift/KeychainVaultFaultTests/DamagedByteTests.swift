import FaultTesting
import Foundation
import Glibc
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Testing

/// Changes single bytes of a vault file, thousands of times.
@Suite("A byte of the file is changed", .timeLimit(.minutes(14)))
struct DamagedByteTests {
  @Test(arguments: 0..<4)
  func aVaultOfTheDevice(_ part: Int) throws {
    try damage(
      SampleVault(passphrase: nil), times: Thoroughness.changedBytes(2500), seed: UInt64(part))
  }

  @Test(arguments: 0..<2)
  func aVaultWithAPassphrase(_ part: Int) throws {
    let sample = try SampleVault(passphrase: TestVault.passphrase)
    try damage(sample, times: Thoroughness.changedBytes(1000), seed: 100 + UInt64(part))
  }

  /// Changes a byte, reads everything, and restores the byte, repeatedly.
  private func damage(_ sample: SampleVault, times: Int, seed: UInt64) throws {
    let vault = try sample.vault.get()
    let intact = try Data(contentsOf: URL(filePath: vault.path))
    let around = try Self.entries(of: vault)
    var random = SplitMix(state: seed)
    var total = DamageReport()
    var longest: Duration = .zero
    for _ in 0..<times {
      let offset = Int.random(in: 0..<intact.count, using: &random)
      let value = intact[offset] ^ UInt8.random(in: 1...255, using: &random)
      try Self.write(value, at: offset, vault.path)
      var report = DamageReport()
      let time = try ContinuousClock().measure { report = try sample.read() }
      longest = max(longest, time)
      total.add(report)
      #expect(report.violations == [], "byte \(offset) is \(value)")
      var changed = intact
      changed[offset] = value
      let now = try Data(contentsOf: URL(filePath: vault.path))
      #expect(now == changed, "reading wrote to the file: byte \(offset) is \(value)")
      #expect(try Self.entries(of: vault) == around, "byte \(offset) is \(value)")
      if now == changed {
        try Self.write(intact[offset], at: offset, vault.path)
      } else {
        try intact.write(to: URL(filePath: vault.path))
      }
    }
    #expect(longest < .seconds(30))
    #expect(try sample.handle().verify().problems == [])
    print("\(times) changed bytes; outcomes of the reads, the longest \(longest):\n\(total.table)")
  }

  private static func write(_ byte: UInt8, at offset: Int, _ path: String) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte]))
    try file.close()
  }

  /// Returns the names of all files of the test.
  private static func entries(of vault: TestVault) throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: vault.folder.path))
  }
}
