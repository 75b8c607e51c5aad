import Foundation
import KeychainCredentials
import KeychainVaultFormat
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Files are put together from parts of older states, of a copy that was changed elsewhere, and of
/// another vault of the same user.
@Suite("Spliced files", .timeLimit(.minutes(14)))
struct SpliceTests {
  @Test(arguments: [true, false])
  func noMixtureOfStatesIsRead(_ seen: Bool) throws {
    var sample = try SampleVault.filled(hasKeyFile: false)
    let other = try SampleVault.filled(hasKeyFile: false, nextTo: sample.test)
    // The other of two copies.
    let copied = sample.file
    var fork = sample
    try fork.put("t2", "fork", .whenUnlocked)
    try sample.replace(by: copied, seen: true)
    try sample.put("t1", "three", .afterFirstUnlock)
    try sample.compact()
    try sample.put("t0", "three", .always)
    // Before and after its bases, and under another list of members.
    let files = [sample.file, sample.files[3], copied, fork.file, other.file]
    let parts = try files.map(Self.parts)
    let genuine = Set(files)
    var outcomes: [String: Int] = [:]
    for number in 0..<Int(pow(5.0, 4)) {
      let choice = [number % 5, number / 5 % 5, number / 25 % 5, number / 125]
      let spliced = choice.enumerated().reduce(into: Data()) { $0 += parts[$1.element][$1.offset] }
      guard !genuine.contains(spliced), number % Thoroughness.callStep == 0 else { continue }
      try sample.replace(by: spliced, seen: seen)
      let view = sample.look()
      let states = seen ? [sample.state] : sample.states + fork.states + other.states
      let violations = view.violations(states)
      #expect(violations == [], "parts of \(choice): \(violations)")
      outcomes[view.outcome, default: 0] += 1
    }
    print("spliced, \(seen ? "seen" : "not seen") before: \(outcomes)")
  }

  /// Whole files, older ones and others: refused where the vault was seen.
  @Test func otherStatesAreNotReadWhereTheVaultWasSeen() throws {
    let sample = try SampleVault.filled(hasKeyFile: true)
    for (number, file) in sample.files.dropLast().enumerated() {
      try sample.replace(by: file, seen: true)
      let view = sample.look()
      #expect(view.outcome == "rolledBack", "state \(number)")
      try sample.replace(by: file, seen: false)
      #expect(sample.look().state(of: [sample.states[number]]) == 0, "state \(number)")
    }
  }

  /// Head, pages and boxes, index and spine, log.
  private static func parts(_ file: Data) throws -> [Data] {
    let lengths = try VaultHead.lengths(
      prefix: file.prefix(VaultHead.prefixCount), fileLength: file.count, path: "")
    return [
      file.prefix(lengths.head), file[lengths.pagesRange],
      file[lengths.indexRange.lowerBound..<lengths.log], file[lengths.log...],
    ]
  }
}
