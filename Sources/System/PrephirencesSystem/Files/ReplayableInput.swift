internal import Glibc
package import SystemPackage

/// Input that can be read twice, even from a pipe.
///
/// The bytes of a pipe are kept unchanged in a file without a name.
package final class ReplayableInput {
  /// The name of the input in errors.
  package let name: String

  private let descriptor: FileDescriptor
  private let deadline: Deadline?
  private let start: off_t?
  private let spool: SpoolFile?
  private var isReplaying = false

  /// Begins at the current position of the descriptor.
  package init<Failure: Error>(
    _ descriptor: Int32, name: String, by deadline: Deadline? = nil,
    spool makeSpool: () throws(Failure) -> SpoolFile
  ) throws(Failure) {
    self.descriptor = FileDescriptor(rawValue: descriptor)
    self.name = name
    self.deadline = deadline
    let start = lseek(descriptor, 0, SEEK_CUR)
    self.start = start >= 0 ? start : nil
    spool = start >= 0 ? nil : try makeSpool()
  }

  /// Reads until there are `count` bytes, or the input ends.
  package func read(_ count: Int) throws(FileError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try DescriptorIO.read(current, count) { [deadline] in
        deadline?.awaitInput($0) ?? true
      }
    } catch { throw error == .timedOut ? FileError(.endless, name) : .failed(error, "read", name) }
    guard !isReplaying, let spool = spoolDescriptor else { return bytes }
    try onFile("a temporary file", "write", DescriptorIO.write(bytes, to: spool))
    return bytes
  }

  /// Returns to the position where the first reading began.
  package func rewind() throws(FileError) {
    isReplaying = true
    guard lseek(current.rawValue, start ?? 0, SEEK_SET) >= 0 else {
      throw .failed(.current, "read again", name)
    }
  }

  private var current: FileDescriptor { isReplaying ? spoolDescriptor ?? descriptor : descriptor }

  private var spoolDescriptor: FileDescriptor? {
    switch spool {
    case .some(let spool): spool.descriptor
    case .none: nil
    }
  }
}

/// A file without a name, for data that does not fit into memory; it is deleted with the value.
package struct SpoolFile: ~Copyable {
  package let descriptor: FileDescriptor

  /// Creates the file in a folder, which is created if needed.
  package init(in folder: String) throws(FileError) {
    try PrivateFile.makeFolder(folder)
    let path = "\(folder)/spool.\(getpid()).\(UInt64.random(in: 0 ... .max))"
    descriptor = try onFile(
      path, "make", PrivateFile.open(path, .readWrite, flags: O_CREAT | O_EXCL))
    unsafe unlink(path)
  }

  deinit { try? descriptor.close() }

  package func rewind() throws(FileError) {
    guard lseek(descriptor.rawValue, 0, SEEK_SET) == 0 else {
      throw .failed(.current, "read again", "a temporary file")
    }
  }

  /// Writes all of the file to another descriptor.
  package func copy(to target: FileDescriptor) throws(FileError) {
    try rewind()
    do throws(Errno) {
      while case let bytes = try DescriptorIO.read(descriptor, 65536), !bytes.isEmpty {
        try DescriptorIO.write(bytes, to: target)
      }
    } catch { throw .failed(error, "write", "the output") }
  }
}
