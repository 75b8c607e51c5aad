import Foundation

/// The share of the cases that is tested: a part, or all if `PREPHIRENCES_THOROUGH` is 1, as set by
/// `Scripts/test --thorough`.
enum Thoroughness {
  private static let isThorough =
    ProcessInfo.processInfo.environment["PREPHIRENCES_THOROUGH"] == "1"

  /// One of this many bytes is changed.
  static let byteStep = isThorough ? 1 : 13
  /// A file is cut after each of this many bytes.
  static let cutStep = isThorough ? 1 : 41
  /// A program is killed at, or an error comes from, one of this many calls.
  static let callStep = isThorough ? 1 : 4
  /// Each of many processes counts as far.
  static let counted = isThorough ? 1000 : 10
  /// One of this many forged files is tested.
  static let forgeryStep = isThorough ? 1 : 5
  /// One of this many moments to kill a process is tested.
  private static let killStep = isThorough ? 1 : 3

  /// This many states after a power failure are tested for each change.
  static let crashStates = isThorough ? 4096 : 24

  /// As many are tested of a whole vault, which takes longer to check.
  static let vaultCrashStates = isThorough ? 512 : 24

  static func kills(_ all: Int) -> Int { all / killStep }
}
