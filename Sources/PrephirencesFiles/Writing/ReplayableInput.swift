internal import Glibc
internal import SystemPackage

/// Input that is read twice, also where it comes through a pipe.
///
/// What a pipe gives is kept in a file without a name meanwhile, as it came.
package final class ReplayableInput {
  /// What errors call it.
  package let name: String

  private let descriptor: FileDescriptor
  private let start: off_t?
  private let spool: SpoolFile?
  private var isReplaying = false

  /// Begins at the place where the descriptor is.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor. It stays open.
  ///   - name: What errors call it.
  ///   - makeSpool: Called for a descriptor that cannot be read again, for the file that keeps its bytes.
  /// - Throws: What `makeSpool` throws.
  package init<Failure: Error>(
    _ descriptor: Int32, name: String, spool makeSpool: () throws(Failure) -> SpoolFile
  ) throws(Failure) {
    self.descriptor = FileDescriptor(rawValue: descriptor)
    self.name = name
    let start = lseek(descriptor, 0, SEEK_CUR)
    self.start = start >= 0 ? start : nil
    spool = start >= 0 ? nil : try makeSpool()
  }

  /// Reads until there are `count` bytes, or the input ends.
  package func read(_ count: Int) throws(FileError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try DescriptorIO.read(current, count)
    } catch {
      throw .failed(error, "read", name)
    }
    guard !isReplaying, let spool = spoolDescriptor else { return bytes }
    do throws(Errno) {
      try DescriptorIO.write(bytes, to: spool)
    } catch {
      throw .failed(error, "write", "a temporary file")
    }
    return bytes
  }

  /// Begins again at the place where the first reading began.
  package func rewind() throws(FileError) {
    isReplaying = true
    guard lseek(current.rawValue, start ?? 0, SEEK_SET) >= 0 else {
      throw .failed(.current, "read again", name)
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
