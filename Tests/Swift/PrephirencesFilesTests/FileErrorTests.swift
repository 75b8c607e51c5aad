import Glibc
import SystemPackage
import Testing

@testable import PrephirencesSystem

@Suite("What file errors say")
struct FileErrorTests {
  /// A file system can interrupt each call.
  @Test(arguments: [1, 999, 1000, Int.max])
  func interruptedCallIsRepeatedButNotForEver(_ times: Int) throws {
    var calls = 0
    let call: () throws(Errno) -> Int = { () throws(Errno) in
      try Interruptions.repeating {
        calls += 1
        errno = EINTR
        return calls > times ? 7 : -1
      }
    }
    if times < 1000 {
      #expect(try call() == 7)
    } else {
      #expect(throws: Errno.interrupted) { try call() }
      #expect(calls == 1000)
    }
  }

  @Test(
    arguments: [
      (
        .failed(.noSpace, "write", "/a"), "cannot write /a: no space left on device",
        "free some space, and try again"
      ),
      (FileError(.alreadyExists, "/a"), "/a exists already", "name a new file"),
      (FileError(.timedOut, "/a"), "another process held /a for too long", "try again"),
      (FileError(.invalidPath, ""), "a path is empty or holds a zero byte", nil),
      (
        FileError(.noPlace(reason: "no home folder is known"), ""),
        "there is no place for the file: no home folder is known", nil
      ),
      (
        FileError(.insecure(.linkOfOther), "/a"), "/a is a symbolic link made by another user",
        "name the real path, or remove the link"
      ),
    ] as [(FileError, String, String?)])
  func errorHasMessageAndAdvice(_ error: FileError, _ message: String, _ advice: String?) {
    #expect(error.message == message && error.advice == advice)
    #expect(error.description == (advice.map { "\(message) (\($0))" } ?? message))
  }
}
