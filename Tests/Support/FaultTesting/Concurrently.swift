internal import Foundation

/// Runs `body` with the numbers below `count`, each on its own thread, all at the same time, and
/// waits.
package func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread.detachNewThread {
      body(number)
      group.leave()
    }
  }
  group.wait()
}
