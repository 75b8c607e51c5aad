import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Exit codes")
struct ExitCodeTests {
  /// The documented exit codes, repeated here so that a change of the table is noticed.
  private static let promised: [(KeychainError.Code, Int32)] = [
    (.insufficientMemory, 71), (.notFound, 44), (.invalidArgument, 64), (.damaged, 65),
    (.foreign, 65), (.rolledBack, 65), (.noStore, 69), (.internalFailure, 70), (.inputOutput, 74),
    (.timedOut, 75), (.busy, 75), (.versionConflict, 75), (.alreadyExists, 75), (.ambiguous, 76),
    (.locked, 77), (.incorrectSecret, 78), (.refused, 79), (.unsupportedFormat, 79),
    (.otherDevice, 79), (.insecurePermissions, 79), (.tooLarge, 79), (.expired, 80),
    (.cancelled, 130), (.undecodable, 65), (.outcomeUnknown, 81),
  ]

  @Test(arguments: promised)
  func failureHasItsExitCode(_ failure: KeychainError.Code, _ code: Int32) {
    #expect(ExitCodes.code(for: failure) == code)
  }

  /// The page for authors lists every code with its number.
  @Test func thePageOfTheLibraryHasThem() throws {
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    let page = root.appending(path: "Sources/Keychain/Keychain/Documentation.docc/Keychain.md")
    let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
      .filter { $0.first?.hasPrefix("`.") == true }.map { "\($0[0]) \($0[2])" }
    #expect(Set(rows) == Set(Self.promised.map { "`.\($0.0)` \($0.1)" }))
    #expect(rows.count == Self.promised.count)
  }

  @Test func everyFailureIsPromised() {
    #expect(Set(Self.promised.map(\.0)).count == 25)
  }
}
