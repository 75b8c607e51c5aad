/// Measures the time of a call on a machine without other load.
///
/// A busy machine can interrupt a call at any moment, but hardly each of many calls: a call that
/// really waits is slow every time.
///
/// - Parameters:
///   - limit: Attempts end when one is faster than this.
///   - body: The call.
/// - Returns: The shortest of the times.
func shortestTime(below limit: Duration, _ body: () -> Void) -> Duration {
  let clock = ContinuousClock()
  var shortest = clock.measure(body)
  for _ in 0..<20 where shortest >= limit { shortest = min(shortest, clock.measure(body)) }
  return shortest
}
