// What `inject` writes, and when it writes nothing.

import CommandTesting
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands

@Suite("Templates")
struct InjectCommandTests {
  private let home: ClientHome
  private let program = TestedProgram()

  init() throws {
    home = try ClientHome()
    program.run("set", "token", "--service", "s", input: "s3{{ keychain://s/token }}")
  }

  private static let marker = "{{ keychain://s/token }}"

  private func run(_ words: String...) -> CommandRun { program.run(["inject"] + words) }

  @Test func templateIsFilledOnceAndTheRestStays() throws {
    let template: [UInt8] =
      [0xFF, 0]
      + Array(" \(Self.marker);{{keychain://s/token?field=username}} {{ \"{{\" }}\r\n}}".utf8)
    let expected: [UInt8] = [0xFF, 0] + Array(" s3\(Self.marker);token {{\r\n}}".utf8)
    let path = try home.write(template, to: "in")
    let filled = run(path)
    #expect(filled.code == 0 && filled.bytes == expected && filled.messages.isEmpty)
    #expect(program.run(["inject", "-"], input: template).bytes == expected)
    let written = run(path, "--output", home.file("out"))
    #expect(written.code == 0 && written.output.isEmpty && written.messages.isEmpty)
    #expect(FileManager.default.contents(atPath: home.file("out")) == Data(expected))
    #expect(try home.mode(of: "out") == 0o600)
  }

  @Test(arguments: [
    ("\(marker)\n {{ keychain://s/nobody }}", 44, "line 2, column 2"),
    ("{{ .Values.x }}", 65, "line 1, column 1"), ("\n{{", 65, "line 2, column 1"),
    ("{{ keychain:s3cret }}", 64, "line 1, column 1"),
  ])
  func nothingIsWrittenIfAReferenceFails(text: String, code: Int, place: String) throws {
    let template = try home.write(text, to: "in")
    for output in [[], ["--output", home.file("out")]] {
      let failed = program.run(["inject", template] + output)
      #expect(failed.code == Int32(code) && failed.output.isEmpty)
      #expect(failed.messages.hasPrefix("prefs: error: '\(template)', \(place)"))
      #expect(!failed.messages.contains("s3cret"))
    }
    #expect(!home.exists("out"))
  }

  @Test func existingFileIsKeptUnlessAsked() throws {
    let template = try home.write(Self.marker, to: "in")
    let out = try home.write("old", to: "out", mode: 0o644)
    let refused = run(template, "--output", out)
    #expect(refused.code == 75 && home.text(of: "out") == "old")
    #expect(refused.messages.contains("'\(out)'") && refused.messages.contains("--overwrite"))
    #expect(run(template, "--output", out, "--overwrite").code == 0)
    #expect(home.text(of: "out") == "s3\(Self.marker)")
    #expect(try home.mode(of: "out") == 0o600)
  }

  @Test(arguments: ["in", "./in", "link", "hard"])
  func templateIsNeverOverwritten(output: String) throws {
    let template = try home.write(Self.marker, to: "in")
    try home.link("link", to: "in")
    try FileManager.default.linkItem(atPath: template, toPath: home.file("hard"))
    let refused = run(template, "--output", home.file(output), "--overwrite")
    #expect(refused.code == 79 && home.text(of: "in") == Self.marker)
    #expect(
      refused.messages.hasPrefix(
        "prefs: error: the output is the template itself, which would be lost\n"))
  }

  @Test func onlyAllowedServicesAreRead() throws {
    let template = try home.write(Self.marker, to: "in")
    #expect(run(template, "--allow", "s").output == "s3\(Self.marker)")
    #expect(run(template, "--allow", "t", "--allow", "s").code == 0)
    let refused = run(template, "--allow", "t")
    #expect(refused.code == 79 && refused.output.isEmpty)
    #expect(refused.messages.contains("the service or server 's' is not allowed\n"))
  }

  @Test(arguments: [
    ([], 64, "<template>"), (["in", "--overwrite"], 64, "--output"),
    (["-", "--passphrase-fd", "0"], 64, "standard input"),
    (["/nowhere/missing"], 74, "'/nowhere/missing'"),
    (["in", "--output", ""], 64, "--output is empty"),
  ])
  func wrongUsageNamesWhatIsWrong(words: [String], code: Int, word: String) {
    let refused = program.run(["inject"] + words)
    #expect(refused.code == Int32(code) && refused.output.isEmpty)
    #expect(refused.messages.hasPrefix("prefs: error: ") && refused.messages.contains(word))
  }

  @Test(arguments: [["get", "token", "--service", "s"], ["read", "keychain://s/token"]])
  func emptyOutputIsRefused(words: [String]) {
    let refused = program.run(words + ["--output", ""])
    #expect(refused.code == 64 && refused.messages.contains("--output is empty"))
  }
}
