import CFaultVFS
import Foundation

/// What a power failure leaves of writes that were not synchronized.
enum Loss: String, CaseIterable {
  /// Only what was synchronized.
  case everything
  case nothing
  /// All writes up to some moment, of all files.
  case latest
  /// Any of the sectors.
  case sectors
  /// Any of the sectors; others contain noise.
  case noise
  /// Of each file all or nothing.
  case files
}

/// Returns the contents of the files as a disk may have them if the power fails after some calls.
///
/// A write is on the disk for certain when its file was synchronized after it. Sectors are written
/// as a whole, each or not, in any order.
func crashImage(
  of log: WriteLog, after point: Int, _ loss: Loss, using random: inout some RandomNumberGenerator
) -> [String: Data] {
  let names = log.names
  // When each file was last synchronized; the next file of the same name has a place of its own. What
  // was synchronized stays on the disk if only the deletion is lost.
  var synchronized = names.map { _ in [0] }
  // SQLite synchronizes the folder with the first synchronization of a new log or journal.
  var folderSynchronized = 0
  for index in 0..<point {
    let call = log.call(index)
    let file = Int(call.file)
    let last = synchronized[file].count - 1
    switch Int(call.kind) {
    case LoggedSync:
      if synchronized[file][last] == 0, names[file].contains("-") { folderSynchronized = index }
      synchronized[file][last] = index
    case LoggedDelete: synchronized[file].append(0)
    default: break
    }
  }
  let moment = Int.random(in: 0...point, using: &random)
  let kept = names.map { _ in Bool.random(using: &random) }
  var deletions = [Int](repeating: 0, count: names.count)
  var files: [String: Data] = [:]
  for index in 0..<point {
    let call = log.call(index)
    let file = Int(call.file)
    let name = names[file]
    let isDeletion = call.kind == LoggedDelete
    let isCertain =
      index < (isDeletion ? folderSynchronized : synchronized[file][deletions[file]])
    if isDeletion { deletions[file] += 1 }
    let isWhole =
      switch loss {
      case .everything: isCertain
      case .nothing: true
      case .latest: isCertain || index < moment
      case .files: isCertain || kept[file]
      case .sectors, .noise: isCertain
      }
    let isPartial = !isWhole && (loss == .sectors || loss == .noise)
    switch Int(call.kind) {
    case LoggedWrite where isWhole: files[name, default: Data()].write(call)
    case LoggedWrite where isPartial:
      for sector in call.sectors {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: files[name, default: Data()].write(call, sector)
        case 1 where loss == .noise:
          let noise = sector.map { _ in UInt8.random(in: 0...255, using: &random) }
          files[name, default: Data()].write(call, sector, noise: noise)
        default: break
        }
      }
    case LoggedTruncate where isWhole || isPartial && Bool.random(using: &random):
      files[name, default: Data()].truncate(to: Int(call.offset))
    case LoggedDelete where isWhole || isPartial && Bool.random(using: &random): files[name] = nil
    default: break
    }
  }
  return files
}

extension LoggedCall {
  /// The ranges of its bytes that are in different sectors.
  fileprivate var sectors: [Range<Int>] {
    let end = Int(offset) + Int(count)
    var start = Int(offset)
    var sectors: [Range<Int>] = []
    while start < end {
      let next = min(end, (start / 512 + 1) * 512)
      sectors.append(start - Int(offset)..<next - Int(offset))
      start = next
    }
    return sectors
  }
}

extension Data {
  fileprivate mutating func write(_ call: LoggedCall) { write(call, 0..<Int(call.count)) }

  fileprivate mutating func write(
    _ call: LoggedCall, _ range: Range<Int>, noise: [UInt8]? = nil
  ) {
    let start = Int(call.offset) + range.lowerBound
    let end = start + range.count
    if count < end { append(Data(count: end - count)) }
    let bytes = UnsafeBufferPointer(start: call.bytes, count: Int(call.count))[range]
    replaceSubrange(start..<end, with: noise ?? Array(bytes))
  }

  fileprivate mutating func truncate(to size: Int) {
    if size < count { removeSubrange(size...) } else { append(Data(count: size - count)) }
  }
}
