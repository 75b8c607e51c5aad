import FaultTesting
import Foundation
import Glibc
import Prephirences
import PrephirencesDurable
import Testing

/// Fails every call of SQLite to its files once, for each operation.
@Suite("Failing file operations of SQLite", .timeLimit(.minutes(14)))
struct SQLiteFaultTests {
  @Test(arguments: FaultedOperation.writes)
  func writeIsAtomic(_ operation: FaultedOperation) throws {
    for fault in FaultKind.ofReads + FaultKind.ofWrites { try Run(operation, fault).all() }
  }

  @Test(arguments: FaultedOperation.reads)
  func aReadAnswersRightlyOrFails(_ operation: FaultedOperation) throws {
    for fault in FaultKind.ofReads { try Run(operation, fault).all() }
  }
}

/// An operation under one kind of fault.
private struct Run {
  private let operation: FaultedOperation
  private let fault: FaultKind
  private let files: [String: Data]
  private let before: [String: String]
  private let after: [String: String]
  private let answer: String

  init(_ operation: FaultedOperation, _ fault: FaultKind) throws {
    self.operation = operation
    self.fault = fault
    files = operation.isOnExistingFile ? try Self.sample.get() : [:]
    let home = try Self.home(with: files)
    let store = home.store(isOnNetwork: operation.isOnNetwork)
    before = try Self.contents(store)
    answer = try operation.run(store)
    after = try Self.contents(store)
  }

  /// The files of a suite, part of which are only in its log; another process has made them.
  private static let sample = Result {
    let home = try TestHome()
    let child = try Child(in: home)
    for command in ["bulk k 100", "set long x20000", "checkpoint", "set k99 99", "set long x30000"]
    {
      guard child.ask(command) == [] else { throw NoSample() }
    }
    _ = child.killed()
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: home.config)
    where !name.hasSuffix("-shm") {
      files[name] = try Data(contentsOf: URL(filePath: "\(home.config)/\(name)"))
    }
    return files
  }

  private static func home(with files: [String: Data]) throws -> TestHome {
    let home = try TestHome()
    mkdir(home.config, 0o700)
    for (name, data) in files { try home.write(data, name) }
    return home
  }

  private static func contents(_ store: DurablePreferences) throws -> [String: String] {
    let all = store.dictionary()
    if let error = store.lastError { throw error }
    return all.mapValues { "\($0)" }
  }

  /// Fails each call in turn, until the operation makes fewer calls.
  func all() throws {
    for nth in stride(from: 1, to: 2000, by: Thoroughness.callStep) {
      guard try failing(nth) > 0 else { return }
    }
    Issue.record("the operation never ran without a fault")
  }

  /// Runs the operation once.
  ///
  /// - Returns: The number of failed calls.
  private func failing(_ nth: Int) throws -> Int {
    let home = try Self.home(with: files)
    let place: Comment = "\(operation.testDescription): \(fault), call \(nth)"
    let store = home.store(isOnNetwork: operation.isOnNetwork)
    // Files are subject to a plan if they are opened after its start.
    let plan = try FaultPlan(fault, call: operation.isWarm ? .max : nth, in: home)
    if operation.isWarm { _ = try store.fetchObject(forKey: "k5") }
    if operation.isWarm { plan.fail(nth) }
    let outcome = Result { try operation.run(store) }
    let failures = plan.disarm()
    switch outcome {
    case .success(let found): #expect(found == answer, place)
    case .failure(let error):
      check(error, place)
      do { try checkLog(after: error, home, place) } catch { Issue.record(error, place) }
    }
    do { try checkState(after: outcome, store, home, place) } catch { Issue.record(error, place) }
    return failures
  }

  private func check(_ error: any Error, _ place: Comment) {
    var codes: [PreferencesError.Code] = [.inputOutput, .outcomeUnknown]
    // A partial read cannot be distinguished from a partial write.
    if fault.isShortRead { codes += [.damaged] }
    if fault.isBusy { codes += [.timedOut] }
    let code = (error as? PreferencesError)?.code
    #expect(code.map { codes.contains($0) } ?? false, "\(place): \(error)")
  }

  /// Whoever reads the whole log finds a change that has failed only if its outcome is unknown.
  private func checkLog(after error: any Error, _ home: TestHome, _ place: Comment) throws {
    let code = (error as? PreferencesError)?.code
    let other = try Self.home(with: copy(of: home))
    let found = try Self.contents(other.store())
    let isUnknown = operation.synchronizes || code == .outcomeUnknown
    // A fault that stays leaves no way to find out.
    #expect(fault.isPersistent || operation.synchronizes || code != .outcomeUnknown, place)
    #expect(found == before || isUnknown && found == after, "\(place): \(error)")
  }

  /// The files that a new process reads, without the index of the log.
  private func copy(of home: TestHome) throws -> [String: Data] {
    var copied: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: home.config)
    where !name.hasSuffix("-shm") && !name.hasSuffix("-lock") {
      // Closing the database file would drop the locks of SQLite, which holds none now.
      copied[name] = try Data(contentsOf: URL(filePath: "\(home.config)/\(name)"))
    }
    return copied
  }

  /// The store that met the fault remains usable, and another finds the old or the new state.
  private func checkState(
    after outcome: Result<String, any Error>, _ store: DurablePreferences, _ home: TestHome,
    _ place: Comment
  ) throws {
    let found = try Self.contents(store)
    let isSuccess = (try? outcome.get()) != nil
    #expect(isSuccess ? found == after : [before, after].contains(found), place)
    try store.storeObject("after", forKey: "after")
    let other = try Self.home(with: copy(of: home))
    #expect(try Self.contents(other.store()) == found.merging(["after": "after"]) { $1 }, place)
    #expect(other.integrity() == "ok", place)
  }

  private struct NoSample: Error {}
}
