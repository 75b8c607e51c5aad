import Foundation
import Prephirences
import Testing

@Suite("Observing preferences from many threads")
struct ObservingThreadsTests {
  private let store = SampleStore()

  /// Changes for one observer are merged and none is lost, calls do not overlap, and the last one
  /// has the final value.
  @Test func changesAreReportedInOrder() {
    let threads = 8
    let state = Locked((last: [String: Int](), isInside: false, faults: [String]()))
    let observation = store.observeAll { change in
      state.withLock { state in
        if state.isInside { state.faults.append("two at a time") }
        state.isInside = true
        if change.oldValue as? Int != state.last[change.key] { state.faults.append(change.text) }
        state.last[change.key] = change.newValue as? Int
      }
      state.withLock { $0.isInside = false }
    }
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      for number in 1...500 { store["\(number % 3)"] = thread * 1000 + number }
    }
    let (last, faults) = state.withLock { ($0.last, $0.faults) }
    #expect(faults == [])
    #expect(last == store.dictionary() as? [String: Int])
    withExtendedLifetime(observation) {}
  }

  @Test func observationsBeginAndEndMeanwhile() {
    let ended = Locked(false)
    let faults = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 1...200 {
        if thread % 2 == 0 {
          store["a"] = thread * 1000 + number
        } else {
          let told = Locked<Int?>(nil)
          let observation = store.observe(forKey: "a", initial: true) { change in
            if told.withLock({ $0 }) == nil, !change.isInitial { faults.withLock { $0 += 1 } }
            told.withLock { $0 = change.newValue as? Int ?? -1 }
          }
          if told.withLock({ $0 }) == nil { faults.withLock { $0 += 1 } }
          observation.cancel()
        }
      }
    }
    ended.withLock { $0 = true }
    #expect(faults.withLock { $0 } == 0)
  }

  @Test func writerAndWaitingHandlerDoNotDeadlock() {
    let written = DispatchSemaphore(value: 0)
    let observation = store.observe(forKey: "a") { [store] _ in
      let thread = Thread {
        store["a"] = 2
        written.signal()
      }
      thread.start()
      _ = written.wait(timeout: .now() + 60)
    }
    store["a"] = 1
    #expect(store.integer(forKey: "a") == 2)
    withExtendedLifetime(observation) {}
  }
}
