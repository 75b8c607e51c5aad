import FaultTesting
import Foundation
import Testing

@Suite("Descriptors that the program has closed", .timeLimit(.minutes(14)))
struct ClosedDescriptorTests {
  @Test func otherFilesKeepTheirContents() throws {
    let home = try TestHome()
    let child = try Child(in: home)
    _ = child.ask("set a 1")
    _ = child.ask("observe")
    let folder = home.folder.path
    #expect(child.ask("close-all \(folder)") == [])
    for command in ["set a 2", "get a", "set b 1", "synchronize", "checkpoint", "count", "last"] {
      let answer = child.ask(command).last ?? ""
      #expect(answer == "0" || answer.hasPrefix("error inputOutput"), "\(command): \(answer)")
    }
    // What the watch would have read is not lost for the program.
    _ = try home.run("set", "c", "3")
    #expect(child.ended().status == 0)
    for number in 0..<16 {
      let contents = try Data(contentsOf: URL(filePath: "\(folder)/foreign\(number)"))
      #expect(contents == Data("foreign".utf8), "file \(number)")
    }
    #expect(try home.contents() == ["a": "1", "c": "3"])
  }
}
