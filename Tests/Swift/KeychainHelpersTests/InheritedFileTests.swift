import Glibc
import KeychainSecrets
import Testing

@testable import KeychainHelpers

@Suite("Files in memory")
struct InheritedFileTests {
  @Test func aFileIsReadAgainFromItsBeginning() throws {
    let file = try InheritedFile(SecretBytes(copying: "secret"))
    for _ in 0..<2 {
      let opened = open(file.path, O_RDONLY | O_CLOEXEC)
      try #require(opened >= 0)
      defer { close(opened) }
      guard let read = try SecretBytes.reading(fileDescriptor: opened, limit: 100) else {
        Issue.record("the file is too long")
        return
      }
      #expect(read.withBytes { $0.text } == "secret")
    }
    #expect(lseek(file.descriptor, 0, SEEK_CUR) == 0)
  }

  @Test func nobodyCanChangeIt() throws {
    let file = try InheritedFile(SecretBytes(copying: "secret"))
    #expect(write(file.descriptor, "x", 1) < 0)
    #expect(errno == EPERM)
    #expect(ftruncate(file.descriptor, 0) < 0)
    #expect(ftruncate(file.descriptor, 100) < 0)
  }

  @Test func onlyTheUserMayOpenIt() throws {
    let file = try InheritedFile(SecretBytes(copying: ""))
    var status = stat()
    #expect(fstat(file.descriptor, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o600)
    #expect(status.st_nlink == 0)
    #expect(file.descriptor >= 10)
  }

  @Test func itIsInheritedOnlyWhenAsked() throws {
    let file = try InheritedFile(SecretBytes(copying: "x"))
    #expect(fcntl(file.descriptor, F_GETFD) == FD_CLOEXEC)
    try file.letChildrenInherit()
    #expect(fcntl(file.descriptor, F_GETFD) == 0)
  }

  @Test func itIsClosedWithItsOwner() throws {
    var file: InheritedFile? = try InheritedFile(SecretBytes(copying: "x"))
    let path = "/proc/self/fd/\(try #require(file).descriptor)"
    var target = [CChar](repeating: 0, count: 100)
    #expect(readlink(path, &target, 99) > 0)
    #expect(String(decoding: target.map { UInt8(bitPattern: $0) }, as: UTF8.self).contains("memfd"))
    file = nil
    target = [CChar](repeating: 0, count: 100)
    _ = readlink(path, &target, 99)
    #expect(
      !String(decoding: target.map { UInt8(bitPattern: $0) }, as: UTF8.self).hasPrefix("/memfd"))
  }
}
