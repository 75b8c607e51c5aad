import CPrephirencesSystem
import Foundation
import Glibc
import Synchronization
import Testing

@testable import KeychainStores

/// The number of signals that the host's own handler received.
private let passedOn = Atomic<Int>(0)

private let isDone = Atomic<Bool>(false)
private let count = 20_000

/// Each test has its own process, whose other thread receives signals while questions start and
/// end.
@Suite("Signals that come to another thread")
struct TerminalSignalTests {
  @Test func eachIsHeardOrPassedOn() async {
    await #expect(processExitsWith: .success) {
      try Self.begin()
      Self.sendSignals()
      var heard = 0
      while !isDone.load(ordering: .sequentiallyConsistent) {
        let signals = try PromptSignals()
        for _ in 0..<10 {
          do { _ = try signals.hear() } catch { heard += 1 }
        }
      }
      #expect(heard > 0)
      #expect(heard + passedOn.load(ordering: .sequentiallyConsistent) == count)
      cterminal_end()
    }
  }

  @Test func questionRestoresHostSignalHandlers() async {
    await #expect(processExitsWith: .success) {
      try Self.begin()
      let own = Self.handler()
      cterminal_end()
      let host = Self.handler()
      try #require(own != host)
      Self.sendSignals()
      while !isDone.load(ordering: .sequentiallyConsistent) {
        try Self.begin()
        cterminal_end()
      }
      #expect(Self.handler() == host)
      #expect(passedOn.load(ordering: .sequentiallyConsistent) == count)
    }
  }

  /// Starts a question on a new terminal, in a host that handles SIGTERM.
  private static func begin() throws {
    if terminal < 0 {
      // Threads of a pool, such as this one, block signals, and the receiving thread inherits that.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGTERM)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      signal(SIGTERM) { _ in passedOn.add(1, ordering: .sequentiallyConsistent) }
      terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    }
    try #require(cterminal_begin(terminal, terminal, -1) == 0)
  }

  private nonisolated(unsafe) static var terminal: CInt = -1

  /// Sends signals to a thread; each must be handled before the next.
  private static func sendSignals() {
    Thread.detachNewThread {
      for _ in 0..<count { pthread_kill(pthread_self(), SIGTERM) }
      isDone.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Returns the address of the handler of SIGTERM.
  private static func handler() -> UInt {
    var action = sigaction()
    sigaction(SIGTERM, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
  }
}
