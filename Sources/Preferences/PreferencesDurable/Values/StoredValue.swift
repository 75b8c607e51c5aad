/// A value in the form in which the file has it: its kind, and its bytes.
///
/// Equal values have equal bytes, so that values are compared without being decoded.
struct StoredValue: Hashable, Sendable {
  let kind: ValueKind
  let bytes: [UInt8]
}

/// The kinds of stored values, with their numbers in the file.
enum ValueKind: UInt8, Sendable {
  /// The key was removed; such a row reports the removal to other processes.
  case removed = 0
  case truth = 1
  case integer = 2
  case unsignedInteger = 3
  case float = 4
  case double = 5
  case text = 6
  case data = 7
  case date = 8
  case url = 9
  case uuid = 10
  case decimal = 11
  case array = 12
  case dictionary = 13
  /// The file has a number that no kind has; never stored.
  case damaged = 255
}
