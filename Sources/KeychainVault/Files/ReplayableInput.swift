internal import Glibc
internal import KeychainCredentials
internal import SystemPackage

/// Input that is read twice, also where it comes through a pipe.
///
/// What a pipe gives is kept in a file without a name meanwhile, as it came.
final class ReplayableInput {
  /// What errors call it.
  let name: String

  private let descriptor: FileDescriptor
  private let start: off_t?
  private let spool: SpoolFile?
  private var isReplaying = false

  /// Begins at the place where the descriptor is.
  init(
    _ descriptor: Int32, name: String, spoolFolder: () throws(KeychainError) -> String
  ) throws(KeychainError) {
    self.descriptor = FileDescriptor(rawValue: descriptor)
    self.name = name
    let start = lseek(descriptor, 0, SEEK_CUR)
    self.start = start >= 0 ? start : nil
    spool = start >= 0 ? nil : try SpoolFile(in: spoolFolder())
  }

  /// Reads until there are `count` bytes, or the input ends.
  func read(_ count: Int) throws(KeychainError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try DescriptorIO.read(current, count)
    } catch {
      throw .system(error, "read", name)
    }
    guard !isReplaying, let spool = spoolDescriptor else { return bytes }
    do throws(Errno) {
      try DescriptorIO.write(bytes, to: spool)
    } catch {
      throw .system(error, "write", "a temporary file")
    }
    return bytes
  }

  /// Begins anew.
  func rewind() throws(KeychainError) {
    isReplaying = true
    guard lseek(current.rawValue, start ?? 0, SEEK_SET) >= 0 else {
      throw .system(.current, "read again", name)
    }
  }

  private var current: FileDescriptor {
    isReplaying ? spoolDescriptor ?? descriptor : descriptor
  }

  private var spoolDescriptor: FileDescriptor? {
    switch spool {
    case .some(let spool): spool.descriptor
    case .none: nil
    }
  }
}
