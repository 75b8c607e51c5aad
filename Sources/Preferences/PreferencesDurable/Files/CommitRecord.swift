internal import CPrephirencesSQLiteChecks
internal import Glibc
internal import PrephirencesSystem
internal import SystemPackage

/// The newest generation of a file that was committed, next to the writers' lock.
///
/// SQLite ends a log at the first damaged frame. This record is in another file, so it shows that
/// changes are missing.
struct CommitRecord: Equatable {
  /// The boot during which the last change was committed.
  private var boot: [UInt8]

  /// The generation of that change.
  ///
  /// After another boot it is ignored, since a power failure may have lost what was not on the
  /// disk.
  private var committed: Int64

  /// The last generation that was synced to the disk.
  private var synchronized: Int64

  /// The lowest generation that the file must have.
  var least: Int64 { boot == Self.currentBoot ? max(committed, synchronized) : synchronized }

  /// Records a committed change.
  static func committed(_ generation: Int64, after last: Self?) -> Self {
    Self(
      boot: currentBoot ?? unknownBoot, committed: generation,
      synchronized: last?.synchronized ?? 0)
  }

  static func synchronized(_ generation: Int64) -> Self {
    Self(boot: currentBoot ?? unknownBoot, committed: generation, synchronized: generation)
  }

  /// Records that a file with fewer changes is accepted.
  static func accepted(_ generation: Int64, after last: Self) -> Self {
    Self(
      boot: currentBoot ?? unknownBoot, committed: generation,
      synchronized: min(generation, last.synchronized))
  }

  // MARK: - Bytes

  static let size = 40

  private init(boot: [UInt8], committed: Int64, synchronized: Int64) {
    (self.boot, self.committed, self.synchronized) = (boot, committed, synchronized)
  }

  /// Reads a record, or returns `nil` for other bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, Self.sums(bytes[..<32]) == Array(bytes[32...]) else {
      return nil
    }
    self.init(
      boot: Array(bytes[..<16]), committed: Self.number(bytes[16..<24]),
      synchronized: Self.number(bytes[24..<32]))
  }

  var bytes: [UInt8] {
    let content = boot + Self.bytes(committed) + Self.bytes(synchronized)
    return content + Self.sums(content[...])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
  }

  private static func bytes(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// The sums of zeros are not zero, so the zeros of an extended file are not a record.
  private static func sums(_ content: ArraySlice<UInt8>) -> [UInt8] {
    var sums: [UInt32] = [1, 1]
    unsafe Array(content).withUnsafeBytes { bytes in
      unsafe csqlitechecks_add(&sums, bytes.baseAddress, CInt(bytes.count))
    }
    return sums.flatMap { sum in (0..<4).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) } }
  }

  // MARK: - Boot

  private static let unknownBoot = [UInt8](repeating: 0, count: 16)

  /// The kernel's identifier of this boot, or `nil` if it cannot be read.
  private static let currentBoot: [UInt8]? = {
    guard let file = unsafe try? FileDescriptor.open("/proc/sys/kernel/random/boot_id", .readOnly),
      let text = try? file.closeAfter({ try DescriptorIO.read(file, 64) })
    else { return nil }
    let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 32 else { return nil }
    return (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
  }()
}
