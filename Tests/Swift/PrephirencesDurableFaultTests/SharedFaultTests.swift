import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// Fails every call of SQLite to a shared file once, for each operation.
@Suite("Failing file operations of shared preferences", .timeLimit(.minutes(14)))
struct SharedFaultTests {
  @Test(arguments: SharedOperation.all)
  func isAtomic(_ operation: SharedOperation) throws {
    for (place, fault) in (FaultKind.ofReads + FaultKind.ofWrites).enumerated() {
      try SharedRun(operation, fault).all(from: place)
    }
  }

  /// The samples and the comparison are right, so that the tests above can fail.
  @Test(arguments: SharedSample.allCases)
  func theSamplesAgree(_ sample: SharedSample) throws {
    let home = try TestHome(with: sample.files())
    let store = home.store()
    #expect(try SharedReplica(store).isShared() == (sample != .plain))
    guard sample != .plain else { return }
    #expect(home.disagreements() == "ok")
    let replica = SharedReplica(store)
    #expect(try replica.conflicts().count == (sample == .conflicting ? 2 : 0))
    #expect(try replica.unsent(upTo: .max).mayHaveHappened == (sample == .numbered))
    _ = try replica.apply([])
    home.query("UPDATE log SET value = x'00' WHERE key = CAST('k1' AS BLOB)")
    #expect(home.disagreements().hasPrefix("differs k1"))
  }
}

/// An operation under one kind of fault.
private struct SharedRun {
  private let operation: SharedOperation
  private let fault: FaultKind
  private let before: SharedPicture
  private let after: SharedPicture

  init(_ operation: SharedOperation, _ fault: FaultKind) throws {
    self.operation = operation
    self.fault = fault
    let home = try TestHome(with: operation.sample.files())
    let store = home.store()
    let subject = try operation.subject(store)
    before = try SharedPicture(store)
    try operation.run(subject)
    after = try SharedPicture(store)
  }

  /// Fails one call after another, until the operation makes fewer calls.
  func all(from place: Int) throws {
    let step = Thoroughness.sharedCallStep
    for nth in stride(from: 1 + place % step, to: 4000, by: step) {
      guard try failing(nth) > 0 else { return }
    }
    Issue.record("the operation never ran without a fault")
  }

  /// Runs the operation once.
  ///
  /// - Returns: The number of failed calls.
  private func failing(_ nth: Int) throws -> Int {
    let home = try TestHome(with: operation.sample.files())
    let place: Comment = "\(operation.testDescription): \(fault), call \(nth)"
    let store = home.store()
    // Files are subject to a plan if they are opened after its start.
    let plan = try FaultPlan(fault, call: operation.isWarm ? .max : nth, in: home)
    let subject = try operation.subject(store)
    if operation.isWarm { plan.fail(nth) }
    let outcome = Result { try operation.run(subject) }
    let failures = plan.disarm()
    if case .failure(let error) = outcome { fault.check(error, place) }
    do { try checkState(after: outcome, subject, home, place) } catch { Issue.record(error, place) }
    return failures
  }

  /// The store that met the fault remains usable, and another finds the old or the new state.
  private func checkState(
    after outcome: Result<Void, any Error>, _ subject: SharedOperation.Subject, _ home: TestHome,
    _ place: Comment
  ) throws {
    let found = try SharedPicture(subject.store)
    if case .success = outcome {
      #expect(found == after, place)
    } else {
      #expect(found == before || found == after, place)
    }
    guard try subject.replica.isShared() else { return }
    // Where the file ends too early, SQLite reads zeros: a value that it copies then is another one.
    if !fault.isShortRead { #expect(home.disagreements() == "ok", place) }
    try checkNumber(subject, home, place)
    let copy = try TestHome(with: home.files())
    #expect(try SharedPicture(copy.store()) == SharedPicture(subject.store), place)
    #expect(copy.integrity() == "ok", place)
  }

  /// A number that was given stays that of the same contents, here and in other processes.
  private func checkNumber(
    _ subject: SharedOperation.Subject, _ home: TestHome, _ place: Comment
  ) throws {
    let batch = try subject.replica.nextBatch()
    if let batch, let earlier = subject.batch, batch.writer == earlier.writer,
      batch.number <= earlier.number
    {
      #expect(batch.contents == earlier.contents, place)
    }
    if try !subject.replica.state().isReadOnly {
      try subject.store.storeObject("after", forKey: "k1")
      #expect(try subject.store.fetchObject(forKey: "k1") as? String == "after", place)
    }
    guard let batch else { return }
    #expect(try subject.replica.nextBatch()?.contents == batch.contents, place)
    let copy = try TestHome(with: home.files())
    #expect(try SharedReplica(copy.store()).nextBatch()?.contents == batch.contents, place)
  }
}

extension FaultKind {
  /// The errors that a fault may lead to.
  fileprivate func check(_ error: any Error, _ place: Comment) {
    var codes: [PreferencesError.Code] = [.inputOutput]
    // A partial read cannot be distinguished from a partial write.
    if isShortRead { codes += [.damaged] }
    if isBusy { codes += [.timedOut] }
    // A fault that stays leaves no way to find out whether a commit took place.
    if isPersistent { codes += [.outcomeUnknown] }
    let code = (error as? PreferencesError)?.code
    #expect(code.map { codes.contains($0) } ?? false, "\(place): \(error)")
  }
}
