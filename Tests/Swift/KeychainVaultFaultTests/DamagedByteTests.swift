import FaultTesting
import Foundation
import KeychainVault
import KeychainVaultTesting
import Testing

/// Changes the bytes of a vault's file: each byte, cuts, and insertions.
///
/// A reader that saw the vault finds the present state or an error; on first use it may find an older state.
@Suite("Bytes of the file are changed", .timeLimit(.minutes(14)))
struct DamagedByteTests {
  private static let ways = [(true, true), (true, false), (false, true), (false, false)]

  @Test(arguments: ways)
  func aByteIsChanged(_ hasKeyFile: Bool, _ seen: Bool) throws {
    var random = SplitMix(state: UInt64(hasKeyFile ? 1 : 2))
    let sample = try SampleVault.filled(hasKeyFile: hasKeyFile)
    let first = Int.random(in: 0..<Thoroughness.byteStep)
    try check(sample, seen, "a byte is changed") { file in
      stride(from: first, to: file.count, by: Thoroughness.byteStep).map { offset in
        var changed = file
        changed[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        return ("byte \(offset)", changed)
      }
    }
  }

  @Test(arguments: ways)
  func theFileIsCut(_ hasKeyFile: Bool, _ seen: Bool) throws {
    let sample = try SampleVault.filled(hasKeyFile: hasKeyFile)
    let first = Int.random(in: 1...Thoroughness.cutStep)
    try check(sample, seen, "the file is cut") { file in
      stride(from: first, to: file.count, by: Thoroughness.cutStep).map {
        ("cut after \($0)", file.prefix($0))
      }
    }
  }

  @Test(arguments: ways)
  func bytesAreInserted(_ hasKeyFile: Bool, _ seen: Bool) throws {
    var random = SplitMix(state: 3)
    let sample = try SampleVault.filled(hasKeyFile: hasKeyFile)
    let first = Int.random(in: 0..<Thoroughness.cutStep)
    try check(sample, seen, "bytes are inserted") { file in
      stride(from: first, through: file.count, by: Thoroughness.cutStep).map { offset in
        let count = [1, 16, 100, 4096][offset % 4]
        let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
        return ("inserted at \(offset)", file.prefix(offset) + bytes + file.dropFirst(offset))
      }
    }
  }

  private func check(
    _ sample: SampleVault, _ seen: Bool, _ what: String, _ changes: (Data) -> [(String, Data)]
  ) throws {
    // What lies before the last commit is not an unfinished write, so nothing is cut off there.
    let lastCommit = sample.files[sample.files.count - 2].count
    var outcomes: [String: Int] = [:]
    var longest: Duration = .zero
    let changes = changes(sample.file)
    for (place, bytes) in changes {
      try sample.replace(by: bytes, seen: seen)
      var view = VaultView()
      longest = max(longest, ContinuousClock().measure { view = sample.look() })
      outcomes[view.outcome, default: 0] += 1
      let isLast = bytes.prefix(lastCommit) == sample.file.prefix(lastCommit)
      let isWhole = bytes.count >= sample.file.count
      let states = seen || (isWhole && !isLast) ? [sample.state] : sample.states
      let violations = view.violations(states)
      #expect(violations == [], "\(place): \(violations)")
      let now = try Data(contentsOf: URL(filePath: sample.path))
      #expect(now == bytes, "\(place): a read wrote to the file")
    }
    try sample.replace(by: sample.file, seen: true)
    #expect(try sample.handle().verify().problems == [])
    #expect(longest < .seconds(30))
    print("\(what), \(seen ? "seen" : "not seen") before: \(changes.count) times; \(outcomes)")
  }
}
