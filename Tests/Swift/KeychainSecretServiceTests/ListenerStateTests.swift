import Testing

@testable import KeychainSecretService

@Suite("When a collection is read again")
struct ListenerStateTests {
  /// Returns the seconds from 1 to `end` at which the state is read, if each reading has this
  /// result.
  private func readings(_ reading: ListenerState.Reading, until end: Int) -> [Int] {
    let start = ContinuousClock.now
    var state = ListenerState()
    state.note(reading, at: start)
    return (1...end).filter { second in
      let now = start + .seconds(second)
      guard state.mustReadAgain(at: now) else { return false }
      state.note(reading, at: now)
      return true
    }
  }

  @Test func failuresAreRepeatedAfterLongerAndLongerPauses() {
    #expect(readings(.missed, until: 300) == [1, 3, 7, 15, 31, 63, 127, 191, 255])
  }

  @Test(arguments: [ListenerState.Reading.complete, .hidden, .unreadable, .undelivered])
  func otherReadingsAreNotRepeated(_ reading: ListenerState.Reading) {
    #expect(readings(reading, until: 300).isEmpty)
  }

  @Test func pausesBeginAgainOnceReadingSucceeds() {
    let start = ContinuousClock.now
    var state = ListenerState()
    for second in [0, 1, 3] { state.note(.missed, at: start + .seconds(second)) }
    state.note(.complete, at: start + .seconds(7))
    #expect(state.isCurrent && !state.mustReadAgain(at: start + .seconds(1000)))
    state.note(.missed, at: start + .seconds(8))
    #expect(state.mustReadAgain(at: start + .seconds(9)) && !state.isCurrent)
  }

  @Test func failureAfterSignalKeepsNextReadingOnTime() {
    let start = ContinuousClock.now
    var state = ListenerState()
    for _ in 0..<20 { state.note(.missed, at: start) }
    #expect(state.mustReadAgain(at: start + ListenerState.shortestPause))
  }
}
