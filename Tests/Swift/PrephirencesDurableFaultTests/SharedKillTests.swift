import FaultTesting
import Foundation
import Glibc
import Testing

/// Kills a process at random moments that sets, sends and receives, again and again on the same file.
@Suite("A sender of shared preferences is killed", .timeLimit(.minutes(14)))
struct SharedKillTests {
  @Test(arguments: 0..<2)
  func nothingIsLostAndNoNumberUsedTwice(_ group: Int) throws {
    let home = try TestHome()
    let engine = home.folder.path + "/engine"
    var history = History()
    for _ in 0..<Thoroughness.tried(200) {
      let child = try Child(["exchange", engine, "\(history.last + 1)"], in: home)
      // The first set, as the start takes longer than the rest.
      var lines: [String] = []
      while let line = child.line() {
        lines.append(line)
        if line.hasPrefix("set ") || line.hasPrefix("error ") { break }
      }
      usleep(.random(in: 0...15_000))
      history.add(lines + child.killed())
      let found = try home.contents()
      for (key, value) in history.acknowledged {
        #expect(Int(found[key] ?? "") ?? -1 >= value, "\(key): \(history.tail)")
      }
      #expect(found["left"] == found["right"])
      #expect(home.disagreements() == "ok")
    }
    try checkEnd(home, engine, &history)
  }

  /// All that was set is sent in the end.
  private func checkEnd(_ home: TestHome, _ engine: String, _ history: inout History) throws {
    let lines = try home.run("drain", engine)
    history.add(lines)
    let rows = lines.filter { $0.hasPrefix("row ") }.map { String($0.dropFirst(4)) }
    #expect(rows == (try home.contents()).map { "\($0) \($1)" }.sorted())
    #expect(history.settled.count > 3, "\(history.tail)")
  }
}

/// What killed processes have said.
private struct History {
  /// The values of sets that have returned.
  var acknowledged: [String: Int] = [:]
  var last = 0
  var settled: Set<String> = []
  private var batches: [String: String] = [:]
  private var open: (number: String, batch: String)?
  private var said: [String] = []

  var tail: ArraySlice<String> { said.suffix(12) }

  mutating func add(_ lines: [String]) {
    var row = ""
    for line in lines {
      said.append(line)
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case "set":
        last = Int(words[2]) ?? last
        acknowledged[words[1]] = last
      case "engine": row = words[1]
      case "unit": add(words[1], line, row)
      case "refused", "joined": open = nil
      case "settled":
        open = nil
        settled.insert(words[1])
      case "row": break
      default: Issue.record("\(tail)")
      }
    }
  }

  /// A batch that was numbered, and is not known to be settled, is the next one, too.
  private mutating func add(_ number: String, _ batch: String, _ row: String) {
    #expect(batches[number, default: batch] == batch)
    batches[number] = batch
    if let open, open.batch != batch {
      // It was performed and acknowledged, before the process could say so.
      #expect(open.batch.contains(row) && row != "none", "\(tail)")
    }
    open = (number, batch)
  }
}
