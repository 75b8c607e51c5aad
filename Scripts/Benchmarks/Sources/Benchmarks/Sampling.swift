import Glibc

/// The times of repeated measurements, in seconds.
struct Samples {
  private(set) var times: [Double] = []

  mutating func append(_ time: Double) { times.append(time) }

  var median: Double { times.median }
  var least: Double { times.min() ?? .nan }
  var greatest: Double { times.max() ?? .nan }
}

/// Two things measured alternately, A B A B …, so that both run under the same conditions.
struct Comparison {
  var subject = Samples()
  var reference = Samples()

  /// The median of the subject over that of the reference.
  var ratio: Double { subject.median / reference.median }

  /// The least and the greatest ratio of single rounds.
  var range: ClosedRange<Double> {
    let ratios = zip(subject.times, reference.times).map { $0 / $1 }.sorted()
    guard let first = ratios.first, let last = ratios.last else { return 0...0 }
    return first...last
  }

  /// Measures `rounds` alternating rounds with `batch` calls each; the first round is dropped.
  static func measure(
    rounds: Int, batch: Int = 1, _ subject: (Int) throws -> Void, _ reference: (Int) throws -> Void
  ) rethrows -> Comparison {
    var comparison = Comparison()
    for round in 0...rounds {
      let first = round * batch
      let times = (
        try seconds(first..<(first + batch), subject),
        try seconds(first..<(first + batch), reference)
      )
      guard round > 0 else { continue }
      comparison.subject.append(times.0)
      comparison.reference.append(times.1)
    }
    return comparison
  }

  /// Returns the time of one call, averaged over several.
  private static func seconds(_ calls: Range<Int>, _ body: (Int) throws -> Void) rethrows -> Double
  {
    let time = try Stopwatch.time { for call in calls { try body(call) } }
    return time / Double(calls.count)
  }
}

enum Stopwatch {
  /// Returns the duration of `body`, in seconds.
  static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
  }
}

/// Several things, measured in turns.
enum Turns {
  /// Measures rounds of all, A B C A B C; the first round is dropped.
  ///
  /// - Parameters:
  ///   - rounds: The number of times of each that count.
  ///   - batch: The number of calls whose time is taken together.
  ///   - bodies: The things; each receives the number of its call.
  /// - Returns: The times of one call, by round, for each thing.
  /// - Throws: What a body throws.
  static func measure(
    rounds: Int, batch: Int = 1, _ bodies: [(Int) throws -> Void]
  ) throws -> [Samples] {
    var samples = bodies.map { _ in Samples() }
    for round in 0...rounds {
      for (number, body) in bodies.enumerated() {
        let calls = (round * batch)..<((round + 1) * batch)
        let time = try Stopwatch.time { for call in calls { try body(call) } }
        if round > 0 { samples[number].append(time / Double(batch)) }
      }
    }
    return samples
  }
}

extension [Double] {
  /// Returns the value below which this share of the values is.
  func quantile(_ share: Double) -> Double {
    guard !isEmpty else { return .nan }
    return sorted()[Int((Double(count - 1) * share).rounded())]
  }

  var median: Double {
    guard !isEmpty else { return .nan }
    let sorted = sorted()
    let middle = count / 2
    return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
