import CFaultVFS
import Foundation

/// A kind of fault of SQLite's files, and the calls that it affects.
struct FaultKind: Sendable, CustomStringConvertible {
  let description: String
  let kind: Int
  let calls: Int
  let isPersistent: Bool

  private init(_ description: String, _ kind: Int, _ calls: Int = allCalls, lasting: Bool = false) {
    self.description = description
    self.kind = kind
    self.calls = calls
    isPersistent = lasting
  }

  private static let allCalls = (FaultCallMapLock << 1) - 1
  private static let locks = FaultCallLock | FaultCallMapLock
  // SQLite tries again for ten seconds to get a lock of the shared memory.
  private static let lastingLocks = Thoroughness.isThorough ? locks : FaultCallLock

  /// Nothing comes to the disk.
  static let syncs = Self("no file is synchronized", FaultFailure, FaultCallSync, lasting: true)

  /// The faults that can happen to any operation.
  static let ofReads = [
    Self("one call fails", FaultFailure),
    Self("all calls fail from one on", FaultFailure, lasting: true),
    Self("a lock is held once", FaultBusy, locks),
    Self("a lock is never to be had", FaultBusy, lastingLocks, lasting: true),
    Self("a read comes short", FaultShortRead, FaultCallRead),
  ]

  /// The faults that can happen to a write.
  static let ofWrites = [
    Self("the disk is full", FaultFullDisk, FaultCallWrite | FaultCallMap, lasting: true),
    Self("the disk is full once", FaultFullDisk, FaultCallWrite),
    Self("a write is torn", FaultTornWrite, FaultCallWrite),
    Self("all writes are torn from one on", FaultTornWrite, FaultCallWrite, lasting: true),
  ]

  var isShortRead: Bool { kind == FaultShortRead }
  var isBusy: Bool { kind == FaultBusy }
}

/// Makes the Nth call of SQLite to the files of a home fail.
struct FaultPlan {
  private let number: Int32

  init(_ fault: FaultKind, call nth: Int, in home: TestHome) throws {
    guard WriteLog.isInstalled else { throw TooManyPlans() }
    number = fault_vfs_arm(
      home.folder.lastPathComponent, Int32(fault.calls), Int32(fault.kind), Int32(clamping: nth),
      fault.isPersistent ? 1 : 0)
    guard number >= 0 else { throw TooManyPlans() }
  }

  /// Begins to count, and fails the Nth call from now on.
  func fail(_ nth: Int) { fault_vfs_fail(number, Int32(nth)) }

  /// Ends the faults.
  ///
  /// - Returns: The number of failed calls.
  func disarm() -> Int { Int(fault_vfs_disarm(number)) }

  struct TooManyPlans: Error {}
}
