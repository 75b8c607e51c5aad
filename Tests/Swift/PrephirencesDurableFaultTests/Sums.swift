import Foundation

/// The sums of SQLite's log, by their definition: of 32-bit numbers, the lowest byte first, two by two.
private func sums(_ bytes: Data, from start: (UInt32, UInt32)) -> Data {
  var (one, two) = start
  let numbers = stride(from: 0, to: bytes.count, by: 4).map { offset in
    bytes.dropFirst(offset).prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }
  for index in stride(from: 0, to: numbers.count, by: 2) {
    one = one &+ numbers[index] &+ two
    two = two &+ numbers[index + 1] &+ one
  }
  return [one, two].reduce(into: Data()) { data, sum in
    withUnsafeBytes(of: sum.littleEndian) { data.append(contentsOf: $0) }
  }
}

/// The sums at the end of each page of a database.
enum PageSums {
  /// Returns a database whose first page has the right sums.
  static func sealed(_ database: Data) -> Data {
    let content = Data(database.prefix(4088))
    return content + sums(content, from: (0, 0)) + database.dropFirst(4096)
  }
}

/// The record behind the counter in the file of the lock.
enum CommitRecordBytes {
  /// Returns the file as it is after another boot; one without a record stays as it is.
  static func afterAnotherBoot(_ lock: Data) -> Data {
    guard lock.count >= 56 else { return lock }
    let content = Data(repeating: 0xB0, count: 16) + lock[32..<48]
    return lock[..<16] + content + sums(content, from: (1, 1))
  }
}
