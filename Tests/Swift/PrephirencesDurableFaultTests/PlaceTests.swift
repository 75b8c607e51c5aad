import FaultTesting
import Foundation
import Glibc
import Prephirences
import PrephirencesDurable
import Testing

@Suite("Homes that are no usual homes", .timeLimit(.minutes(14)))
struct PlaceTests {
  private func answers(
    _ home: TestHome, _ environment: [String: String], _ commands: [String]
  ) throws -> [[String]] {
    let child = try Child(in: home, environment: environment)
    return commands.map { child.ask($0) }
  }

  @Test(arguments: ["/nonexistent/of/prephirences", "/proc"])
  func noHome(_ path: String) throws {
    let home = try TestHome()
    let found = try answers(
      home, ["HOME": path, "XDG_CONFIG_HOME": ""], ["set a 1", "plain-get a", "last", "open"])
    #expect(found[0].first?.hasPrefix("error ") ?? false)
    #expect(found[1] == ["absent"])
    #expect(found[3].first?.hasPrefix("error ") ?? false)
    if path != "/proc" { #expect(found[0].first?.hasPrefix("error noPlace") ?? false) }
  }

  @Test(arguments: ["", ".", "..", "a/b", "../a", String(repeating: "a", count: 300)])
  func invalidNames(_ name: String) throws {
    let home = try TestHome()
    let store = TestHome.store(suiteName: name, in: home)
    let error = #expect(throws: (any Error).self) { try store.storeObject(1, forKey: "a") }
    #expect("\(error as Any)".contains("name"))
    #expect(store.object(forKey: "a") == nil)
    #expect(store.lastError?.code == .invalidName)
    #expect(access(home.config, F_OK) != 0)
  }

  @Test(arguments: ["", "-wal", "-shm", "-lock", "-journal"])
  func aPlantedLinkIsRefused(_ suffix: String) throws {
    let home = try TestHome()
    _ = try home.run("set", "a", "1")
    let target = home.folder.path + "/target"
    try Data("precious".utf8).write(to: URL(filePath: target))
    chmod(target, 0o600)
    unlink(home.database + suffix)
    symlink(target, home.database + suffix)
    let found = try answers(home, [:], ["set a 2", "get a", "open"])
    for answer in found {
      #expect(answer.first?.hasPrefix("error insecure") ?? false, "\(suffix): \(answer)")
    }
    #expect(try Data(contentsOf: URL(filePath: target)) == Data("precious".utf8))
  }

  @Test(arguments: ["", "-wal", "-lock"])
  func aFileThatOthersCanWriteIsRefused(_ suffix: String) throws {
    let home = try TestHome()
    let child = try Child(in: home)
    #expect(child.ask("set a 1") == [])
    chmod(home.database + suffix, 0o666)
    let found = try answers(home, [:], ["set a 2", "get a"]) + [child.ask("set a 3")]
    for answer in found {
      #expect(answer.first?.hasPrefix("error insecure") ?? false, "\(suffix): \(answer)")
    }
  }

  @Test(arguments: ["", "-wal", "-shm", "-lock", "-journal"])
  func aPipeAsTheFileHangsNothing(_ suffix: String) throws {
    let home = try TestHome()
    _ = try home.run("set", "a", "1")
    unlink(home.database + suffix)
    mkfifo(home.database + suffix, 0o600)
    for answer in try answers(home, [:], ["set a 2", "get a"]) {
      #expect(answer.first?.hasPrefix("error ") ?? false, "\(suffix): \(answer)")
    }
  }

  @Test func filesArePrivate() throws {
    let home = try TestHome()
    _ = try home.run("set", "a", "1")
    for name in try FileManager.default.contentsOfDirectory(atPath: home.config) {
      var status = stat()
      stat("\(home.config)/\(name)", &status)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
    var status = stat()
    stat(home.config, &status)
    #expect(status.st_mode & 0o777 == 0o700)
  }

  @Test func aForkedChildFailsAndItsParentWorks() throws {
    let home = try TestHome()
    let lines = try home.run("fork")
    #expect(lines.count == 9)
    for line in lines where line.hasPrefix("child") {
      let isEmpty = line == "child plain absent" || line == "child dictionary 0"
      #expect(line.contains("error forked") || isEmpty, "\(line)")
    }
    #expect(lines.suffix(2) == ["parent value parent", "parent value after"])
  }

  @Test func twoSuitesAreSeparate() throws {
    let home = try TestHome()
    let (one, two) = (
      TestHome.store(suiteName: "one", in: home), TestHome.store(suiteName: "two", in: home)
    )
    try one.storeObject(1, forKey: "a")
    #expect(try two.fetchObject(forKey: "a") == nil)
    try two.storeObject(2, forKey: "a")
    #expect(try one.fetchObject(forKey: "a") as? Int == 1)
  }

  /// A process that is stopped while it holds the writers' lock.
  @Test func aStoppedWriterHoldsUpWritersNotReaders() throws {
    let home = try TestHome()
    _ = try home.run("set", "a", "1")
    let other = try Child(in: home)
    let stopped = try Child(["stop"], in: home)
    #expect(stopped.line() == "stopping")
    usleep(50_000)
    #expect(other.ask("get a") == ["value 1"])
    #expect(other.ask("get stopped") == ["absent"])
    let refused = other.ask("set b 2")
    #expect(refused.first?.hasPrefix("error timedOut") ?? false, "\(refused)")
    #expect(other.ask("get a") == ["value 1"])
    stopped.signal(SIGCONT)
    #expect(stopped.line() == "continued")
    #expect(other.ask("get continued") == ["value never"])
    #expect(other.ask("set b 2") == [])
  }
}
