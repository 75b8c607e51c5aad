import Foundation
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Testing

/// Fails every call of SQLite to its files once, for each operation.
@Suite("Failing file operations of SQLite", .timeLimit(.minutes(14)))
struct SQLiteFaultTests {
  @Test(arguments: FaultedOperation.writes)
  func aWriteHappensOrDoesNot(_ operation: FaultedOperation) throws {
    for fault in FaultKind.ofReads + FaultKind.ofWrites { try Run(operation, fault).all() }
  }

  @Test(arguments: FaultedOperation.reads)
  func aReadAnswersRightlyOrFails(_ operation: FaultedOperation) throws {
    for fault in FaultKind.ofReads + [.shortRead] { try Run(operation, fault).all() }
  }
}

/// An operation under one kind of fault.
private struct Run {
  private let operation: FaultedOperation
  private let fault: FaultKind
  private let vault: TestVault
  private let files: VaultFiles
  private let namesBefore: [String]
  private let before: VaultContents?
  private let halfway: VaultContents?
  private let after: VaultContents
  private let answer: String

  init(_ operation: FaultedOperation, _ fault: FaultKind) throws {
    try #require(FaultPlan.isInstalled)
    self.operation = operation
    self.fault = fault
    vault = try TestVault()
    try operation.prepare(vault)
    files = try VaultFiles(of: vault)
    namesBefore = try FileManager.default.contentsOfDirectory(atPath: vault.folder.path)
    // A vault that was rolled back has no readable contents.
    before = try? VaultContents(of: vault)
    try operation.halfway?(vault)
    halfway = try? VaultContents(of: vault)
    try files.restore(to: vault)
    answer = try operation.run(Self.handle(vault), vault)
    after = try VaultContents(of: vault)
  }

  /// Fails each call in turn, until the operation makes fewer calls.
  func all() throws {
    for nth in stride(from: 1, to: 2000, by: Thoroughness.callStep) {
      guard try failing(nth) > 0 else {
        #expect(nth > 1, "no call failed")
        return
      }
    }
    Issue.record("the operation never ran without a fault")
  }

  /// Runs the operation once.
  ///
  /// - Returns: The number of failed calls.
  private func failing(_ nth: Int) throws -> Int {
    try files.restore(to: vault)
    let place: Comment = "\(operation.testDescription): \(fault), call \(nth)"
    let handle = Self.handle(vault)
    let plan = try FaultPlan(fault, call: nth, in: vault)
    let outcome = Result { try operation.run(handle, vault) }
    let failures = plan.disarm()
    switch outcome {
    case .success(let found): #expect(found == answer, place)
    case .failure(let error): check(error, place)
    }
    try checkState(after: outcome, handle, place)
    return failures
  }

  private func check(_ error: any Error, _ place: Comment) {
    var codes: [KeychainError.Code] = [.inputOutput, .outcomeUnknown]
    // A partial read cannot be distinguished from a partial write.
    if fault.kind == FaultKind.shortRead.kind { codes += [.damaged, .foreign] }
    if fault.kind == FaultKind.busyKind { codes += [.busy] }
    let code = (error as? KeychainError)?.code
    #expect(code.map { codes.contains($0) } ?? false, "\(place): \(error)")
  }

  /// The handle that met the fault remains usable, and a new one finds the old or the new state.
  private func checkState(
    after outcome: Result<String, any Error>, _ handle: Vault, _ place: Comment
  ) throws {
    do {
      // A short page stays in the memory of the handle.
      if before != nil, fault.kind != FaultKind.shortRead.kind { _ = try handle.lock() }
      let found = try? VaultContents(of: vault)
      switch outcome {
      case .success: #expect(found == after, place)
      case .failure(let error as KeychainError) where error.code == .outcomeUnknown:
        #expect([before, halfway, after].contains(found), place)
      // What is not reported as unknown has not happened.
      case .failure: #expect([before, halfway].contains(found), place)
      }
      if found == nil, before != nil { _ = try VaultContents(of: vault) }
    } catch {
      Issue.record(error, place)
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: vault.folder.path)
    let made = Set(files).intersection(["backup.db", "x.export"]).subtracting(namesBefore)
    #expect(made == [] || (try? outcome.get()) != nil, place)
    // A file with this name must be complete.
    if made.contains("x.export") {
      _ = try FaultedOperation.imported(vault.handle(), vault, rehearsing: true)
    }
    #expect(
      !files.contains { $0.hasPrefix("backup.db-") || $0.hasSuffix(".unfinished-file") }, place)
  }

  private static func handle(_ vault: TestVault) -> Vault {
    vault.handle { $0.deadline = FaultedOperation.deadline }
  }
}
