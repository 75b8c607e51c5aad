/// The time that a call takes on a machine that has nothing else to do just then.
///
/// A busy machine can take the processor away at any moment, but hardly from each of many calls: one that
/// really waits is slow every time.
///
/// - Parameters:
///   - limit: A time that ends the attempts.
///   - body: The call.
/// - Returns: The shortest of the times.
func shortestTime(below limit: Duration, _ body: () -> Void) -> Duration {
  let clock = ContinuousClock()
  var shortest = clock.measure(body)
  for _ in 0..<20 where shortest >= limit { shortest = min(shortest, clock.measure(body)) }
  return shortest
}
