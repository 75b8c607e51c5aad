import CFaultVFS
import Foundation
import KeychainVaultTesting

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

  private static let allCalls = (FaultCallAccess << 1) - 1

  static let busyKind = FaultBusy

  /// The faults that can happen to any operation.
  static let ofReads = [
    Self("one call fails", FaultFailure),
    Self("all calls fail from one on", FaultFailure, lasting: true),
    Self("a lock is held once", FaultBusy, FaultCallLock),
    Self("a lock is never to be had", FaultBusy, FaultCallLock, lasting: true),
  ]

  /// The faults that can happen to a write.
  static let ofWrites = [
    Self("the disk is full", FaultFullDisk, FaultCallWrite, lasting: true),
    Self("a write is torn", FaultTornWrite, FaultCallWrite),
    Self("all writes are torn from one on", FaultTornWrite, FaultCallWrite, lasting: true),
  ]

  static let shortRead = Self("a read comes short", FaultShortRead, FaultCallRead)
}

/// Makes the Nth call of SQLite to a test folder's files fail.
struct FaultPlan: ~Copyable {
  private let number: Int32

  init(_ fault: FaultKind, call nth: Int, in vault: TestVault) throws {
    number = fault_vfs_arm(
      vault.folder.lastPathComponent, Int32(fault.calls), Int32(fault.kind), Int32(nth),
      fault.isPersistent ? 1 : 0)
    guard number >= 0 else { throw TooManyPlans() }
  }

  /// Ends the faults.
  ///
  /// - Returns: The number of failed calls.
  consuming func disarm() -> Int { Int(fault_vfs_disarm(number)) }

  /// Must be evaluated before SQLite opens the first file.
  static let isInstalled = fault_vfs_install() == 0

  struct TooManyPlans: Error {}
}
