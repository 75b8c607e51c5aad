import Foundation
import PrephirencesSystem
import SystemPackage

@testable import KeychainVault

/// A file that forwards all calls; subclasses change the answers of some.
class ForwardingFile: DiskFile, @unchecked Sendable {
  // Unchecked because classes with subclasses cannot be checked; there is no mutable state.
  private let file: any DiskFile

  init(_ file: any DiskFile) { self.file = file }

  func status() throws(Errno) -> DiskStatus { try file.status() }
  func read(_ range: Range<Int>) throws(Errno) -> Data { try file.read(range) }
  func write(_ bytes: Data, at offset: Int) throws(Errno) { try file.write(bytes, at: offset) }
  func truncate(to size: Int) throws(Errno) { try file.truncate(to: size) }
  func syncData() throws(Errno) { try file.syncData() }
  func sync() throws(Errno) { try file.sync() }
  func lock(until deadline: Deadline) throws(Errno) -> Bool {
    try file.lock(until: deadline)
  }
  func unlock() { file.unlock() }
  func takeAttributes(of old: (any DiskFile)?) { file.takeAttributes(of: old) }
  func mark(isUnfinished: Bool) { file.mark(isUnfinished: isUnfinished) }
}

/// A file that another machine writes to at the same time, at the same place.
final class OverwrittenFile: ForwardingFile, @unchecked Sendable {
  override func write(_ bytes: Data, at offset: Int) throws(Errno) {
    try super.write(bytes, at: offset)
    try super.write(Data("other".utf8), at: offset)
  }
}

/// A file whose status is another one.
final class FixedStatusFile: ForwardingFile, @unchecked Sendable {
  private let fixed: DiskStatus

  init(_ file: any DiskFile, _ status: DiskStatus) {
    fixed = status
    super.init(file)
  }

  override func status() -> DiskStatus { fixed }
}
