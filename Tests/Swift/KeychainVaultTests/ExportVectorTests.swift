import Foundation
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesSystem
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVault
@testable import KeychainVaultFormat

@Suite("Test vectors of export format 1")
struct ExportVectorTests {
  private static let all = VectorCase.load("export1")

  @Test func thereAreVectors() {
    #expect(Self.all.count > 60)
  }

  @Test(arguments: all)
  func holds(_ vector: VectorCase) throws {
    #expect(try ExportVectorRun(vector: vector).result() == vector.expect)
  }
}

/// Computes a vector with the functions of exports.
private struct ExportVectorRun {
  let vector: VectorCase

  /// Returns the result in hexadecimal; `nil` if the input is refused.
  func result() throws -> String? {
    switch vector.operation {
    case "export head":
      return try ExportHead(
        parameters: .init(memory: vector.number("memory"), passes: vector.number("passes")),
        salt: vector.data("salt")
      ).encoded.hexadecimal
    case "export commitment": return try key().commitment.hexadecimal
    case "export key": return try key().key.hexadecimal()
    case "exported item":
      // An export with only this item must return the same bytes.
      return try taken(content: Array(repeating: 0, count: 24) + expected(), count: 1)?
        .dropFirst(48).description
    case "export content": return try taken(content: expected())
    case "decoded export content": return try taken(content: vector.bytes("content"))
    case "decoded export":
      let test = try TestVault()
      let path = test.folder.path + "/x.export"
      try Data(vector.bytes("file")).write(to: URL(filePath: path))
      return try taken(path, passphrase: vector.text("passphrase"), in: test)
    default:
      Issue.record("no code runs the operation \(vector.operation)")
      return nil
    }
  }

  private func expected() throws -> [UInt8] {
    Array(try Data(hexadecimal: vector.expect ?? ""))
  }

  private func key() throws -> ExportKey {
    try ExportKey(ExportHead(vector.bytes("head")), inputKey: vector.secret("inputKey"))
  }

  /// Returns what reading an export of a content yields; `count` replaces the number of items.
  private func taken(content: [UInt8], count: UInt8? = nil) throws -> String? {
    var content = content
    if let count { content[8] = count }
    let test = try TestVault()
    // An export without content has no chunk to write.
    guard !content.isEmpty else { return nil }
    let path = try ExportSupport.forge(content: content, in: test)
    guard let taken = try taken(path, passphrase: "export", in: test) else { return nil }
    return content.prefix(8).hexadecimal + taken.dropFirst(16)
  }

  /// Returns the content of an export as read, except the time, which is not checked.
  private func taken(
    _ path: String, passphrase: String, in test: TestVault
  ) throws -> String? {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    let vault = test.handle()
    do {
      let input = try ReplayableInput(file.fileDescriptor, name: path) {
        try SpoolFile(in: test.folder.path)
      }
      let export = try vault.openExport(input, SecretBytes(copying: passphrase))
      let survey = try export.survey()
      let time = vector.expect?.prefix(16) ?? ""
      var content = FieldWriter.fields {
        $0.integer(UInt64(survey.itemCount))
        $0.integer(UInt64(survey.leftOutCount))
      }
      try export.forEachItem { item throws(KeychainError) in
        content += FieldWriter.fields {
          $0.integer(item.credential.accessibility.rawValue)
          $0.byteString(item.metadata)
          $0.byteString(item.secret.withBytes { $0.array })
        }
      }
      return time + content.hexadecimal
    } catch let error as KeychainError {
      #expect(
        [.damaged, .foreign, .incorrectSecret, .unsupportedFormat].contains(error.code))
      return nil
    }
  }
}
