import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("What manual pages say")
struct ManualTests {
  private static let page = URL(filePath: #filePath)
    .appending(path: "../../../../Documentation/Reference.md").standardizedFileURL

  /// Returns the cells of the table below a heading of the page for reference.
  private func cells(below heading: String) throws -> [[String]] {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let section = try #require(text.components(separatedBy: "\n### \(heading)\n").dropFirst().first)
    return section.components(separatedBy: "\n#")[0].split(separator: "\n")
      .filter { $0.hasPrefix("|") }.dropFirst(2)
      .map { line in
        line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
          .map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
      }
  }

  @Test func exitCodesMatchThePage() throws {
    let cells = try cells(below: "Codes")
    #expect(cells == ExitCodes.all.map { [String($0.code), $0.meaning] })
  }

  @Test func everyFailureExitCodeIsExplained() {
    let codes = Set(ExitCodes.all.map(\.code))
    #expect(codes.isSuperset(of: KeychainError.Code.allCodes.map(ExitCodes.code(for:))))
    #expect(codes.count == ExitCodes.all.count)
  }

  @Test func environmentMatchesThePage() throws {
    let cells = try cells(below: "Variables of the keychain")
    #expect(cells == KeychainManual.environment.map { [$0.name, $0.meaning] })
  }
}

extension KeychainError.Code {
  fileprivate static let allCodes: [Self] = [
    .insufficientMemory, .notFound, .invalidArgument, .damaged, .foreign, .rolledBack, .noStore,
    .internalFailure, .inputOutput, .timedOut, .busy, .versionConflict, .alreadyExists,
    .ambiguous, .locked, .incorrectSecret, .refused, .unsupportedFormat, .otherDevice,
    .insecurePermissions, .tooLarge, .expired, .cancelled,
    .outcomeUnknown,
  ]
}
